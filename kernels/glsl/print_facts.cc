#include "kernels/glsl/print_facts.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

constexpr uint64_t kAnyBits = ~uint64_t{0};

/// The k of 2^k.
std::optional<int> exponent(const Value& v) {
  if (!v.is_const() || !std::has_single_bit(v.constant().bits)) return std::nullopt;
  return std::countr_zero(v.constant().bits);
}

/// How far an operation shifts, to the right or to the left; quotients and products count.
std::optional<int> shift(const IPrim* i, bool right) {
  if (i == nullptr || !is_integer(i->type)) return std::nullopt;
  const bool is_unsigned = prim_kind(i->type) == PrimKind::kUnsigned;
  const auto by = [&](ScalarOp shifts, ScalarOp multiplies, bool same) -> std::optional<int> {
    if (i->op == multiplies && same) return exponent(i->args[1]);
    if (i->op != shifts || !i->args[1].is_const()) return std::nullopt;
    return static_cast<int>(i->args[1].constant().bits) & (prim_bits(i->type) - 1);
  };
  if (!right) return by(ScalarOp::kShl, ScalarOp::kMul, true);
  if (const auto k = by(ScalarOp::kShr, ScalarOp::kDiv, true)) return k;
  return by(ScalarOp::kLShr, ScalarOp::kQuot, is_unsigned);
}

/// The value that a pure instruction gives.
ValId result_of(const Inst& inst) {
  ValId result;
  visit_results(inst.op, [&](ValId v) { result = v; });
  return result;
}

}  // namespace

std::set<uint32_t> assigned_by(const Inst& inst) {
  std::set<uint32_t> vars;
  const auto look = [&](const Inst& i) {
    if (const auto* assign = std::get_if<IAssign>(&i.op)) vars.insert(assign->var.index);
  };
  look(inst);
  visit_blocks(inst.op, [&](const Block& b) { for_each_inst(b, look); });
  return vars;
}

bool is_pure(const Inst& inst) {
  return std::visit(Overloaded{
                        [](const IPrim&) { return true; },
                        [](const IBuiltin&) { return true; },
                        [](const ICompose&) { return true; },
                        [](const IExtract&) { return true; },
                        [](const ILoad&) { return true; },
                        [](const IRead&) { return true; },
                        [](const ISubgroup&) { return true; },
                        [](const auto&) { return false; },
                    },
                    inst.op);
}

Facts::Facts(const Kernel& kernel, bool cuts)
    : kernel_(kernel),
      cuts_(cuts),
      uses_(kernel.vals.size(), 0),
      looks_(kernel),
      untold_(kernel),
      of_bools_(kernel.vals.size(), false),
      bits_(kernel.vals.size(), kAnyBits),
      operations_(kernel.vals.size(), nullptr) {
  for_each_inst_of(kernel, [&](const Inst& i) {
    if (const auto* prim = std::get_if<IPrim>(&i.op)) {
      of_bools_[prim->dst.index] = by_bools(*prim);
      bits_[prim->dst.index] = bits_of(*prim);
      operations_[prim->dst.index] = prim;
    }
  });
  for (const Function& f : kernel.functions) {  // callees first
    function_stops_.push_back(may_stop(f.body));
    for (const Value& r : f.results) {
      if (!r.is_const()) uses_[r.id().index]++;
    }
    look_at(f.body);
  }
  look_at(kernel.main);
}

/// From the last to the first, so that what is used is known when its own operands are counted.
void Facts::look_at(const Block& block) {
  for (auto it = block.insts.rbegin(); it != block.insts.rend(); ++it) look_at(*it);
}

void Facts::look_at(const Inst& inst) {
  if (is_pure(inst) && uses(result_of(inst)) == 0) return;
  const auto count = [&](const Value& v) {
    if (!v.is_const()) uses_[v.id().index]++;
  };
  note(inst);
  visit_end_operands(inst.op, count);
  std::vector<const Block*> blocks;
  visit_blocks(inst.op, [&](const Block& b) { blocks.push_back(&b); });
  for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) look_at(**it);
  visit_operands(inst.op, count);
}

bool Facts::by_bools(const IPrim& i) const {
  if (i.op == ScalarOp::kConvert && i.type == PrimType::kBool) return true;
  const size_t decides = i.op == ScalarOp::kSelect ? 1 : 0;
  return std::all_of(i.args.begin() + static_cast<ptrdiff_t>(decides), i.args.end(),
                     [&](const Value& v) { return v.is_const() || is_of_bools(v.id()); });
}

