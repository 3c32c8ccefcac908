#include "kernels/kir/looks.h"

#include <algorithm>

#include "kernels/kir/visit.h"
#include "protocol/base/overloaded.h"

namespace kenaz::kir {

namespace {

/// Loops of so few iterations, those inside included, need not look.
constexpr int64_t kFewIterations = 64;

/// How many there are at most in a launch as most are, from one number to another.
std::optional<int64_t> most_iterations(const Bounds& bounds, const Value& first, const Value& end,
                                       const Value& by) {
  const auto from = bounds.of(first), to = bounds.of(end), step = bounds.of(by);
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

Looks::Looks(const Kernel& kernel) : bounds_(kernel, Bounds::Launch::kUsual), counters_(kernel) {
  for (const Function& f : kernel.functions) {  // callees first
    function_iterations_.push_back(uncounted_iterations(f.body));
  }
  uncounted_iterations(kernel.main);
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
  return std::visit(
      Overloaded{
          [&](const ICall& i) { return function_iterations_[i.function.index]; },
          [&](const IIf& i) {
            return std::max(uncounted_iterations(i.then_block), uncounted_iterations(i.else_block));
          },
          [&](const IFor& i) {
            const int64_t inside = uncounted_iterations(i.body);
            const auto iterations = most_iterations(bounds_, i.from, i.to, i.step);
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
            const auto span = counters_.of(i);
            const auto iterations =
                span ? most_iterations(bounds_, span->from, span->to, i64(1)) : std::nullopt;
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
