#include "kernels/kir/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/kir/test_kernel.h"

namespace kenaz::kir {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = R"(kernel "k" group 8
block v0 "xs"
arg v1: i32 "n"
arg v2: i64 "m"
arg v3: bool "b"
arg v4: f32 "f"
spec v5: i32 = 4i32 "items"
shared s0: i32[4 * v5] "s"
shared s1: f64[4] "d"
shared s2: i32x4[4] "vectors"
local l0: i32[4] "l"
fun f0 "f" (v6: i32) {
  return v6, 1.0f32
}
)";

Kernel main_with(const std::string& insts) {
  return kernel_of(kHead + ("main {\n" + insts + "\n}"));
}

void expect_valid(const Kernel& k) {
  const auto v = validate(k);
  EXPECT_TRUE(v.has_value()) << v.error().text();
}
void expect_refused(const Kernel& k, const std::string& why) {
  const auto v = validate(k);
  ASSERT_FALSE(v.has_value()) << why;
  EXPECT_THAT(v.error().message, HasSubstr(why));
  EXPECT_EQ(v.error().kind, ErrorKind::kInternal);
}
/// The instructions are refused in main.
void refused(const std::string& insts, const std::string& why) {
  expect_refused(main_with(insts), why);
}

TEST(KirValidate, TheErrorNamesTheKernelAndTheInstruction) {
  const auto v = validate(main_with("stop\nx0 = 1i32\nvar x0: i32"));
  ASSERT_FALSE(v.has_value());
  EXPECT_EQ(v.error().message, "invalid kernel k in main: x0 is not in scope\n  x0 = 1i32");
}

