// Every scalar operation at every type, on edge values: what a device computes must be what
// eval_scalar says, which folds constants and is the reference evaluator.
//
// Integers, comparisons, conversions and the functions that IEEE 754 rounds exactly must agree in
// every bit; for the others a distance in units of the last place (ULP) is allowed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/compiler.h"
#include "kernels/ir/parse.h"
#include "kernels/scalar/ops.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "tests/test_device.h"

namespace kenaz {
namespace {

using O = ScalarOp;
using P = PrimType;

/// Kernels of more operations than this take long to compile.
constexpr size_t kOpsPerKernel = 16;

struct Operation {
  O op;
  P type, to;
  P result() const { return scalar_op_result(op, type, to); }
};

std::vector<Operation> operations(P type) {
  std::vector<Operation> all;
  for (int o = 0; o <= static_cast<int>(O::kSelect); o++) {
    const O op = static_cast<O>(o);
    if (!scalar_op_accepts(op, type)) continue;
    const bool to_any = op == O::kConvert || op == O::kBitcast;
    for (int t = 0; t < (to_any ? kPrimTypeCount : 1); t++) {
      const P to = to_any ? static_cast<P>(t) : type;
      if (op != O::kBitcast || prim_bits(to) == prim_bits(type)) all.push_back({op, type, to});
    }
  }
  return all;
}

// ---- operands

std::vector<PrimValue> edges(P type) {
  std::vector<PrimValue> all;
  if (type == P::kBool) return {PrimValue::of_bool(false), PrimValue::of_bool(true)};
  if (is_integer(type)) {
    const uint64_t mask = ~uint64_t{0} >> (64 - prim_bits(type));
    for (const uint64_t b :
         {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{7}, uint64_t{31}, uint64_t{64},
          uint64_t{100}, mask >> 1, (mask >> 1) + 1, (mask >> 1) + 2, mask - 6, mask - 1, mask}) {
      all.push_back({type, b & mask});
    }
    return all;
  }
  for (const double d : {0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 3.0, 10.0, 0.1, 100.7, 1000.0, 60000.0}) {
    all.push_back(PrimValue::of_float(type, d));
    all.push_back(PrimValue::of_float(type, -d));
  }
  if (type != P::kF16) all.push_back(PrimValue::of_float(type, 3e9));
  const double inf = std::numeric_limits<double>::infinity();
  all.push_back(PrimValue::of_float(type, inf));
  all.push_back(PrimValue::of_float(type, -inf));
  all.push_back(PrimValue::of_float(type, std::numeric_limits<double>::quiet_NaN()));
  return all;
}

/// One row per element: a, b, c of the type, an i32, a bool.
struct Rows {
  std::vector<PrimValue> a, b, c, i, t;
};

Rows rows(P type) {
  const std::vector<PrimValue> values = edges(type);
  const std::vector<int32_t> exponents{0, 1, -1, 5, -20, 40, 2000, -2000};
  Rows all;
  for (size_t x = 0; x < values.size(); x++) {
    for (size_t y = 0; y < values.size(); y++) {
      all.a.push_back(values[x]);
      all.b.push_back(values[y]);
      all.c.push_back(values[(3 * x + 5 * y + 1) % values.size()]);
      all.i.push_back(PrimValue::i32(exponents[(x + y) % exponents.size()]));
      all.t.push_back(PrimValue::of_bool((x + y) % 2 == 0));
    }
  }
  return all;
}

std::vector<PrimValue> operands(const Operation& o, const Rows& r, size_t k) {
  if (o.op == O::kSelect) return {r.t[k], r.a[k], r.b[k]};
  if (o.op == O::kLdexp) return {r.a[k], r.i[k]};
  std::vector<PrimValue> args{r.a[k], r.b[k], r.c[k]};
  args.resize(static_cast<size_t>(scalar_op_arity(o.op)));
  return args;
}

// ---- the program: one map that computes all of them

std::string program_text(P type, const std::vector<Operation>& ops) {
  const auto name = prim_name(type);
  std::string arrays, types, body, names, outs;
  for (size_t k = 0; k < ops.size(); k++) {
    const Operation& o = ops[k];
    const std::string result(prim_name(o.result()));
    const char* comma = k ? ", " : "";
    arrays += fmt::format("{}o{}: [n]{}", comma, k, result);
    types += comma + result;
    names += fmt::format("{}r{}", comma, k);
    outs += fmt::format("{}[n]{}", comma, result);
    std::string args = "a, b, c";
    if (scalar_op_arity(o.op) < 3) args = scalar_op_arity(o.op) == 2 ? "a, b" : "a";
    if (o.op == O::kSelect) args = "t, a, b";
    if (o.op == O::kLdexp) args = "a, i";
    const bool converts = o.op == O::kConvert || o.op == O::kBitcast;
    body += fmt::format("    let r{}: {} = {}.{}{}({})\n", k, result, scalar_op_name(o.op), name,
                        converts ? fmt::format(".{}", prim_name(o.to)) : "", args);
  }
  std::string results = names;
  std::replace(results.begin(), results.end(), 'r', 'o');
  return fmt::format(
      "fun main(as: [n]{0}, bs: [n]{0}, cs: [n]{0}, is: [n]i32, ts: [n]bool) -> ({1}) {{\n"
      "  let ({2}) = soac (n; as, bs, cs, is, ts)\n"
      "      map \\(a: {0}, b: {0}, c: {0}, i: i32, t: bool) -> ({3}) {{\n{4}    return {5}\n  }}\n"
      "  return {6}\n}}\nentry main = main\n",
      name, outs, arrays, types, body, names, results);
}

/// The program with an entry point whose result is a record of all outputs.
Result<program::Program> compile(P type, const std::vector<Operation>& ops) {
  compiler::Lowered lowered;
  KENAZ_ASSIGN(lowered.ir, ir::parse(program_text(type, ops)));
  const auto array = [&](P t) {
    const std::string elem(prim_name(t));
    lowered.types[elem] = {elem, TypeKind::kPrimitive, {{t, 0}}};
    lowered.types["[]" + elem] = {"[]" + elem, TypeKind::kArray, {{t, 1}}, 1, elem};
    return "[]" + elem;
  };
  EntryPoint entry;
  entry.name = "main";
  for (const P t : {type, type, type, P::kI32, P::kBool}) entry.params.push_back({"", array(t)});
  ValueType result{"all", TypeKind::kRecord, {}};
  for (size_t k = 0; k < ops.size(); k++) {
    result.fields.push_back({std::to_string(k), array(ops[k].result())});
    result.leaves.push_back({ops[k].result(), 1});
  }
  entry.result = result.name;
  lowered.types[result.name] = std::move(result);
  lowered.entries.push_back(std::move(entry));
  return compiler::generate(lowered, host::device_target(test_device()->info()));
}

// ---- comparing

/// How far a float's result may be from eval_scalar's, in ULP of the type.
int64_t allowed_distance(const Operation& o) {
  switch (o.op) {
    case O::kAdd:
    case O::kSub:
    case O::kMul:
    case O::kDiv:
    case O::kMod:
    case O::kSqrt:
    case O::kRsqrt:
    case O::kLdexp:
    case O::kMad:
    case O::kNeg:
    case O::kAbs:
    case O::kSgn:
    case O::kMin:
    case O::kMax:
    case O::kFloor:
    case O::kCeil:
    case O::kRound:
    case O::kTrunc:
    case O::kCopysign:
    case O::kNextafter:
    case O::kSelect:
    case O::kConvert:
    case O::kBitcast: return 0;
    case O::kGamma:
    case O::kErfc: return o.type == P::kF64 ? 64 : 4;
    case O::kLgamma: return o.type == P::kF64 ? 1024 : 4;  // near 1 and 2 it is a small difference
    default: return 4;
  }
}

/// The number of floats between the two, of which neither is a NaN. Zeros of different sign: 1.
int64_t distance(const PrimValue& a, const PrimValue& b) {
  const auto place = [](const PrimValue& v) {
    const uint64_t sign = uint64_t{1} << (prim_bits(v.type) - 1);
    const auto size = static_cast<int64_t>(v.bits & (sign - 1));
    return v.bits & sign ? -1 - size : size;
  };
  return std::abs(place(a) - place(b));
}

bool agrees(const Operation& o, const std::vector<PrimValue>& args, const PrimValue& got) {
  const PrimValue expected = eval_scalar(o.op, o.type, o.to, args);
  if (expected == got) return true;
  // Devices may round a fused multiplication and addition twice.
  if (o.op == O::kFma) return agrees({O::kMad, o.type, o.to}, args, got);
  if (!is_float(expected.type)) return false;
  const double e = expected.as_double(), g = got.as_double();
  if (std::isnan(e) || std::isnan(g)) return std::isnan(e) && std::isnan(g);
  return distance(expected, got) <= allowed_distance(o);
}

class OnDevice : public testing::TestWithParam<int> {
 protected:
  static host::LeafPtr put(host::Engine& engine, const std::vector<PrimValue>& values) {
    const P type = values[0].type;
    data::Value value{type, {static_cast<int64_t>(values.size())}, {}};
    for (const PrimValue& v : values) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&v.bits);
      value.bytes.insert(value.bytes.end(), bytes, bytes + prim_size(type));
    }
    return engine.put(value).value_or(nullptr);
  }

