#include "kernels/glsl/print_facts.h"

#include <algorithm>
#include <functional>

#include "protocol/base/overloaded.h"

namespace kenaz::glsl {

using namespace kir;  // NOLINT: this folder prints that one's instructions

namespace {

/// Loops of so few turns, those inside included, need not look.
constexpr int64_t kFewTurns = 64;

using Use = std::function<void(const Value&)>;

void address_operands(const Address& a, const Use& use) {
  if (const auto* base = std::get_if<Value>(&a.base)) use(*base);
  use(a.index);
}

void all(const std::vector<Value>& values, const Use& use) {
  for (const Value& v : values) use(v);
}

void atomic_operands(const IAtomic& i, const Use& use) {
  address_operands(i.at, use);
  if (i.op != AtomicOp::kLoad) use(i.value);
  if (i.op == AtomicOp::kCas) use(i.compare);
}

bool has_arg(SubgroupOp op) {
  switch (op) {
    case SubgroupOp::kShuffle:
    case SubgroupOp::kShuffleUp:
    case SubgroupOp::kShuffleDown:
    case SubgroupOp::kShuffleXor:
    case SubgroupOp::kBroadcast: return true;
    default: return false;
  }
}

void operands(const Inst& inst, const Use& use) {
  std::visit(Overloaded{
                 [&](const IPrim& i) { all(i.args, use); },
                 [&](const ICompose& i) { all(i.lanes, use); },
                 [&](const IExtract& i) { use(i.vector); },
                 [&](const ILoad& i) { address_operands(i.from, use); },
                 [&](const IStore& i) {
                   address_operands(i.to, use);
                   use(i.value);
                 },
                 [&](const IAtomic& i) { atomic_operands(i, use); },
                 [&](const ISubgroup& i) {
                   use(i.value);
                   if (has_arg(i.op)) use(i.arg);
                 },
                 [&](const IDeclare& i) {
                   if (i.init) use(*i.init);
                 },
                 [&](const IAssign& i) { use(i.value); },
                 [&](const IIf& i) { use(i.cond); },
                 [&](const IFor& i) {
                   use(i.from);
                   use(i.to);
                   use(i.step);
                 },
                 [&](const IWhile& i) { use(i.cond); },
                 [&](const ICall& i) { all(i.args, use); },
                 [&](const IFail& i) { all(i.args, use); },
                 [&](const auto&) {},
             },
             inst.op);
}

/// The value that the instruction gives, if it gives one.
ValId result_of(const Inst& inst) {
  return std::visit(
      [](const auto& i) {
        if constexpr (requires { i.dst; }) return i.dst;
        return ValId{};
      },
      inst.op);
}

/// An integer that is the same in every launch, or usually is.
std::optional<int64_t> known_number(const Kernel& kernel, const Value& v) {
  if (v.is_const()) return v.constant().as_i64();
  for (const Spec& s : kernel.specs) {
    if (s.val == v.id()) return s.fallback.as_i64();
  }
  return std::nullopt;
}

std::optional<int64_t> known_turns(const Kernel& kernel, const IFor& loop) {
  const auto from = known_number(kernel, loop.from), to = known_number(kernel, loop.to),
             step = known_number(kernel, loop.step);
  if (!from || !to || !step || *step < 1) return std::nullopt;
  // Distances beyond 2^63 are long, too.
  const uint64_t distance =
      *to > *from ? static_cast<uint64_t>(*to) - static_cast<uint64_t>(*from) : 0;
  const uint64_t turns = distance / static_cast<uint64_t>(*step) +
                         (distance % static_cast<uint64_t>(*step) != 0 ? 1 : 0);
  return static_cast<int64_t>(std::min<uint64_t>(turns, INT64_MAX / kFewTurns));
}

void add_assigned(const Inst& inst, std::set<uint32_t>& vars) {
  const auto blocks = [&](const Block& b) {
    for (const Inst& inner : b.insts) add_assigned(inner, vars);
  };
  std::visit(Overloaded{
                 [&](const IAssign& i) { vars.insert(i.var.index); },
                 [&](const IIf& i) {
                   blocks(i.then_block);
                   blocks(i.else_block);
                 },
                 [&](const IFor& i) { blocks(i.body); },
                 [&](const IWhile& i) {
                   blocks(i.head);
                   blocks(i.body);
                 },
                 [&](const auto&) {},
             },
             inst.op);
}

}  // namespace

std::set<uint32_t> assigned_by(const Inst& inst) {
  std::set<uint32_t> vars;
  add_assigned(inst, vars);
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
    : kernel_(kernel), cuts_(cuts), uses_(kernel.vals.size(), 0) {
  for (const Function& f : kernel.functions) {  // callees first
    function_turns_.push_back(quiet_turns(f.body));
    function_stops_.push_back(may_stop(f.body));
    for (const Value& r : f.results) {
      if (!r.is_const()) uses_[r.id().index]++;
    }
    look_at(f.body);
  }
  quiet_turns(kernel.main);
  look_at(kernel.main);
}

/// From the last to the first, so that what is used is known when its own operands are counted.
void Facts::look_at(const Block& block) {
  for (auto it = block.insts.rbegin(); it != block.insts.rend(); ++it) look_at(*it);
}

void Facts::look_at(const Inst& inst) {
  if (is_pure(inst) && uses(result_of(inst)) == 0) return;
  std::visit(
      Overloaded{
          [&](const IBuiltin& i) {
            knows_subgroups_ |= i.kind != BuiltinKind::kGroup && i.kind != BuiltinKind::kGroups &&
                                i.kind != BuiltinKind::kLocal && i.kind != BuiltinKind::kGroupSize;
          },
          [&](const IStore& i) { stores_to_device_ |= std::holds_alternative<Value>(i.to.base); },
          [&](const IAtomic& i) { stores_to_device_ |= std::holds_alternative<Value>(i.at.base); },
          [&](const ISubgroup&) { works_together_ = knows_subgroups_ = true; },
          [&](const IBarrier&) { works_together_ = true; },
          [&](const IIf& i) {
            look_at(i.then_block);
            look_at(i.else_block);
          },
          [&](const IFor& i) {
            has_loops_ = true;
            look_at(i.body);
          },
          [&](const IWhile& i) {
            has_loops_ = true;
            look_at(i.body);
            // The condition stands between the two.
            if (!i.cond.is_const()) uses_[i.cond.id().index]++;
            look_at(i.head);
          },
          [&](const auto&) {},
      },
      inst.op);
  if (std::holds_alternative<IWhile>(inst.op)) return;
  operands(inst, [&](const Value& v) {
    if (!v.is_const()) uses_[v.id().index]++;
  });
}

bool Facts::may_stop(const Block& block) const {
  return std::any_of(block.insts.begin(), block.insts.end(),
                     [&](const Inst& i) { return may_stop(i); });
}

bool Facts::may_stop(const Inst& inst) const {
  return std::visit(
      Overloaded{
          [](const IFail&) { return true; },
          [](const IStop&) { return true; },
          [&](const ICall& i) { return may_stop(i.function); },
          [&](const IIf& i) { return may_stop(i.then_block) || may_stop(i.else_block); },
          [&](const IFor& i) { return cuts_ || looks(inst) || may_stop(i.body); },
          [&](const IWhile& i) {
            return cuts_ || looks(inst) || may_stop(i.head) || may_stop(i.body);
          },
          [](const auto&) { return false; },
      },
      inst.op);
}

/// The turns of loops that a thread makes without counting them, at most; decides for all loops of
/// the block whether they look. That the outer loop of a nest of short ones looks costs least.
int64_t Facts::quiet_turns(const Block& block) {
  int64_t most = 1;
  for (const Inst& i : block.insts) most = std::max(most, quiet_turns(i));
  return most;
}

int64_t Facts::quiet_turns(const Inst& inst) {
  return std::visit(Overloaded{
                        [&](const ICall& i) { return function_turns_[i.function.index]; },
                        [&](const IIf& i) {
                          return std::max(quiet_turns(i.then_block), quiet_turns(i.else_block));
                        },
                        [&](const IFor& i) {
                          const int64_t inside = quiet_turns(i.body);
                          const auto turns = known_turns(kernel_, i);
                          if (turns && *turns <= kFewTurns / inside) {
                            return inside * std::max<int64_t>(1, *turns);
                          }
                          if (i.uniform) return inside;
                          looking_.insert(&inst);
                          return int64_t{1};
                        },
                        [&](const IWhile& i) {
                          const int64_t inside = std::max(quiet_turns(i.head), quiet_turns(i.body));
                          if (i.uniform) return inside;
                          looking_.insert(&inst);
                          return int64_t{1};
                        },
                        [](const auto&) { return int64_t{1}; },
                    },
                    inst.op);
}

}  // namespace kenaz::glsl
