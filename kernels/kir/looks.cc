#include "kernels/kir/looks.h"

#include <algorithm>
#include <map>

#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::kir {

namespace {

/// Loops of so few iterations, those inside included, need not look.
constexpr int64_t kFewIterations = 64;

/// At most, in a launch as most are.
std::optional<int64_t> most_iterations(const Bounds& bounds, const IFor& loop) {
  const auto from = bounds.of(loop.from), to = bounds.of(loop.to), step = bounds.of(loop.step);
  if (!from || !to || !step || step->least < 1) return std::nullopt;
  // Distances beyond 2^63 are long, too.
  const uint64_t distance =
      to->most > from->least ? static_cast<uint64_t>(to->most) - static_cast<uint64_t>(from->least)
                             : 0;
  const auto each = static_cast<uint64_t>(step->least);
  const uint64_t iterations = distance / each + (distance % each != 0 ? 1 : 0);
  return static_cast<int64_t>(std::min<uint64_t>(iterations, INT64_MAX / kFewIterations));
}

}  // namespace

Looks::Looks(const Kernel& kernel)
    : bounds_(kernel, Bounds::Launch::kUsual),
      assignments_(kernel.vars.size(), 0),
      beginning_(kernel.vars.size()) {
  for_each_inst_of(kernel, [&](const Inst& i) {
    if (const auto* assign = std::get_if<IAssign>(&i.op)) assignments_[assign->var.index]++;
    const auto* declare = std::get_if<IDeclare>(&i.op);
    if (declare == nullptr || !declare->init || !declare->init->is_const()) return;
    const PrimValue& init = declare->init->constant();
    if (is_integer(init.type)) beginning_[declare->var.index] = init.as_i64();
  });
  for (const Function& f : kernel.functions) {  // callees first
    function_iterations_.push_back(uncounted_iterations(f.body));
  }
  uncounted_iterations(kernel.main);
}

/// How many iterations a loop makes at most that goes on while `0 < left` and something else, and
/// takes one from `left` in each.
std::optional<int64_t> Looks::countdown(const IWhile& loop) const {
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
int64_t Looks::uncounted_iterations(const Block& block) {
  int64_t most = 1;
  for (const Inst& i : block.insts) most = std::max(most, uncounted_iterations(i));
  return most;
}

int64_t Looks::uncounted_iterations(const Inst& inst) {
  return std::visit(Overloaded{
                        [&](const ICall& i) { return function_iterations_[i.function.index]; },
                        [&](const IIf& i) {
                          return std::max(uncounted_iterations(i.then_block),
                                          uncounted_iterations(i.else_block));
                        },
                        [&](const IFor& i) {
                          const int64_t inside = uncounted_iterations(i.body);
                          const auto iterations = most_iterations(bounds_, i);
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

}  // namespace kenaz::kir
