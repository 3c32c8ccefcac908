#include "kernels/op/operators.h"

#include "protocol/base/check.h"

namespace kenaz::op {

namespace {

using kir::AtomicOp;

constexpr Known kRows[] = {
#define OPERATOR(op, types, neutral, commutative, atomic, subgroup) \
  {ScalarOp::op, TypeClass::types, Neutral::neutral,                \
   commutative,  AtomicOp::atomic, Subgroup::subgroup},
#include "kernels/op/operators.def"
#undef OPERATOR
};

uint64_t ones(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

}  // namespace

TypeClass class_of(PrimType t) {
  if (t == PrimType::kBool) return TypeClass::kBool;
  return is_float(t) ? TypeClass::kFloat : TypeClass::kInt;
}

const Known* known(ScalarOp op, PrimType type) {
  for (const Known& row : kRows) {
    if (row.op == op && row.types == class_of(type)) return &row;
  }
  return nullptr;
}

const Known* recognise(const ir::Lambda& op) {
  if (op.params.size() != 2 || op.body.stms.size() != 1 || op.body.results.size() != 1) {
    return nullptr;
  }
  const ir::Stm& s = op.body.stms[0];
  const auto* p = std::get_if<ir::EPrim>(&s.exp);
  if (p == nullptr || p->args.size() != 2) return nullptr;
  if (op.body.results[0] != ir::Atom(s.pat[0])) return nullptr;
  const Known* row = known(p->op, p->type);
  if (row == nullptr) return nullptr;
  const ir::Atom a = op.params[0], b = op.params[1];
  if (p->args[0] == a && p->args[1] == b) return row;
  return row->commutative && p->args[0] == b && p->args[1] == a ? row : nullptr;
}

const Known* recognise(const ir::Monoid& monoid) { return recognise(monoid.op); }

bool is_commutative(const ir::Monoid& monoid) {
  if (monoid.commutative) return true;
  const Known* row = recognise(monoid);
  return row != nullptr && row->commutative;
}

PrimValue neutral_of(const Known& row, PrimType type) {
  const int bits = prim_bits(type);
  const bool is_signed = prim_kind(type) == PrimKind::kSigned;
  switch (row.neutral) {
    case Neutral::kZero: return {type, 0};
    case Neutral::kOne:
      return is_float(type) ? PrimValue::of_float(type, 1) : PrimValue::of_int(type, 1);
    case Neutral::kLeast: return {type, is_signed ? uint64_t{1} << (bits - 1) : 0};
    case Neutral::kGreatest: return {type, ones(is_signed ? bits - 1 : bits)};
    case Neutral::kAllBits: return {type, ones(bits)};
    case Neutral::kNan: return PrimValue::of_float(type, __builtin_nan(""));
  }
  UNREACHABLE("Neutral");
}

bool has_subgroup_op(const Known& row, PrimType type, const program::Target& target) {
  if (target.subgroup_size == 1 || !target.subgroup_arithmetic) return false;
  // Sums of f16 in f32 would round differently.
  return type != PrimType::kF16 || row.subgroup == Subgroup::kByOrder;
}

bool has_cas(int bytes, const program::Target& target, bool shared) {
  return bytes == 4 || (bytes == 8 && (shared ? target.shared_i64_atomics : target.i64_atomics));
}

bool has_atomic(const Known& row, PrimType type, const program::Target& target, bool shared) {
  if (row.atomic == AtomicOp::kCas) return false;
  if (type == PrimType::kF32) {
    return shared ? target.shared_f32_atomic_add : target.f32_atomic_add;
  }
  if (type == PrimType::kF64) {
    return shared ? target.shared_f64_atomic_add : target.f64_atomic_add;
  }
  return is_integer(type) && has_cas(prim_size(type), target, shared);
}

}  // namespace kenaz::op
