#include "kernels/glsl/print_block.h"

#include <fmt/format.h>

#include "kernels/glsl/scalar.h"
#include "kernels/glsl/types.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

/// Whether the operation's text has operand `k` more than once, or evaluates it only sometimes
/// (which makes a branch of it).
bool needs_stable(ScalarOp op, PrimType type, size_t k) {
  switch (op) {
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kAbs:
    case ScalarOp::kSgn: return is_integer(type);
    case ScalarOp::kSelect: return k > 0;
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kLt:
    case ScalarOp::kLe: return type == PrimType::kBool && k > 0;
    default: return false;
  }
}

}  // namespace

void BlockPrinter::insts(std::span<const Inst> insts) {
  for (const Inst& i : insts) inst(i);
}

void BlockPrinter::inst(const Inst& inst) {
  std::visit(Overloaded{
                 [&](const IIf& i) {
                   Expr cond = names_.take(i.cond);
                   names_.settle_before(inst);
                   if (is_long_chain(i)) {
                     print_chain(inst, cond.text);
                   } else {
                     print_if(i, cond.text);
                   }
                 },
                 [&](const IFor& i) { print_for(inst, i); },
                 [&](const IWhile& i) { print_while(inst, i); },
                 [&](const IAssign& i) {
                   const Expr e = names_.take(i.value);
                   names_.settle_before(inst);
                   out_.line(fmt::format("{} = {};", names_.variable(i.var), e.text));
                 },
                 [&](const auto& i) { print(i); },
             },
             inst.op);
}

// ---- values

namespace {
/// See `untellable`.
void hide_comparison(const IPrim& i, std::vector<std::string>& args) {
  const bool chooses = i.op == ScalarOp::kSelect;
  const bool adds = i.op == ScalarOp::kSub || i.op == ScalarOp::kAdd;
  if (!chooses && (!adds || i.args[0].is_const())) return;
  for (size_t k = 1; k < args.size(); k++) {
    if (!i.args[k].is_const()) args[k] = untellable(i.type, args[k]);
  }
}

bool multiplies(ScalarOp op) {
  return op == ScalarOp::kMul || op == ScalarOp::kSizeMul || op == ScalarOp::kMulHi;
}

/// See `unseen`.
void hide_bits(const Facts& facts, const IPrim& i, std::vector<std::string>& args) {
  for (size_t k = 0; k < args.size(); k++) {
    if (!i.args[k].is_const() && facts.is_lowest_bit(i.args[k])) args[k] = unseen(i.type, args[k]);
  }
}
}  // namespace

void BlockPrinter::print(const IPrim& i) {
  if (c_.facts.uses(i.dst) == 0) return;
  Expr e;
  if (i.op == ScalarOp::kSelect && !i.args[0].is_const() && i.args[0].id() == c_.says_small) {
    const std::string small = names_.operand(i.args[1], e.reads);
    e.text = fmt::format("small_or_any({}, {})", small, names_.operand(i.args[2], e.reads));
    e.is_operand = true;
    names_.define(i.dst, std::move(e));
    return;
  }
  std::vector<std::string> args;
  for (size_t k = 0; k < i.args.size(); k++) {
    args.push_back(needs_stable(i.op, i.type, k) ? names_.stable(i.args[k])
                                                 : names_.operand(i.args[k], e.reads));
  }
  if (is_integer(i.type) && c_.facts.is_of_bools(i.dst)) hide_comparison(i, args);
  if (is_integer(i.type) && multiplies(i.op)) hide_bits(c_.facts, i, args);
  const auto reciprocal = c_.library.fused_floats() ? literal_reciprocal(i) : std::nullopt;
  if (reciprocal) args.push_back(names_.operand(*reciprocal, e.reads));
  const bool untold = i.op == ScalarOp::kConvert && is_integer(i.type) && is_float(i.to) &&
                      c_.facts.is_untold(i.args[0]);
  e.text = untold                        ? untold_to_float(i.type, i.to, args[0])
           : reciprocal                  ? quotient_by(c_.library, i, args)
           : i.form == kir::Form::kWhole ? scalar_op(c_.library, i.op, i.type, i.to, args)
                                         : usual_form(c_.library, i, args);
  e.is_operand = is_operand_text(e.text);
  names_.define(i.dst, std::move(e));
}

void BlockPrinter::print(const IBuiltin& i) {
  const auto subgroup = [&](const char* text) {
    c_.head.need_extension("GL_KHR_shader_subgroup_basic");
    names_.bind(i.dst, text);
  };
  switch (i.kind) {
    case BuiltinKind::kGroup: return names_.bind(i.dst, "group");
    case BuiltinKind::kGroups: return names_.bind(i.dst, "groups");
    case BuiltinKind::kLocal: return names_.bind(i.dst, "local");
    case BuiltinKind::kGroupSize: return names_.bind(i.dst, "int(gl_WorkGroupSize.x)");
    case BuiltinKind::kLane: return subgroup("int(gl_SubgroupInvocationID)");
    case BuiltinKind::kSubgroup: return subgroup("int(gl_SubgroupID)");
    case BuiltinKind::kSubgroups: return subgroup("int(gl_NumSubgroups)");
    case BuiltinKind::kSubgroupSize: return subgroup("int(gl_SubgroupSize)");
  }
}

void BlockPrinter::print(const ICompose& i) {
  if (c_.facts.uses(i.dst) == 0) return;
  Expr e;
  for (const Value& lane : i.lanes) {
    const Expr l = names_.take(lane);
    e.text += (e.text.empty() ? "" : ", ") + l.text;
    e.reads.insert(l.reads.begin(), l.reads.end());
  }
  e.text = fmt::format("{}({})", glsl_type(c_.kernel.vals[i.dst.index]), e.text);
  names_.define(i.dst, std::move(e));
}

void BlockPrinter::print(const IExtract& i) {
  if (c_.facts.uses(i.dst) == 0) return;
  if (i.vector.type.lanes == 1) {
    names_.define_copy(i.dst, names_.take(i.vector));
    return;
  }
  names_.bind(i.dst, fmt::format("{}.{}", names_.stable(i.vector), "xyzw"[i.lane]));
}

void BlockPrinter::print(const IDeclare& i) {
  const std::string init = i.init ? " = " + names_.take(*i.init).text : "";
  if (!names_.variable(i.var).empty()) return;  // it is the same as another one
  names_.declare(i.var);
  out_.line(fmt::format("{} {}{};", glsl_type(c_.kernel.vars[i.var.index]), names_.variable(i.var),
                        init));
}

void BlockPrinter::print(const IRead& i) {
  names_.define_copy(i.dst, {names_.variable(i.var), true, {i.var.index}});
}

}  // namespace kenaz::glsl
