#include "kernels/kir/print.h"

#include <gtest/gtest.h>

#include "kernels/kir/builder.h"
#include "kernels/kir/parse.h"
#include "kernels/kir/test_kernel.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

constexpr const char* kTables = R"(kernel "all \"of\" it" group 4 * v2 progress ahead @7
arg v0: i64 "n"
block v1 "xs"
spec v2: i32 = 32i32 "items"
spec v3: bool = true "wide"
shared s0: f32[8 * v2] "tile"
shared s1: u32[1] "flags"
shared s2: f32x4[8 * v2] "vectors"
local l0: i32[16] "row"
fun f0 "nothing" () {
  return
}
fun f1 "two" (v4: f32, v5: i32x2) {
  v6: f32 = neg.f32(v4) @2
  return v6, v5
}
main {
}
)";

TEST(KirPrint, TablesComeBack) {
  const Kernel k = kernel_of(kTables);
  EXPECT_EQ(print(k), kTables);
  EXPECT_EQ(k.name, "all \"of\" it");
  EXPECT_EQ(k.group_size.constant, 4);
  EXPECT_EQ(k.group_size.spec, 0);
  EXPECT_TRUE(k.needs_progress);
  EXPECT_TRUE(k.reads_ahead);
  EXPECT_EQ(k.prov.index, 7U);
  ASSERT_EQ(k.args.size(), 2U);
  EXPECT_FALSE(k.args[0].is_block);
  EXPECT_TRUE(k.args[1].is_block);
  ASSERT_EQ(k.specs.size(), 2U);
  EXPECT_EQ(k.specs[1].fallback, PrimValue::of_bool(true));
  ASSERT_EQ(k.shared.size(), 3U);
  EXPECT_EQ(k.shared[1].length.spec, -1);
  EXPECT_EQ(k.shared[1].lanes, 1);
  EXPECT_EQ(k.shared[2].lanes, 4);
  ASSERT_EQ(k.functions.size(), 2U);
  EXPECT_EQ(k.functions[1].results[1].type, (Type{PrimType::kI32, 2}));
  EXPECT_EQ(k.functions[1].body.insts[0].prov.index, 2U);
}

// One line per instruction and per field that it may have.
constexpr const char* kInsts[] = {
    "v9: i32 = add.i32(v1, 3i32)",
    "v9: i64 = convert.i32.i64(v1)",
    "v9: f32 = bitcast.i32.f32(v1)",
    "v9: bool = lt.u8(1u8, 255u8)",
    "v9: f32 = select.f32(true, 1.50000000f32, bits(f32, 0x7fc00001))",
    "v9: i64 = group",
    "v9: i64 = groups",
    "v9: i32 = local",
    "v9: i32 = group_size",
    "v9: i32 = lane",
    "v9: i32 = subgroup",
    "v9: i32 = subgroups",
    "v9: i32 = subgroup_size",
    "v9: i32x2 = compose(v1, 3i32)",
    "v9: i32 = extract(v2, 1)",
    "v9: f32x4 = load v0[v1]",
    "v9: f32 = load.coherent v0[3i64]",
    "v9: i32 = load s0[v1]",
    "v9: i32 = load l0[v1]",
    "store v0[v1] = v2",
    "store.coherent v0[v1] = 1i32",
    "store s0[0i32] = v1",
    "store l0[0i32] = v1",
    "v9: i32 = atomic.load.i32.acquire v0[v1]",
    "atomic.store.u64.release v0[v1], 1u64",
    "v9: i32 = atomic.exchange.i32 s0[v1], v1",
    "v9: i32 = atomic.cas.i32.acquire_release v0[v1], 0i32, v1",
    "atomic.add.i32 v0[v1], v1",
    "atomic.add.f64 v0[v1], 1.0000000000000000f64",
    "atomic.min.i32 v0[v1], v1",
    "atomic.max.i32 v0[v1], v1",
    "atomic.and.i32 v0[v1], v1",
    "atomic.or.i32 v0[v1], v1",
    "v9: i32 = atomic.xor.i32 v0[v1], v1",
    "v9: i32 = subgroup.reduce.add v1",
    "v9: i32 = subgroup.inclusive.max v1",
    "v9: i32 = subgroup.exclusive.xor v1",
    "v9: i32 = subgroup.shuffle v1, v1",
    "v9: i32 = subgroup.shuffle_up v1, 1i32",
    "v9: i32 = subgroup.shuffle_down v1, 1i32",
    "v9: i32 = subgroup.shuffle_xor v1, 1i32",
    "v9: i32 = subgroup.broadcast v1, 0i32",
    "v9: i32 = subgroup.count true",
    "v9: i32 = subgroup.rank true",
    "v9: bool = subgroup.any true",
    "v9: bool = subgroup.all true",
    "v9: u32 = subgroup.ballot true, 3i32",
    "barrier",
    "fence.workgroup",
    "fence.device",
    "var x1: i32 = v1",
    "var x1: f32x2",
    "v9: i32 = x0",
    "x0 = v1",
    "if v3 @5 {\n    barrier\n  } else {\n    stop\n  }",
    "if v3 {\n  }",
    "for v9: i32 = 0i32 to v1 step 2i32 uniform unroll @5 {\n    store v0[v9] = v9\n  }",
    "for v9: i32 = 0i32 to v1 step 2i32 {\n  }",
    "while uniform {\n    v9: bool = lt.i32(v1, 3i32)\n  } test v9 {\n    x0 = v1 @1\n  }",
    "while {\n  } test true {\n  }",
    "v9: i32, v10: f32x2 = call f0(v1)",
    "call f1()",
    "fail 3(v1, 2i64)",
    "stop",
};

