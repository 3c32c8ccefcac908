// What is made again, and what is kept, where sums over the elements of a map move into the maps
// that an element makes (interchange.h).
#pragma once

#include <optional>

#include "kernels/ad/interchange.h"

namespace kenaz::ad {

/// A map of that result of the statement alone (interchange.h: map_to), which takes as inputs what
/// else of it was made by loops, and makes again what is but arithmetic on indices, of arrays that
/// there are (`have`).
std::optional<ir::ESoac> map_of_result(ir::Program& p, const ir::Body& body, const ir::Stm& s,
                                       size_t position, const ElementArrays& have);
/// Makes what loops compute for `value` in the maps that make it results of these, where it is of a
/// lower rank than `value` and no larger.
void return_what_is_costly(ir::Program& p, ir::Body& body, ir::VarId value);

}  // namespace kenaz::ad
