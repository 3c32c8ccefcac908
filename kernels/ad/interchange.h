// Sums, over the elements of a map, of arrays that an inner map makes for each of them. Instead of
// an array per element, a map over the inner dimension of sums: no array per element comes to be.
//
//   sum over i of (map over j of f(i, j))  =  map over j of (sum over i of f(i, j))
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"

namespace kenaz::ad {

/// By variable of an element: the array of its values in all elements.
using ElementArrays = std::unordered_map<ir::VarId, ir::VarId>;

/// The statement of the body that binds the variable, or null; and which of what it binds.
const ir::Stm* binding(const ir::Body& body, ir::VarId v, size_t& position);
/// If what the statement of `body` binds there is the result of a map, without operators that need
/// all elements: a map of that result alone.
std::optional<ir::ESoac> map_to(ir::Program& p, const ir::Body& body, const ir::Stm& s,
                                size_t position);
template <class T>
void erase_at(std::vector<T>& list, size_t at) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Takes away what the map's results do not need of its code and inputs.
void prune(const ir::Program& p, ir::ESoac& e);
/// What the sum of `value`, which `body` computes for an element, can be made of: variables bound
/// in the body, or params of its lambda (`bound` has all of these). Those that `have` has not are
/// of a lower rank than `value` and no larger. Nothing if it is not the result of a nest of maps,
/// all of which the sum can move into.
std::optional<std::vector<ir::VarId>> ingredients(ir::Program& p, const ir::Body& body,
                                                  const ir::VarSet& bound,
                                                  const ElementArrays& have, ir::VarId value);
/// The sum of `value` over `width` elements; `arrays` has its ingredients. `body` is only read.
ir::VarId interchanged_sum(ir::Builder& b, const ir::Body& body, ir::VarId value,
                           const ir::Atom& width, const ElementArrays& arrays);

}  // namespace kenaz::ad
