// Operations on whole vectors and matrices.
#pragma once

#include <span>

#include "kernels/spirv/item.h"

namespace kenaz::spirv {

/// The result of a product of vectors and matrices, of OpTranspose, OpDot, OpAny, OpAll, and of a
/// vector's component whose number is not known; nullopt: it is none of these.
std::optional<kir::Values> linear_algebra(kir::Builder& k, const Types& types, const Items& items,
                                          spv::Op op, std::span<const uint32_t> operands);

}  // namespace kenaz::spirv