std::string kernel_with(const std::string& inst) {
  return R"(kernel "k" group 8
block v0 "xs"
arg v1: i32 "n"
shared s0: i32[4] "s"
local l0: i32[4] "l"
fun f0 "f" (v20: i32) {
  v21: f32x2 = compose(1.00000000f32, 2.00000000f32)
  return v20, v21
}
fun f1 "g" () {
  return
}
main {
  var x0: i32
  v2: i32x2 = compose(v1, v1)
  v3: bool = eq.i32(v1, 0i32)
  )" + inst +
         "\n}\n";
}

TEST(KirPrint, EveryInstructionComesBack) {
  for (const std::string inst : kInsts) {
    const std::string text = kernel_with(inst);
    EXPECT_EQ(print(kernel_of(text)), text);
    if (inst.find('\n') != std::string::npos) continue;
    const std::string marked = kernel_with(inst + " @12");
    const Kernel k = kernel_of(marked);
    EXPECT_EQ(print(k), marked);
    EXPECT_EQ(k.main.insts.back().prov.index, 12U) << inst;
  }
}

TEST(KirPrint, WhatABuilderMakesComesBack) {
  Kernel kernel;
  kernel.name = "sum";
  kernel.group_size = {256, -1};
  Builder k(kernel);
  const Value n = k.arg("n", PrimType::kI64), xs = k.block_arg("xs");
  const FunctionId plus = k.function("plus", {{PrimType::kF32}, {PrimType::kF32}},
                                     [&](const Values& p) { return Values{k.add(p[0], p[1])}; });
  const Var sum = k.declare(Value(PrimValue::f32(0)));
  k.set_prov(ir::ProvId{3});
  k.for_(n, [&](Value i) {
    k.assign(sum, k.call(plus, {k.read(sum), k.load(PrimType::kF32, xs, i)})[0]);
  });
  const Value c = k.if_values(
      k.lt(n, 3), [&] { return Values{n}; }, [&] { return Values{i64(3)}; })[0];
  k.while_([&] { return k.lt(k.global(), c); }, [&] { k.stop(); });
  const Kernel back = kernel_of(print(kernel));
  EXPECT_EQ(print(back), print(kernel));
  EXPECT_EQ(back.vals, kernel.vals);
  EXPECT_EQ(back.vars, kernel.vars);
  // Operands carry the types of their values.
  for_each_inst_of(back, [&](const Inst& i) {
    visit_operands(i.op, [&](const Value& v) {
      EXPECT_TRUE(v.is_const() || v.type == kernel.vals[v.id().index]);
    });
  });
}

