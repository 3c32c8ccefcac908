// Scalar operations on the device, as expressions and as values.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>

#include "tests/kernels/device_run.h"
#include "tests/kernels/through_spirv.h"

namespace kenaz {
namespace {

using kir::Builder;
using kir::i32;
using kir::Value;
using kir::Values;
using P = PrimType;
using O = ScalarOp;

constexpr int kRows = 256;

/// Random bits for integers; for floats numbers of moderate size, so that results are finite.
std::vector<std::byte> operands(P type, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes;
  for (int r = 0; r < kRows; r++) {
    PrimValue v = PrimValue::of_int(P::kU64, static_cast<int64_t>(random()));
    if (type == P::kBool) v.bits &= 1;
    if (is_integer(type) && r % 4 == 0) v.bits = r % 8 == 0 ? 3 : ~uint64_t{0};
    if (is_float(type)) {
      v = PrimValue::of_float(type, (static_cast<double>(random() % 4001) - 2000) / 64);
    }
    const auto* start = reinterpret_cast<const std::byte*>(&v.bits);
    bytes.insert(bytes.end(), start, start + prim_size(type));
  }
  return bytes;
}

/// Operations whose result is the same everywhere, in every bit, if it is no NaN.
bool is_exact(O op, P type) {
  if (!is_float(type)) return true;
  switch (op) {
    case O::kAdd:
    case O::kSub:
    case O::kMul:
    case O::kMin:
    case O::kMax:
    case O::kEq:
    case O::kNe:
    case O::kLt:
    case O::kLe:
    case O::kNeg:
    case O::kAbs:
    case O::kSgn:
    case O::kMad:
    case O::kConvert:
    case O::kBitcast:
    case O::kFloor:
    case O::kCeil:
    case O::kRound:
    case O::kTrunc:
    case O::kNextafter:
    case O::kCopysign:
    case O::kIsNan:
    case O::kIsInf:
    case O::kSelect: return true;
    default: return false;
  }
}

struct Rows : DeviceTest {
  P type;
  Value a, b, c, i, t;
  int outs = 0;
  explicit Rows(P operand_type) : type(operand_type) {
    kernel.group_size.constant = 64;
    groups = kRows / 64;
    a = column("a", type, 1);
    b = column("b", type, 2);
    c = column("c", type, 3);
    i = column("i", P::kI32, 4);
    t = column("t", P::kBool, 5);
  }
  Value column(const std::string& name, P column_type, uint32_t seed) {
    const Value at = block(name, memory.allocate(operands(column_type, seed)));
    return k.load(column_type, at, k.global());
  }
  void give(const Value& v) {
    const size_t bytes = static_cast<size_t>(kRows) * prim_size(v.type.prim);
    k.store(block("o" + std::to_string(outs++), memory.allocate(bytes)), k.global(), v);
  }
};

class Arithmetic : public OnDevice, public testing::WithParamInterface<int> {
 protected:
  P type() const { return static_cast<P>(GetParam()); }
};

TEST_P(Arithmetic, ExactOperations) {
  Rows rows(type());
  for (int o = 0; o <= static_cast<int>(O::kSelect); o++) {
    const O op = static_cast<O>(o);
    if (!scalar_op_accepts(op, type()) || !is_exact(op, type())) continue;
    Values args{rows.a, rows.b, rows.c};
    args.resize(static_cast<size_t>(scalar_op_arity(op)));
    if (op == O::kSelect) args = {rows.t, rows.a, rows.b};
    const bool any = op == O::kConvert || op == O::kBitcast;
    for (int n = 0; n < (any ? kPrimTypeCount : 1); n++) {
      const P to = any ? static_cast<P>(n) : type();
      if (op == O::kBitcast && prim_bits(to) != prim_bits(type())) continue;
      // Infinities have no place here: f16 is narrow.
      if (op == O::kConvert && to == P::kF16) continue;
      if (op == O::kBitcast && is_float(to) != is_float(type())) continue;
      rows.give(rows.k.op(op, type(), to, args));
    }
  }
  run_on_both(rows);
}

// The functions for devices that may contract, where a product and a sum are rounded once, as the
// interpreter does.
TEST_P(Arithmetic, FusedFunctions) {
  if (!is_float(type())) GTEST_SKIP() << "no functions of integers";
  constexpr int64_t kUnits = 2;
  for (const O op : {O::kDiv, O::kSqrt, O::kRsqrt, O::kExp, O::kLog, O::kLog2, O::kSin, O::kCos,
                     O::kPow, O::kTan}) {
    Rows rows(type());
    rows.contract = true;
    Values args{rows.a, rows.b};
    args.resize(static_cast<size_t>(scalar_op_arity(op)));
    const size_t width = static_cast<size_t>(prim_size(type()));
    const uint64_t out = rows.memory.allocate(kRows * width);
    rows.k.store(rows.block("out", out), rows.k.global(), rows.k.op(op, type(), type(), args));
    const auto left = ThroughSpirv(rows).block_after(rows, out);
    ASSERT_TRUE(left) << left.error().text();
    const auto value_at = [&](const std::vector<std::byte>& bytes, int row) {
      PrimValue v = PrimValue::of_float(type(), 0);
      std::memcpy(&v.bits, bytes.data() + static_cast<size_t>(row) * width, width);
      return v;
    };
    const auto a = operands(type(), 1), b = operands(type(), 2);
    for (int r = 0; r < kRows; r++) {
      std::vector<PrimValue> values{value_at(a, r), value_at(b, r)};
      values.resize(args.size());
      const PrimValue expected = eval_scalar(op, type(), type(), values), got = value_at(*left, r);
      if (std::isnan(expected.as_double()) && std::isnan(got.as_double())) continue;
      // Floats of one sign follow each other as their bits do.
      const auto units = static_cast<int64_t>(expected.bits - got.bits);
      EXPECT_LE(std::abs(units), kUnits)
          << scalar_op_name(op) << " of " << values[0].as_double() << " gives " << got.as_double()
          << ", not " << expected.as_double();
    }
  }
}

// Pairs of numbers around the ends of what 32 bits hold.
TEST_F(OnDevice, QuickDivisions) {
  for (const P type : {P::kI64, P::kU64}) {
    DeviceTest t;
    t.quick_divisions = true;
    const int64_t least = std::numeric_limits<int64_t>::min();
    std::vector<int64_t> numbers;
    for (const int64_t n : {int64_t{0}, int64_t{7}, int64_t{1} << 31, int64_t{1} << 32, least}) {
      for (const int64_t by : {-2, -1, 0, 1}) {
        numbers.push_back(
            static_cast<int64_t>(static_cast<uint64_t>(n) + static_cast<uint64_t>(by)));
      }
    }
    const auto count = static_cast<int64_t>(numbers.size());
    const auto bytes = std::as_bytes(std::span(numbers));
    const Value from =
        t.block("numbers", t.memory.allocate(std::vector<std::byte>(bytes.begin(), bytes.end())));
    t.kernel.group_size.constant = static_cast<int32_t>(count);
    t.groups = count;
    Builder& k = t.k;
    const Value a = k.load(type, from, k.group()), b = k.load(type, from, k.local());
    for (const O op : {O::kDiv, O::kMod, O::kQuot, O::kRem}) {
      const auto size = static_cast<size_t>(8 * count * count);
      k.store(t.block(std::string(scalar_op_name(op)), t.memory.allocate(size)), k.global(),
              k.op(op, type, type, {a, b}));
    }
    run_on_both(t);
  }
}

// Each operation's value is used once, so they stand in one expression where that is short.
TEST_P(Arithmetic, Expressions) {
  if (type() == P::kBool) {
    Rows r(type());
    Builder& k = r.k;
    r.give(k.not_(k.or_(k.and_(r.a, k.not_(r.b)), k.xor_(r.c, k.lt(r.a, r.t)))));
    r.give(k.le(k.eq(k.not_(r.a), r.b), k.ne(k.lt(r.i, 5), k.not_(r.c))));
    r.give(k.select(k.not_(r.a), k.and_(r.b, r.c), k.or_(r.t, r.b)));
    run_on_both(r);
    return;
  }
  Rows r(type());
  Builder& k = r.k;
  const auto unary = [&](O op, Value v) { return k.prim(op, {std::move(v)}); };
  r.give(k.sub(r.a, k.sub(r.b, r.c)));
  r.give(k.mul(k.add(r.a, r.b), k.sub(r.a, r.c)));
  r.give(unary(O::kNeg, unary(O::kNeg, k.sub(r.a, r.b))));
  r.give(k.min(k.mul(r.a, r.b), k.max(unary(O::kAbs, r.c), unary(O::kSgn, r.b))));
  r.give(k.prim(O::kMad, {k.add(r.a, r.b), unary(O::kNeg, r.b), k.sub(r.c, r.a)}));
  r.give(
      k.select(k.and_(k.lt(r.a, r.b), k.not_(k.eq(r.b, r.c))), k.add(r.a, r.c), k.mul(r.b, r.c)));
  r.give(k.convert(k.lt(k.add(r.a, r.b), k.mul(r.c, r.c)), type()));
  if (is_integer(type())) {
    r.give(k.shl(k.add(r.a, 1), k.and_(r.b, k.sub(r.c, 1))));
    r.give(k.or_(k.and_(r.a, k.prim(O::kNot, {r.b})), k.xor_(r.c, k.lshr(r.a, k.add(r.b, 1)))));
    r.give(k.rem(k.quot(r.a, k.add(r.b, 1)), k.prim(O::kDiv, {r.c, k.prim(O::kMod, {r.a, r.b})})));
    r.give(k.convert(k.convert(k.add(r.a, r.b), P::kI16), P::kU64));
  }
  run_on_both(r);
}

TEST_P(Arithmetic, Constants) {
  Rows r(type());
  if (type() == P::kBool) {
    for (const bool b : {false, true}) r.give(Value(PrimValue::of_bool(b)));
  } else {
    for (const int64_t n : {0, 1, -1, 100, -128, 127}) {
      const PrimValue v = is_float(type()) ? PrimValue::of_float(type(), static_cast<double>(n) / 8)
                                           : PrimValue::of_int(type(), n);
      r.give(Value(v));
      r.give(r.k.add(r.a, Value(v)));
    }
    const uint64_t top = uint64_t{1} << (prim_bits(type()) - 1);
    r.give(Value(PrimValue{type(), top}));  // the least integer; the negative zero
    if (is_integer(type())) r.give(Value(PrimValue{type(), top - 1}));
    if (is_float(type())) r.give(Value(PrimValue::of_float(type(), 0.1)));
  }
  run_on_both(r);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Arithmetic, testing::Range(0, kPrimTypeCount),
                         [](const auto& info) {
                           return std::string(prim_name(static_cast<P>(info.param)));
                         });

}  // namespace
}  // namespace kenaz
