#include "kernels/ir/algebra.h"

#include <vector>

namespace kenaz::ir {
namespace {

bool is_int(const Atom& a, PrimType t, int64_t n) {
  return a.is_const() && is_integer(t) && a.constant() == PrimValue::of_int(t, n);
}

bool is_float_one(const Atom& a, PrimType t) {
  return a.is_const() && is_float(t) && a.constant() == PrimValue::of_float(t, 1);
}
Atom b_zero(PrimType t) { return PrimValue::of_int(t, 0); }

std::optional<Atom> fold(const EPrim& e) {
  std::vector<PrimValue> values;
  for (const Atom& a : e.args) {
    if (!a.is_const()) return std::nullopt;
    values.push_back(a.constant());
  }
  return Atom(eval_scalar(e.op, e.type, e.to, values));
}

std::optional<Atom> arithmetic(const EPrim& e) {
  const Atom& a = e.args[0];
  const Atom& b = e.args[1];
  const PrimType t = e.type;
  switch (e.op) {
    case ScalarOp::kAdd:
      if (is_int(a, t, 0)) return b;
      if (is_int(b, t, 0)) return a;
      break;
    case ScalarOp::kSub:
      if (is_int(b, t, 0)) return a;
      if (a == b && is_integer(t)) return Atom(PrimValue::of_int(t, 0));
      break;
    case ScalarOp::kMul:
      if (is_int(a, t, 1) || is_int(b, t, 0) || is_float_one(a, t)) return b;
      if (is_int(b, t, 1) || is_int(a, t, 0) || is_float_one(b, t)) return a;
      break;
    case ScalarOp::kDiv:
    case ScalarOp::kQuot:
      if (is_int(b, t, 1) || is_float_one(b, t)) return a;
      break;
    case ScalarOp::kMod:
    case ScalarOp::kRem:
      if (is_int(b, t, 1)) return b_zero(t);
      break;
    case ScalarOp::kShl:
    case ScalarOp::kShr:
    case ScalarOp::kLShr:
      if (is_int(b, t, 0)) return a;
      break;
    case ScalarOp::kXor:
      if (t == PrimType::kBool ? b.is_bool(false) : is_int(b, t, 0)) return a;
      if (t == PrimType::kBool ? a.is_bool(false) : is_int(a, t, 0)) return b;
      break;
    case ScalarOp::kMin:
    case ScalarOp::kMax:
      if (a == b) return a;
      break;
    default: break;
  }
  return std::nullopt;
}

std::optional<Atom> logic(const EPrim& e) {
  const Atom& a = e.args[0];
  const Atom& b = e.args[1];
  const bool is_and = e.op == ScalarOp::kAnd;
  if (a == b) return a;
  if (e.type != PrimType::kBool) {
    const PrimValue zero = PrimValue::of_int(e.type, 0), ones = PrimValue::of_int(e.type, -1);
    const PrimValue& unit = is_and ? ones : zero;
    const PrimValue& absorbing = is_and ? zero : ones;
    if (a == Atom(unit) || b == Atom(absorbing)) return b;
    if (b == Atom(unit) || a == Atom(absorbing)) return a;
    return std::nullopt;
  }
  if (a.is_bool(is_and)) return b;
  if (b.is_bool(is_and)) return a;
  if (a.is_bool(!is_and) || b.is_bool(!is_and)) return Atom(PrimValue::of_bool(!is_and));
  return std::nullopt;
}

}  // namespace

std::optional<Atom> simplify_prim(const EPrim& e) {
  if (auto folded = fold(e)) return folded;
  switch (e.op) {
    case ScalarOp::kAnd:
    case ScalarOp::kOr: return logic(e);
    case ScalarOp::kEq:
    case ScalarOp::kLe:
      // Not for floats: a NaN does not equal itself.
      if (e.args[0] == e.args[1] && !is_float(e.type)) return Atom(PrimValue::of_bool(true));
      return std::nullopt;
    case ScalarOp::kNe:
    case ScalarOp::kLt:
      if (e.args[0] == e.args[1] && !is_float(e.type)) return Atom(PrimValue::of_bool(false));
      return std::nullopt;
    case ScalarOp::kConvert:
    case ScalarOp::kBitcast:
      if (e.type == e.to) return e.args[0];
      return std::nullopt;
    case ScalarOp::kSelect:
      if (e.args[1].is_bool(true) && e.args[2].is_bool(false)) return e.args[0];
      if (e.args[0].is_bool(true) || e.args[1] == e.args[2]) return e.args[1];
      if (e.args[0].is_bool(false)) return e.args[2];
      return std::nullopt;
    default: return e.args.size() == 2 ? arithmetic(e) : std::nullopt;
  }
}

}  // namespace kenaz::ir
