#include "kernels/passes/algebra.h"

#include <algorithm>

namespace kenaz::passes {
namespace {

using namespace ir;

bool is_int(const Atom& a, PrimType t, int64_t n) {
  return a.is_const() && is_integer(t) && a.constant() == PrimValue::of_int(t, n);
}
bool is_bool(const Atom& a, bool b) {
  return a.is_const() && a.constant() == PrimValue::of_bool(b);
}

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
      if (is_int(a, t, 1) || is_int(b, t, 0)) return b;
      if (is_int(b, t, 1) || is_int(a, t, 0)) return a;
      break;
    case ScalarOp::kDiv:
    case ScalarOp::kQuot:
      if (is_int(b, t, 1)) return a;
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
  if (e.type != PrimType::kBool) return std::nullopt;
  if (is_bool(a, is_and)) return b;
  if (is_bool(b, is_and)) return a;
  if (is_bool(a, !is_and) || is_bool(b, !is_and)) return Atom(PrimValue::of_bool(!is_and));
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
      if (is_bool(e.args[0], true) || e.args[1] == e.args[2]) return e.args[1];
      if (is_bool(e.args[0], false)) return e.args[2];
      return std::nullopt;
    default: return e.args.size() == 2 ? arithmetic(e) : std::nullopt;
  }
}

}  // namespace kenaz::passes