TEST(KirPrint, AnInstructionAlone) {
  const Kernel k = kernel_of(kernel_with("if v3 {\n    stop\n  }"));
  EXPECT_EQ(print_inst(k, k.main.insts[3]), "if v3 {\n  stop\n}");
  EXPECT_EQ(print_inst(k, k.main.insts[2]), "v3: bool = eq.i32(v1, 0i32)");
}

TEST(KirPrint, ABrokenKernelIsPrinted) {
  Kernel k;
  k.main.insts.push_back({IAssign{VarId{5}, Value({PrimType::kI32}, ValId{8})}, {}});
  k.main.insts.push_back({IBuiltin{ValId{9}, BuiltinKind::kLane}, {}});
  k.group_size.spec = 4;
  EXPECT_EQ(print(k), "kernel \"\" group 1 * BAD\nmain {\n  x5 = v8\n  v9: BAD = lane\n}\n");
}

void expect_parse_error(const std::string& text, const std::string& error) {
  const auto k = parse(text);
  ASSERT_FALSE(k.has_value()) << text;
  EXPECT_EQ(k.error().message, error);
  EXPECT_EQ(k.error().kind, ErrorKind::kBadRequest);
}

TEST(KirParse, ErrorsHaveTheirLine) {
  expect_parse_error("kernel k", "line 1: expected a name in quotes, found 'k'");
  expect_parse_error("kernel \"k\" group 8\nblock x \"b\"",
                     "line 2: expected v and a number, found 'x'");
  expect_parse_error("kernel \"k\" group 8\narg v1: i33 \"b\"",
                     "line 2: expected a type, found 'i33'");
  expect_parse_error("kernel \"k\" group 8\nshared s1: i32[3] \"b\"",
                     "line 2: expected s0, found 's1'");
  expect_parse_error("kernel \"k\" group 8 * v1\nblock v1 \"b\"", "line 1: v1 is no spec");
  expect_parse_error("kernel \"k\" group 8\nspec v1: i32 = v1 \"b\"",
                     "line 2: expected a constant before this, found 'b'");
  expect_parse_error(
      "kernel \"k\" group 8\nfoo",
      "line 2: expected 'arg', 'block', 'spec', 'shared', 'local', 'fun' or 'main', found "
      "'foo'");
  expect_parse_error("kernel \"k\" group 8\nmain {\n\n  stop",
                     "line 4: expected an instruction, found "
                     "'end of text'");
  expect_parse_error("kernel \"k\" group 8\nmain {\n  store v1[0i32] = 1i32\n}",
                     "line 3: v1 is not defined");
  expect_parse_error("kernel \"k\" group 8\nmain {\n  x1 = 1i32\n}", "line 3: x1 is not declared");
  expect_parse_error("kernel \"k\" group 8\nmain {\n  v1: i32 = frob.i32(1i32)\n}",
                     "line 3: unknown operation, found 'frob'");
  expect_parse_error("kernel \"k\" group 8\nmain {\n  x0 = 1i33\n}",
                     "line 3: bad suffix of a number, found '1i33'");
  expect_parse_error("kernel \"k\" group 8\nmain {\n  atomic.frob.i32 v0[1i32]\n}",
                     "line 3: expected an atomic operation, found 'frob'");
  expect_parse_error("kernel \"k\" group 8\nmain {\n  v1: i32, v2: i32 = lane\n}",
                     "line 3: expected 'call', found 'lane'");
  expect_parse_error("kernel \"k\" group 8\narg v9999999: i32 \"n\"",
                     "line 2: too large a number before this, found ':'");
}

TEST(KirParse, DeepNestingIsAnErrorAndNoCrash) {
  std::string text = "kernel \"k\" group 8\nmain {";
  for (int i = 0; i < 100000; i++) text += " if true {";
  expect_parse_error(text, "line 2: nested too deeply, found '{'");
}

}  // namespace
}  // namespace kenaz::kir
