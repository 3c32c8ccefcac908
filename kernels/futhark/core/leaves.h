// How a value of any first-order type is a sequence of leaves (see protocol/value_type.h). The
// checker (for the protocol) and lowering (for the code) must agree, so it stands here once.
#pragma once

#include <vector>

#include "kernels/futhark/core/core.h"
#include "protocol/value_type.h"

namespace kenaz::core {

/// Leaves in order; abstract types are looked through. Empty for functions and type parameters.
std::vector<LeafType> leaves_of(const TypePtr& t, const std::vector<AbstractType>& abstract_types);

/// Where the payloads of a sum's constructors are kept. A payload component that consists of
/// scalars only shares the slots of an equal component of another constructor; arrays never share.
struct SumLayout {
  bool tag = false;             // an i8 in front: unless there is one constructor
  std::vector<LeafType> slots;  // behind the tag
  /// [constructor][payload component]: indices into `slots`, in leaf order.
  std::vector<std::vector<std::vector<int>>> payload;
};
SumLayout sum_layout(const TSum& sum, const std::vector<AbstractType>& abstract_types);

}  // namespace kenaz::core
