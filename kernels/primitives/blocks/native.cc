#include "kernels/primitives/blocks/native.h"

namespace kenaz::primitives::blocks {

using kir::Builder;
using kir::Value;

namespace {

struct Words {
  PrimType unsigned_type, signed_type;
  int bits;
};
Words words_of(PrimType t) {
  if (t == PrimType::kF64) return {PrimType::kU64, PrimType::kI64, 64};
  return {PrimType::kU32, PrimType::kI32, 32};
}

Value top_bit(const Words& w) { return PrimValue{w.unsigned_type, uint64_t{1} << (w.bits - 1)}; }
Value all_bits(const Words& w) {
  return PrimValue{w.unsigned_type, w.bits == 64 ? ~uint64_t{0} : 0xffffffffu};
}

/// Unsigned integers ordered as the floats are; a NaN comes last in the order of a minimum, first
/// in that of a maximum.
Value order_key(Builder& k, const Value& x, bool minimum) {
  const Words w = words_of(x.type.prim);
  const Value bits = k.bitcast(x, w.unsigned_type);
  const Value sign = k.prim(ScalarOp::kShr, {k.bitcast(bits, w.signed_type),
                                             PrimValue::of_int(w.signed_type, w.bits - 1)});
  const Value key = k.xor_(bits, k.or_(k.bitcast(sign, w.unsigned_type), top_bit(w)));
  const Value last = minimum ? all_bits(w) : Value(PrimValue{w.unsigned_type, 0});
  const Value nan = k.op(ScalarOp::kIsNan, x.type.prim, PrimType::kBool, {x});
  return k.select(nan, last, key);
}

/// What stands for a NaN gives one.
Value from_order_key(Builder& k, const Value& key, PrimType type) {
  const Words w = words_of(type);
  const Value sign = k.prim(ScalarOp::kShr, {k.bitcast(key, w.signed_type),
                                             PrimValue::of_int(w.signed_type, w.bits - 1)});
  // Top bit set: it was positive, and that bit alone was turned.
  const Value turned =
      k.or_(k.prim(ScalarOp::kNot, {k.bitcast(sign, w.unsigned_type)}), top_bit(w));
  return k.bitcast(k.xor_(key, turned), type);
}

}  // namespace

Value native_subgroup(Builder& k, kir::SubgroupOp op, const op::Known& row, const Value& x) {
  const PrimType type = x.type.prim;
  PrimType wide = type;
  if (type == PrimType::kF16) wide = PrimType::kF32;  // exact: only minimum and maximum get here
  if (type == PrimType::kBool) wide = PrimType::kU32;
  if (is_integer(type) && prim_size(type) < 4) {
    wide = prim_kind(type) == PrimKind::kSigned ? PrimType::kI32 : PrimType::kU32;
  }
  const Value in = k.convert(x, wide);
  if (row.subgroup == op::Subgroup::kDirect) {
    return k.convert(k.subgroup_combine(op, row.op, in), type);
  }
  const Value key = order_key(k, in, row.op == ScalarOp::kMin);
  return k.convert(from_order_key(k, k.subgroup_combine(op, row.op, key), wide), type);
}

}  // namespace kenaz::primitives::blocks
