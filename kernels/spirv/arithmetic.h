// Operations on values: scalars, and vectors component by component.
#pragma once

#include <span>

#include "kernels/spirv/item.h"

namespace kenaz::spirv {

/// The bits of an integer as those of another integer type of its size; other values as they are.
kir::Value as_type(kir::Builder& k, const kir::Value& v, PrimType type);
PrimType signed_of(PrimType t);
PrimType unsigned_of(PrimType t);

/// The result of an arithmetic, logical or conversion instruction, OpSelect and OpBitcast among
/// them; nullopt: it is none of these. `operands`: their scalars; `result`: the types of the
/// result's scalars.
std::optional<kir::Values> arithmetic(kir::Builder& k, spv::Op op,
                                      std::span<const kir::Values> operands,
                                      const std::vector<PrimType>& result);

/// Likewise, of instruction `number` of GLSL.std.450; refuses those that are not read.
kir::Values glsl_std(kir::Builder& k, uint32_t number, std::span<const kir::Values> operands,
                     const std::vector<PrimType>& result);

}  // namespace kenaz::spirv