  static void compare(const Operation& o, const Rows& r, const data::Value& got) {
    size_t wrong = 0;
    std::string first;
    for (size_t k = 0; k < r.a.size(); k++) {
      const std::vector<PrimValue> args = operands(o, r, k);
      const PrimValue expected = eval_scalar(o.op, o.type, o.to, args);
      const PrimValue value = got.at(static_cast<int64_t>(k));
      if (agrees(o, args, value) || wrong++ > 5) continue;
      first += "\n  ";
      for (const PrimValue& a : args) first += fmt::format("{:#x} ", a.bits);
      first += fmt::format("gives {:#x}, not {:#x}", value.bits, expected.bits);
    }
    EXPECT_EQ(wrong, 0u) << scalar_op_name(o.op) << "." << prim_name(o.type) << " to "
                         << prim_name(o.result()) << first;
  }

  static void run(P type, const std::vector<Operation>& ops, const Rows& r) {
    auto program = compile(type, ops);
    ASSERT_TRUE(program) << program.error().text();
    auto engine = host::make_device_engine(std::move(*program), test_device());
    ASSERT_TRUE(engine) << engine.error().text();
    std::vector<host::LeafPtr> args;
    for (const auto* values : {&r.a, &r.b, &r.c, &r.i, &r.t}) {
      args.push_back(put(**engine, *values));
      ASSERT_TRUE(args.back());
    }
    const auto results = (*engine)->call("main", args);
    ASSERT_TRUE(results) << results.error().text();
    for (size_t k = 0; k < ops.size(); k++) {
      const auto value = (*engine)->get(*(*results)[k]);
      ASSERT_TRUE(value) << value.error().text();
      compare(ops[k], r, *value);
    }
  }
};

TEST_P(OnDevice, OperationsAgreeWithEvalScalar) {
  const P type = static_cast<P>(GetParam());
  const device::Info& info = test_device()->info();
  if ((type == P::kF16 && !info.float16) || (type == P::kF64 && !info.float64)) GTEST_SKIP();
  const std::vector<Operation> all = operations(type);
  const Rows r = rows(type);
  for (size_t first = 0; first < all.size(); first += kOpsPerKernel) {
    const size_t last = std::min(all.size(), first + kOpsPerKernel);
    const auto at = [&](size_t k) { return all.begin() + static_cast<std::ptrdiff_t>(k); };
    run(type, {at(first), at(last)}, r);
  }
}

INSTANTIATE_TEST_SUITE_P(ScalarOps, OnDevice, testing::Range(0, kPrimTypeCount),
                         [](const auto& info) {
                           return std::string(prim_name(static_cast<P>(info.param)));
                         });

}  // namespace
}  // namespace kenaz
