// How a value of any first-order type is a sequence of leaves (see protocol/value_type.h). The
// checker (for the protocol) and lowering (for the code) must agree, so it stands here once.
#pragma once

#include <vector>

#include "kernels/futhark/core/core.h"
#include "protocol/value_type.h"

namespace kenaz::core {

/// Leaves in order; abstract types are looked through. Empty for functions and type parameters.
std::vector<LeafType> leaves_of(const TypePtr& t, const std::vector<AbstractType>& abstract_types);

/// What a value without data is inside of `rank` arrays: their sizes.
void add_sizes(int rank, std::vector<LeafType>& out);

/// Where the payloads of a sum's constructors are kept. A payload component that consists of
/// scalars only shares the slots of an equal component of another constructor; arrays never share.
/// The sizes of payloads that are arrays without data are kept like other numbers.
struct SumLayout {
  bool tag = false;             // an i8 in front: unless there is one constructor
  std::vector<LeafType> slots;  // behind the tag
  /// [constructor][payload component]: indices into `slots`, in leaf order.
  std::vector<std::vector<std::vector<int>>> payload;
};
/// [constructor][payload component]: its leaves. Constructors sorted by name.
using PayloadLeaves = std::vector<std::vector<std::vector<LeafType>>>;
SumLayout sum_layout(const PayloadLeaves& constructors);
/// The leaves of such a sum inside of `rank` arrays.
void add_leaves(const SumLayout& sum, int rank, std::vector<LeafType>& out);
SumLayout sum_layout(const TSum& sum, const std::vector<AbstractType>& abstract_types);

}  // namespace kenaz::core
