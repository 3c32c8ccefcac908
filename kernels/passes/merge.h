// Making one combinator out of two.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// What ESoac, EScatter, EHist, EPack and ESort have in common.
struct Combinator {
  ir::Atom* width = nullptr;
  std::vector<ir::VarId>* inputs = nullptr;
  ir::Lambda* map = nullptr;
};
std::optional<Combinator> combinator(ir::Stm& s);

/// How many values the operators have together.
size_t values_of(const std::vector<ir::Monoid>& monoids);

/// `producer` is an ESoac, `consumer` any combinator of the same width that may use plain results
/// of the producer as inputs. The result binds what the consumer binds and, if that is an ESoac,
/// what the producer binds as well.
ir::Stm merge_combinators(ir::Program& p, ir::Stm producer, ir::Stm consumer);

}  // namespace kenaz::passes
