#include "kernels/glsl/print_facts.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

/// Loops of so few iterations, those inside included, need not look.
constexpr int64_t kFewIterations = 64;

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

/// An integer that is the same in every launch, or usually is.
std::optional<int64_t> known_number(const Kernel& kernel, const Value& v) {
  if (v.is_const()) return v.constant().as_i64();
  for (const Spec& s : kernel.specs) {
    if (s.val == v.id()) return s.fallback.as_i64();
  }
  return std::nullopt;
}

std::optional<int64_t> known_iterations(const Kernel& kernel, const IFor& loop) {
  const auto from = known_number(kernel, loop.from), to = known_number(kernel, loop.to),
             step = known_number(kernel, loop.step);
  if (!from || !to || !step || *step < 1) return std::nullopt;
  // Distances beyond 2^63 are long, too.
  const uint64_t distance =
      *to > *from ? static_cast<uint64_t>(*to) - static_cast<uint64_t>(*from) : 0;
  const uint64_t iterations = distance / static_cast<uint64_t>(*step) +
                              (distance % static_cast<uint64_t>(*step) != 0 ? 1 : 0);
  return static_cast<int64_t>(std::min<uint64_t>(iterations, INT64_MAX / kFewIterations));
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
      assignments_(kernel.vars.size(), 0),
      beginning_(kernel.vars.size()),
      untold_(kernel),
      of_bools_(kernel.vals.size(), false),
      bits_(kernel.vals.size(), kAnyBits),
      operations_(kernel.vals.size(), nullptr) {
  for_each_inst_of(kernel, [&](const Inst& i) {
    if (const auto* assign = std::get_if<IAssign>(&i.op)) assignments_[assign->var.index]++;
    if (const auto* prim = std::get_if<IPrim>(&i.op)) {
      of_bools_[prim->dst.index] = by_bools(*prim);
      bits_[prim->dst.index] = bits_of(*prim);
      operations_[prim->dst.index] = prim;
    }
    const auto* declare = std::get_if<IDeclare>(&i.op);
    if (declare == nullptr || !declare->init || !declare->init->is_const()) return;
    const PrimValue& init = declare->init->constant();
    if (is_integer(init.type)) beginning_[declare->var.index] = init.as_i64();
  });
  for (const Function& f : kernel.functions) {  // callees first
    function_iterations_.push_back(uncounted_iterations(f.body));
    function_stops_.push_back(may_stop(f.body));
    for (const Value& r : f.results) {
      if (!r.is_const()) uses_[r.id().index]++;
    }
    look_at(f.body);
  }
  uncounted_iterations(kernel.main);
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

/// How many iterations a loop makes at most that goes on while `0 < left` and something else, and
/// takes one from `left` in each.
std::optional<int64_t> Facts::countdown(const IWhile& loop) const {
  std::map<uint32_t, VarId> reads;  // by ValId
  std::map<uint32_t, const IPrim*> prims;
  const auto look = [&](const Inst& i) {
    if (const auto* read = std::get_if<IRead>(&i.op)) reads.emplace(read->dst.index, read->var);
    if (const auto* prim = std::get_if<IPrim>(&i.op)) prims.emplace(prim->dst.index, prim);
  };
  for (const Inst& i : loop.head.insts) look(i);
  const auto made_by = [&](const Value& v) -> const IPrim* {
    const auto it = v.is_const() ? prims.end() : prims.find(v.id().index);
    return it == prims.end() ? nullptr : it->second;
  };
  const IPrim* both = made_by(loop.cond);
  const IPrim* is_left =
      both == nullptr || both->op != ScalarOp::kAnd ? nullptr : made_by(both->args[0]);
  if (is_left == nullptr || is_left->op != ScalarOp::kLt || !is_left->args[0].is_int(0) ||
      is_left->args[1].is_const()) {
    return std::nullopt;
  }
  const auto left = reads.find(is_left->args[1].id().index);
  if (left == reads.end() || assignments_[left->second.index] != 1) return std::nullopt;
  for (const Inst& i : loop.body.insts) {
    look(i);
    const auto* assign = std::get_if<IAssign>(&i.op);
    if (assign == nullptr || assign->var != left->second) continue;
    const IPrim* sum = made_by(assign->value);
    if (sum == nullptr || sum->op != ScalarOp::kAdd || sum->args[0] != is_left->args[1]) break;
    if (sum->args[1].is_int(-1)) return beginning_[left->second.index];
  }
  return std::nullopt;
}

/// The iterations of loops that a thread makes without counting them, at most; decides for all
/// loops of the block whether they look. That the outer loop of a nest of short ones looks costs
/// least.
int64_t Facts::uncounted_iterations(const Block& block) {
  int64_t most = 1;
  for (const Inst& i : block.insts) most = std::max(most, uncounted_iterations(i));
  return most;
}

int64_t Facts::uncounted_iterations(const Inst& inst) {
  return std::visit(Overloaded{
                        [&](const ICall& i) { return function_iterations_[i.function.index]; },
                        [&](const IIf& i) {
                          return std::max(uncounted_iterations(i.then_block),
                                          uncounted_iterations(i.else_block));
                        },
                        [&](const IFor& i) {
                          const int64_t inside = uncounted_iterations(i.body);
                          const auto iterations = known_iterations(kernel_, i);
                          if (iterations && *iterations <= kFewIterations / inside) {
                            return inside * std::max<int64_t>(1, *iterations);
                          }
                          if (i.uniform) return inside;
                          looking_.insert(&inst);
                          return int64_t{1};
                        },
                        [&](const IWhile& i) {
                          const int64_t inside =
                              std::max(uncounted_iterations(i.head), uncounted_iterations(i.body));
                          const auto iterations = countdown(i);
                          if (iterations && *iterations <= kFewIterations / inside) {
                            return inside * std::max<int64_t>(1, *iterations);
                          }
                          if (i.uniform) return inside;
                          looking_.insert(&inst);
                          return int64_t{1};
                        },
                        [](const auto&) { return int64_t{1}; },
                    },
                    inst.op);
}

}  // namespace kenaz::glsl