uint64_t Facts::bits_of(const Value& v) const {
  return v.is_const() ? v.constant().bits : bits_[v.id().index];
}

uint64_t Facts::bits_of(const IPrim& i) const {
  if (!is_integer(i.type) || !is_integer(i.to) || i.form != Form::kWhole) return kAnyBits;
  const uint64_t all = PrimValue::of_int(i.to, -1).bits;
  const auto of = [&](size_t k) { return bits_of(i.args[k]); };
  const auto known = [&](size_t k) { return i.args[k].is_const(); };
  const uint64_t sign = uint64_t{1} << (prim_bits(i.type) - 1);
  switch (i.op) {
    case ScalarOp::kAnd: return of(0) & of(1);
    case ScalarOp::kOr:
    case ScalarOp::kXor: return of(0) | of(1);
    case ScalarOp::kSelect: return of(1) | of(2);
    case ScalarOp::kConvert:
      return prim_kind(i.type) == PrimKind::kSigned && (of(0) & sign) != 0 ? all : of(0) & all;
    case ScalarOp::kBitcast: return of(0);
    case ScalarOp::kRem:
    case ScalarOp::kMod: {
      const bool rounds = i.op == ScalarOp::kMod || prim_kind(i.type) == PrimKind::kUnsigned;
      return rounds && exponent(i.args[1]) ? i.args[1].constant().bits - 1 : all;
    }
    case ScalarOp::kShl: return known(1) ? (of(0) << *shift(&i, false)) & all : all;
    case ScalarOp::kShr:
    case ScalarOp::kLShr: {
      const bool copies = i.op == ScalarOp::kShr && prim_kind(i.type) == PrimKind::kSigned;
      if (!known(1) || (copies && (of(0) & sign) != 0)) return all;
      return (of(0) & all) >> *shift(&i, true);
    }
    case ScalarOp::kSub: return bits_of_difference(i) & all;
    default: return all;
  }
}

/// x - (x >> k << k) is what was shifted out.
uint64_t Facts::bits_of_difference(const IPrim& i) const {
  const auto made_by = [&](const Value& v) {
    return v.is_const() ? nullptr : operations_[v.id().index];
  };
  const IPrim* left = made_by(i.args[1]);
  const auto by = shift(left, false);
  if (!by || *by == 0) return kAnyBits;
  const IPrim* right = made_by(left->args[0]);
  if (shift(right, true) != by || right->args[0] != i.args[0]) return kAnyBits;
  return (uint64_t{1} << *by) - 1;
}

void Facts::note(const Inst& inst) {
  std::visit(
      Overloaded{
          [&](const IBuiltin& i) {
            knows_subgroups_ |= i.kind != BuiltinKind::kGroup && i.kind != BuiltinKind::kGroups &&
                                i.kind != BuiltinKind::kLocal && i.kind != BuiltinKind::kGroupSize;
          },
          [&](const IStore& i) { stores_to_device_ |= std::holds_alternative<Value>(i.to.base); },
          [&](const IAtomic& i) { stores_to_device_ |= std::holds_alternative<Value>(i.at.base); },
          [&](const ISubgroup&) {
            works_together_ |= !kernel_.reads_ahead;
            knows_subgroups_ = true;
          },
          [&](const IBarrier&) { works_together_ = true; },
          [&](const IFor&) { has_loops_ = true; },
          [&](const IWhile&) { has_loops_ = true; },
          [](const auto&) {},
      },
      inst.op);
}

bool Facts::may_stop(const Block& block) const {
  return std::any_of(block.insts.begin(), block.insts.end(),
                     [&](const Inst& i) { return may_stop(i); });
}

bool Facts::may_stop(const Inst& inst) const {
  const bool itself = std::visit(Overloaded{
                                     [](const IFail&) { return true; },
                                     [](const IStop&) { return true; },
                                     [&](const ICall& i) { return may_stop(i.function); },
                                     [&](const IFor&) { return cuts_ || looks(inst); },
                                     [&](const IWhile&) { return cuts_ || looks(inst); },
                                     [](const auto&) { return false; },
                                 },
                                 inst.op);
  bool inside = false;
  visit_blocks(inst.op, [&](const Block& b) { inside |= may_stop(b); });
  return itself || inside;
}

}  // namespace kenaz::glsl