TEST(KirValidate, AKernelOfEverything) {
  expect_valid(main_with(R"(
    v10: i64 = group
    v11: i32 = local
    v12: f32x4 = load v0[v10]
    v13: f32 = extract(v12, 3)
    v14: f32x2 = compose(v13, v4)
    store.coherent v0[v11] = v14
    var x0: i32 = v11
    var x1: f32x2
    x1 = v14
    for v15: i64 = 0i64 to v2 step 1i64 uniform {
      barrier
      v16: i32 = x0
      v17: i32 = subgroup.inclusive.add v16
      v18: bool = subgroup.any v3
      v19: i32 = subgroup.rank v18
      v20: i32 = subgroup.shuffle v19, v17
      x0 = v20
    }
    while {
      v21: i32 = x0
      v22: bool = lt.i32(v21, v5)
      var x2: i32 = v21
    } test v22 {
      v23: i32 = x2
      x0 = v23
      v24: i32, v25: f32 = call f0(v21)
      v26: i32 = atomic.cas.i32.acquire_release s0[v24], 0i32, v21
      v27: i64 = atomic.load.i64.acquire v0[v26]
      atomic.store.u32.release v0[v26], 3u32
      atomic.add.i32 s0[0i32], v26
      atomic.add.f32 v0[v26], v25
    }
    v28: f32 = ldexp.f32(v4, v1)
    v29: f32 = select.f32(v3, v28, v4)
    v30: i32 = bitcast.f32.i32(v29)
    if v3 {
      fail 3(v30, v2)
    } else {
      stop
    }
    fence.device
    store s1[3i32] = 1.0f64
    store l0[v30] = v30)"));
}

TEST(KirValidate, Values) {
  refused("v10: i32 = local\nv10: i32 = lane", "v10 is defined twice");
  refused("v1: i32 = local", "v1 is defined twice");
  refused("store v0[v10] = 1i32\nv10: i32 = local", "v10 is not visible");
  refused("if v3 {\n v10: i32 = local\n}\nstore v0[v10] = 1i32", "v10 is not visible");
  refused("if v3 {\n v10: i32 = local\n} else {\nstore v0[v10] = 1i32\n}", "v10 is not visible");
  refused("for v10: i32 = 0i32 to v10 step 1i32 {\n}", "v10 is not visible");
  refused("for v10: i32 = 0i32 to v1 step 1i32 {\n}\nstore v0[v10] = 1i32", "v10 is not visible");
  refused("while {\n} test v10 {\nv10: bool = eq.i32(v1, v1)\n}", "v10 is not visible");
  refused("while {\nv10: bool = eq.i32(v1, v1)\n} test v10 {\n}\nif v10 {\n}",
          "v10 is not visible");
  refused("store v0[0i32] = v6", "v6 is not visible");  // a function's
  refused("store v0[0i32] = bits(i8, 0x1ff)", "bits beyond its type");
  Kernel k = main_with("v10: i32 = local");
  std::get<IBuiltin>(k.main.insts[0].op).dst = ValId{99};
  expect_refused(k, "does not exist");
  k = main_with("store v0[v1] = v1");
  std::get<IStore>(k.main.insts[0].op).value = Value({PrimType::kI32}, ValId{99});
  expect_refused(k, "v99 does not exist");
  std::get<IStore>(k.main.insts[0].op).value = Value({PrimType::kI64}, ValId{1});
  expect_refused(k, "an operand has v1 as i64");
  Value c = i32(3);
  c.type = {PrimType::kI64};
  std::get<IStore>(k.main.insts[0].op).value = c;
  expect_refused(k, "a constant of another type");
}

TEST(KirValidate, Variables) {
  refused("var x0: i32\nvar x0: i32", "x0 is declared twice");
  refused("x0 = 1i32\nvar x0: i32", "x0 is not in scope");
  refused("v10: i32 = x0\nvar x0: i32", "x0 is not in scope");
  refused("if v3 {\nvar x0: i32\n}\nx0 = 1i32", "x0 is not in scope");
  refused("while {\n} test v3 {\nvar x0: i32\n}\nx0 = 1i32", "x0 is not in scope");
  refused("var x0: i32 = v4", "v4 is of type f32, not i32");
  refused("var x0: i32\nx0 = v4", "v4 is of type f32, not i32");
  refused("var x0: i32\nv10: f32 = x0", "v10 is of type f32, not i32");
  refused("var x0: i32x3", "x0 has 3 lanes");
  Kernel k = main_with("var x0: i32\nx0 = 1i32");
  std::get<IDeclare>(k.main.insts[0].op).var = VarId{9};
  expect_refused(k, "a variable that does not exist");
}

TEST(KirValidate, AVariableOfMainIsNoneOfAFunction) {
  expect_refused(kernel_of(R"(kernel "k" group 8
    fun f0 "f" () {
      v1: i32 = x0
      return v1
    }
    main {
      var x0: i32
    })"),
                 "x0 is not in scope");
}

TEST(KirValidate, ScalarOperations) {
  refused("v10: i32 = add.i32(v1)", "add takes 2 operands");
  refused("v10: i32 = neg.i32(v1, v1)", "neg takes 1 operands");
  refused("v10: bool = add.bool(v3, v3)", "add of bool");
  refused("v10: f32 = and.f32(v4, v4)", "and of f32");
  refused("v10: i32 = add.i32(v1, v2)", "v2 is of type i64, not i32");
  refused("v10: i64 = add.i32(v1, v1)", "v10 is of type i64, not i32");
  refused("v10: i32 = lt.i32(v1, v1)", "v10 is of type i32, not bool");
  refused("v10: i64 = popc.i64(v2)", "v10 is of type i64, not i32");
  refused("v10: i32 = convert.i32.i64(v1)", "v10 is of type i32, not i64");
  refused("v10: i64 = bitcast.i32.i64(v1)", "a bitcast to another size");
  refused("v10: i32 = select.i32(v1, v1, v1)", "v1 is of type i32, not bool");
  refused("v10: f32 = ldexp.f32(v4, v4)", "v4 is of type f32, not i32");
  refused("v10: i32x2 = compose(v1, v1)\nv11: i32 = neg.i32(v10)", "v10 is of type i32x2, not i32");
  refused("v10: i32 = group", "v10 is of type i32, not i64");
  refused("v10: i64 = lane", "v10 is of type i64, not i32");
}

TEST(KirValidate, Vectors) {
  refused("v10: i32 = compose(v1)", "a vector of 1 lanes");
  refused("v10: i32x2 = compose(v1, v1, v1)", "a vector of 3 lanes");
  refused("v10: i32 = compose()", "a vector of 0 lanes");
  refused("v10: i32x2 = compose(v1, v2)", "v2 is of type i64, not i32");
  refused("v10: i32x4 = compose(v1, v1)", "v10 is of type i32x4, not i32x2");
  refused("v10: i32x3 = load v0[v1]", "v10 has 3 lanes");
  refused("v10: i32 = load s2[v1]", "i32 in an array of vectors of 4 lanes");
  refused("v10: i32x2 = load s2[v1]", "i32x2 in an array of vectors of 4 lanes");
  refused("v10: i32 = extract(v1, 0)", "a lane of a scalar");
  refused("v10: i32x2 = compose(v1, v1)\nv11: i32 = extract(v10, 2)", "no lane 2");
  refused("v10: i32x2 = compose(v1, v1)\nv11: i32x2 = extract(v10, 1)",
          "v11 is of type i32x2, not i32");
}

TEST(KirValidate, Memory) {
  refused("v10: i32 = load v1[v2]", "v1 is of type i32, not u64");
  refused("store v2[v2] = v1", "v2 is of type i64, not u64");
  refused("v10: i32 = load v0[v4]", "an index of type f32");
  refused("v10: i32 = load v0[3u32]", "an index of type u32");
  refused("v10: f32 = load s0[v1]", "f32 in an array of i32");
  refused("store l0[v1] = v2", "i64 in an array of i32");
  refused("v10: i32 = load s3[v1]", "an array that does not exist");
  refused("v10: i32 = load l1[v1]", "an array that does not exist");
  refused("v10: i32 = load.coherent s0[v1]", "a coherent access to an array of the kernel");
  refused("store.coherent l0[v1] = v1", "a coherent access to an array of the kernel");
  Kernel k = main_with("v10: i32 = load v0[v1]");
  std::get<ILoad>(k.main.insts[0].op).type = {PrimType::kF32};
  expect_refused(k, "v10 is of type i32, not f32");
}

TEST(KirValidate, Atomics) {
  refused("atomic.max.f32 v0[v1], v4", "an atomic on f32");
  refused("v10: f32 = atomic.exchange.f32 v0[v1], v4", "an atomic on f32");
  refused("v10: f32 = atomic.load.f32 v0[v1]", "an atomic on f32");
  refused("v10: f32 = atomic.cas.f32 v0[v1], v4, v4", "an atomic on f32");
  refused("atomic.add.f16 v0[v1], 1f16", "an atomic on f16");
  refused("atomic.add.bool v0[v1], true", "an atomic on bool");
  refused("atomic.add.f32 v0[v1], v1", "v1 is of type i32, not f32");
  refused("atomic.add.u8 v0[v1], 1u8", "an atomic on u8");
  refused("atomic.add.i32 l0[v1], v1", "an atomic on a local array");
  refused("atomic.add.u32 s0[v1], 1u32", "u32 in an array of i32");
  refused("atomic.add.i32 v0[v1], v2", "v2 is of type i64, not i32");
  refused("v10: i32 = atomic.cas.i32 v0[v1], v2, v1", "v2 is of type i64, not i32");
  refused("v10: i64 = atomic.add.i32 v0[v1], v1", "v10 is of type i64, not i32");
  refused("v10: i32 = atomic.store.i32 v0[v1], v1", "an atomic store gives nothing");
  refused("atomic.load.i32 v0[v1]", "an atomic load without result");
  refused("v10: i32 = atomic.load.i32.release v0[v1]", "a load that releases");
  refused("v10: i32 = atomic.load.i32.acquire_release v0[v1]", "a load that releases");
  refused("atomic.store.i32.acquire v0[v1], v1", "a store that acquires");
  refused("atomic.store.i32.acquire_release v0[v1], v1", "a store that acquires");
}

TEST(KirValidate, Subgroups) {
  refused("v10: i32 = subgroup.reduce.sub v1", "subgroups do not combine by sub");
  refused("v10: bool = subgroup.reduce.add v3", "add of bool");
  refused("v10: f32 = subgroup.reduce.and v4", "and of f32");
  refused("v10: i64 = subgroup.reduce.add v1", "v10 is of type i64, not i32");
  refused("v10: i32 = subgroup.shuffle v1, v2", "v2 is of type i64, not i32");
  refused("v10: i32 = subgroup.shuffle v4, v1", "v10 is of type i32, not f32");
  refused("v10: bool = subgroup.any v1", "v1 is of type i32, not bool");
  refused("v10: bool = subgroup.count v3", "v10 is of type bool, not i32");
  refused("v10: i32 = subgroup.all v3", "v10 is of type i32, not bool");
  refused("v10: i32 = subgroup.ballot v3, 0i32", "v10 is of type i32, not u32");
  refused("v10: u32 = subgroup.ballot v3, v1", "a ballot without that word");
  refused("v10: u32 = subgroup.ballot v3, 4i32", "a ballot without that word");
  refused("v10: i32x2 = compose(v1, v1)\nv11: i32x2 = subgroup.broadcast v10, 0i32",
          "a subgroup operation on a vector");
}

TEST(KirValidate, Control) {
  refused("if v1 {\n}", "v1 is of type i32, not bool");
  refused("while {\n} test v1 {\n}", "v1 is of type i32, not bool");
  refused("for v10: f32 = v4 to v4 step v4 {\n}", "a loop over f32");
  refused("for v10: i32 = v1 to v2 step v1 {\n}", "v2 is of type i64, not i32");
  refused("for v10: i32 = v1 to v1 step 1i64 {\n}", "not i32");
  refused("for v10: i64 = v1 to v1 step v1 {\n}", "v10 is of type i64, not i32");
  refused("for v10: i32 = v1 to v1 step 0i32 {\n}", "a step below 1");
  refused("for v10: i32 = v1 to v1 step -1i32 {\n}", "a step below 1");
  expect_valid(main_with("for v10: u64 = 0u64 to 1u64 step 18446744073709551615u64 {\n}"));
}

TEST(KirValidate, WhereThreadsMeet) {
  const std::string why = "threads meet in a loop that is not uniform";
  refused("for v10: i32 = v1 to v1 step 1i32 {\nbarrier\n}", why);
  refused("while {\nbarrier\n} test v3 {\n}", why);
  refused("while {\n} test v3 {\nbarrier\n}", why);
  refused("while {\n} test v3 {\nv10: bool = subgroup.any v3\n}", why);
  refused("while {\n} test v3 {\nwhile uniform {\n} test v3 {\nif v3 {\nbarrier\n}\n}\n}", why);
  expect_valid(main_with("while {\n} test v3 {\n}\nbarrier"));
  expect_valid(main_with("while uniform {\n} test v3 {\nif v3 {\nbarrier\n}\n}"));
}

TEST(KirValidate, Functions) {
  refused("v10: i32, v11: f32 = call f1(v1)", "a call of a function that does not come before");
  refused("v10: i32, v11: f32 = call f0(v1, v1)", "f takes 1 arguments");
  refused("v10: i32 = call f0(v1)", "f gives 2 results");
  refused("v10: i32, v11: f32 = call f0(v2)", "v2 is of type i64, not i32");
  refused("v10: i32, v11: i32 = call f0(v1)", "v11 is of type i32, not f32");
  const auto function = [](const std::string& insts, const std::string& results = "") {
    return kernel_of("kernel \"k\" group 8\narg v1: bool \"b\"\nfun f0 \"f\" () {\n" + insts +
                     "\nreturn " + results + "\n}\nmain {\n  v2: i32 = local\n  call f0()\n}");
  };
  expect_valid(function("if v1 {\n}"));
  expect_refused(function("call f0()"), "a call of a function that does not come before");
  expect_refused(function("barrier"), "threads meet in a function");
  expect_refused(function("v3: bool = subgroup.any v1"), "threads meet in a function");
  expect_refused(function("if v2 {\n}"), "v2 is not visible");
  expect_refused(function("", "v2"), "invalid kernel k in function f: v2 is not visible");
}

TEST(KirValidate, Failures) {
  const std::string many = "v1, v1, v1, v1, v1, v1, v1, v1, v1, v1, v1, v1, v1, v1";
  expect_valid(main_with("fail 0(" + many + ")"));
  refused("fail 0(" + many + ", v1)", "15 arguments of a failure");
  refused("fail -1()", "the failure's number is -1");
  refused("v10: i32x2 = compose(v1, v1)\nfail 0(v10)", "a vector as argument of a failure");
}

TEST(KirValidate, Tables) {
  const auto tables = [](const std::string& text) { return kernel_of(text + "\nmain {\n}"); };
  const std::string group = "kernel \"k\" group 8\n";
  expect_refused(tables("kernel \"k\" group 0"), "the workgroup has no elements");
  expect_refused(tables("kernel \"k\" group 8 * v1\nspec v1: bool = true \"b\""),
                 "the size of the workgroup depends on what is no spec of type i32");
  expect_refused(tables(group + "arg v1: i32x2 \"a\""), "argument a is a vector");
  expect_refused(tables(group + "arg v1: i32 \"a\"\narg v1: i32 \"b\""), "v1 is defined twice");
  expect_refused(tables(group + "spec v1: i64 = 3i64 \"a\""), "a is of type i64");
  expect_refused(tables(group + "spec v1: i32 = true \"a\""),
                 "a and its fallback have different types");
  expect_refused(tables(group + "shared s0: i32[0] \"a\""), "a has no elements");
  expect_refused(tables(group + "shared s0: i32x3[1] \"a\""), "a has vectors of 3 lanes");
  expect_refused(tables(group + "local l0: i32[0] \"a\""), "a has no elements");
  expect_refused(tables(group + "spec v1: i32 = 0i32 \"n\"\nshared s0: i32[8 * v1] \"a\""),
                 "a has no elements by its spec's fallback");
  Kernel k = tables(group + "block v1 \"a\"\nshared s0: i32[3] \"b\"");
  k.vals[1] = {PrimType::kI64};
  expect_refused(k, "the address of a is no u64");
  k.vals[1] = {PrimType::kU64};
  expect_valid(k);
  k.shared[0].length.spec = 0;
  expect_refused(k, "the size of b depends on what is no spec");
  k.shared[0].length.spec = -1;
  k.args[0].val = ValId{7};
  expect_refused(k, "a value that does not exist is defined");
}

}  // namespace
}  // namespace kenaz::kir
