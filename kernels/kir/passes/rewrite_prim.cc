#include "kernels/kir/passes/rewrite_prim.h"

#include <bit>
#include <utility>

#include "kernels/kir/identities.h"

namespace kenaz::kir {
namespace {

bool is_exact(PrimType t) { return !is_float(t); }

IPrim prim(const IPrim& like, ScalarOp op, PrimType type, std::vector<Value> args) {
  return {like.dst, op, type, scalar_op_result(op, type, type), std::move(args)};
}

/// Constants go to the right, x - c becomes x + -c, and (x + c) + d becomes x + (c + d). Integers
/// and truth values only.
bool gather_constants(IPrim& i, const MadeBy& made_by) {
  if (i.args.size() != 2 || !is_exact(i.type)) return false;
  if (scalar_op_commutes(i.op) && i.args[0].is_const() && !i.args[1].is_const()) {
    std::swap(i.args[0], i.args[1]);
    return true;
  }
  if (!i.args[1].is_const()) return false;
  const PrimValue c = i.args[1].constant();
  if (i.op == ScalarOp::kSub) {
    i = prim(i, ScalarOp::kAdd, i.type,
             {i.args[0], eval_scalar(ScalarOp::kNeg, i.type, i.type, {{c}})});
    return true;
  }
  const IPrim* inner = made_by(i.args[0]);
  if (!scalar_op_associates(i.op) || !inner || inner->op != i.op || inner->type != i.type ||
      !inner->args[1].is_const()) {
    return false;
  }
  const PrimValue both[] = {inner->args[1].constant(), c};
  i = prim(i, i.op, i.type, {inner->args[0], eval_scalar(i.op, i.type, i.type, both)});
  return true;
}

/// x * -1 is 0 - x, and a + (0 - x) is a - x: passes over loops know sums and differences.
bool subtract(IPrim& i, const MadeBy& made_by) {
  if (!is_integer(i.type)) return false;
  if (i.op == ScalarOp::kMul && i.args[1] == Value(PrimValue::of_int(i.type, -1))) {
    i = prim(i, ScalarOp::kSub, i.type, {PrimValue::of_int(i.type, 0), i.args[0]});
    return true;
  }
  if (i.op != ScalarOp::kAdd) return false;
  for (const size_t k : {1, 0}) {
    const IPrim* inner = made_by(i.args[k]);
    if (inner == nullptr || inner->op != ScalarOp::kSub || !inner->args[0].is_int(0)) continue;
    i = prim(i, ScalarOp::kSub, i.type, {i.args[1 - k], inner->args[1]});
    return true;
  }
  return false;
}

/// Choices by and among truth values.
bool rewrite_choice(IPrim& i, const MadeBy& made_by) {
  if (i.op == ScalarOp::kSelect) {
    const IPrim* cond = made_by(i.args[0]);
    if (i.args[1].is_bool(false) && i.args[2].is_bool(true)) {
      i = prim(i, ScalarOp::kNot, PrimType::kBool, {i.args[0]});
    } else if (cond && cond->op == ScalarOp::kNot) {
      i.args = {cond->args[0], i.args[2], i.args[1]};
    } else {
      return false;
    }
    return true;
  }
  if ((i.op == ScalarOp::kEq && i.args[1].is_bool(false)) ||
      (i.op == ScalarOp::kNe && i.args[1].is_bool(true))) {
    i = prim(i, ScalarOp::kNot, PrimType::kBool, {i.args[0]});
    return true;
  }
  return false;
}

/// not (a == b), and of integers not (a < b): with a NaN the latter is no b <= a.
bool negate_comparison(IPrim& i, const MadeBy& made_by) {
  if (i.op != ScalarOp::kNot || i.type != PrimType::kBool) return false;
  const IPrim* inner = made_by(i.args[0]);
  if (inner == nullptr) return false;
  const auto &a = inner->args[0], &b = inner->args.back();
  switch (inner->op) {
    case ScalarOp::kEq: i = prim(i, ScalarOp::kNe, inner->type, {a, b}); return true;
    case ScalarOp::kNe: i = prim(i, ScalarOp::kEq, inner->type, {a, b}); return true;
    case ScalarOp::kLt:
    case ScalarOp::kLe:
      if (!is_exact(inner->type)) return false;
      i = prim(i, inner->op == ScalarOp::kLt ? ScalarOp::kLe : ScalarOp::kLt, inner->type, {b, a});
      return true;
    default: return false;
  }
}

/// A integer that was widened and is cut again.
bool shorten_conversion(IPrim& i, const MadeBy& made_by) {
  if (i.op != ScalarOp::kConvert || !is_integer(i.type) || !is_integer(i.to)) return false;
  const IPrim* inner = made_by(i.args[0]);
  if (!inner || inner->op != ScalarOp::kConvert || !is_integer(inner->type)) return false;
  if (prim_size(inner->type) > prim_size(i.type) || prim_size(i.to) > prim_size(inner->type)) {
    return false;
  }
  i.type = inner->type;
  i.args = {inner->args[0]};
  return true;
}

/// Division and remainder by a power of two: shifts and masks round downwards as well. (Division of
/// 64 bits takes a hundred instructions where the device has none, and llvmpipe goes lane by lane.)
bool divide_by_bits(IPrim& i) {
  if (i.args.size() != 2 || !i.args[1].is_const() || !is_integer(i.type)) return false;
  const bool is_unsigned = prim_kind(i.type) == PrimKind::kUnsigned;
  const bool is_div = i.op == ScalarOp::kDiv || (is_unsigned && i.op == ScalarOp::kQuot);
  const bool is_mod = i.op == ScalarOp::kMod || (is_unsigned && i.op == ScalarOp::kRem);
  const uint64_t by = i.args[1].constant().bits;
  const bool is_negative = !is_unsigned && by >> (prim_bits(i.type) - 1) != 0;
  if ((!is_div && !is_mod) || !std::has_single_bit(by) || is_negative) return false;
  i = is_div ? prim(i, ScalarOp::kShr, i.type,
                    {i.args[0], PrimValue::of_int(i.type, std::countr_zero(by))})
             : prim(i, ScalarOp::kAnd, i.type,
                    {i.args[0], PrimValue::of_int(i.type, static_cast<int64_t>(by - 1))});
  return true;
}

/// What two operations give that undo each other.
std::optional<Value> undone(const IPrim& i, const MadeBy& made_by) {
  const IPrim* inner = made_by(i.args[0]);
  if (!inner || inner->op != i.op) return std::nullopt;
  const bool inverse = i.op == ScalarOp::kNot || (i.op == ScalarOp::kNeg && is_exact(i.type));
  // A bool has fewer bits than the integer that it comes from.
  const bool bits = i.op == ScalarOp::kBitcast && i.to == inner->type && i.type != PrimType::kBool;
  if (inverse || bits) return inner->args[0];
  return std::nullopt;
}

}  // namespace

std::optional<Value> rewrite_prim(IPrim& inst, const MadeBy& made_by) {
  if (inst.form != Form::kWhole)
    return std::nullopt;  // what is known of operations is of whole ones
  while (true) {
    if (auto known = known_result(inst.op, inst.type, inst.to, inst.args)) return known;
    if (auto known = undone(inst, made_by)) return known;
    if (!gather_constants(inst, made_by) && !subtract(inst, made_by) &&
        !rewrite_choice(inst, made_by) && !negate_comparison(inst, made_by) &&
        !shorten_conversion(inst, made_by) && !divide_by_bits(inst)) {
      return std::nullopt;
    }
  }
}

}  // namespace kenaz::kir
