#include "kernels/kir/identities.h"

namespace kenaz::kir {
namespace {

std::optional<Value> known_of_bools(ScalarOp op, const Value& a, const Value& b) {
  switch (op) {
    case ScalarOp::kAnd:
      if (a.is_bool(true) || b.is_bool(false) || a == b) return b;
      if (b.is_bool(true) || a.is_bool(false)) return a;
      break;
    case ScalarOp::kOr:
      if (a.is_bool(false) || b.is_bool(true) || a == b) return b;
      if (b.is_bool(false) || a.is_bool(true)) return a;
      break;
    case ScalarOp::kXor:
    case ScalarOp::kNe:
      if (a.is_bool(false)) return b;
      if (b.is_bool(false)) return a;
      if (a == b) return boolean(false);
      break;
    case ScalarOp::kEq:
      if (a.is_bool(true)) return b;
      if (b.is_bool(true)) return a;
      if (a == b) return boolean(true);
      break;
    case ScalarOp::kLe:
      if (a == b) return boolean(true);
      break;
    case ScalarOp::kLt:
      if (a == b) return boolean(false);
      break;
    default: break;
  }
  return std::nullopt;
}

std::optional<Value> known_of_bits(ScalarOp op, PrimType type, const Value& a, const Value& b) {
  const Value ones = PrimValue::of_int(type, -1), zero = PrimValue::of_int(type, 0);
  const auto width = static_cast<uint64_t>(prim_bits(type));
  switch (op) {
    case ScalarOp::kAnd:
      if (a == b || a == zero || b == ones) return a;
      if (b == zero || a == ones) return b;
      break;
    case ScalarOp::kOr:
      if (a == b || a == ones || b == zero) return a;
      if (b == ones || a == zero) return b;
      break;
    case ScalarOp::kXor:
      if (a == zero) return b;
      if (b == zero) return a;
      if (a == b) return zero;
      break;
    case ScalarOp::kShl:
    case ScalarOp::kLShr:
    case ScalarOp::kShr:
      if (a == zero || (b.is_const() && b.constant().bits % width == 0)) return a;
      break;
    default: break;
  }
  return std::nullopt;
}

std::optional<Value> known_of_integers(ScalarOp op, PrimType type, const Value& a, const Value& b) {
  const bool is_unsigned = prim_kind(type) == PrimKind::kUnsigned;
  const Value zero = PrimValue::of_int(type, 0);
  switch (op) {
    case ScalarOp::kAdd:
      if (a == zero) return b;
      if (b == zero) return a;
      break;
    case ScalarOp::kSub:
      if (b == zero) return a;
      if (a == b) return zero;
      break;
    case ScalarOp::kMul:
      if (a == zero || b.is_int(1)) return a;
      if (b == zero || a.is_int(1)) return b;
      break;
    case ScalarOp::kDiv:
    case ScalarOp::kQuot:
      if (b.is_int(1) || a == zero) return a;  // 0 / 0 is 0
      break;
    case ScalarOp::kMod:
    case ScalarOp::kRem:
      if (b.is_int(1) || a == zero) return zero;
      break;
    case ScalarOp::kMin:
    case ScalarOp::kMax:
      if (a == b) return a;
      break;
    case ScalarOp::kEq:
      if (a == b) return boolean(true);
      break;
    case ScalarOp::kNe:
      if (a == b) return boolean(false);
      break;
    case ScalarOp::kLt:
      if (a == b || (is_unsigned && b == zero)) return boolean(false);
      break;
    case ScalarOp::kLe:
      if (a == b || (is_unsigned && a == zero)) return boolean(true);
      break;
    default: return known_of_bits(op, type, a, b);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> known_result(ScalarOp op, PrimType type, PrimType to,
                                  const std::vector<Value>& args) {
  std::vector<PrimValue> constants;
  for (const Value& a : args) {
    if (a.is_const()) constants.push_back(a.constant());
  }
  if (constants.size() == args.size()) return Value(eval_scalar(op, type, to, constants));
  if (op == ScalarOp::kSelect) {
    const Value &cond = args[0], &a = args[1], &b = args[2];
    if (cond.is_const()) return cond.is_bool(true) ? a : b;
    if (a == b) return a;
    if (a.is_bool(true) && b.is_bool(false)) return cond;
    return std::nullopt;
  }
  if ((op == ScalarOp::kConvert || op == ScalarOp::kBitcast) && type == to) return args[0];
  if (args.size() != 2) return std::nullopt;
  if (type == PrimType::kBool) return known_of_bools(op, args[0], args[1]);
  if (is_integer(type)) return known_of_integers(op, type, args[0], args[1]);
  return std::nullopt;
}

}  // namespace kenaz::kir
