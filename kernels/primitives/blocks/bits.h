// Scalars as unsigned integers.
#pragma once

#include "kernels/kir/builder.h"

namespace kenaz::primitives::blocks {

/// The bits of a scalar of at most 32 bits, zero-extended, as u32; of 64 bits, as u64. And back,
/// from an integer of the same size.
kir::Value bits_of(kir::Builder& k, const kir::Value& x);
kir::Value from_bits(kir::Builder& k, const kir::Value& bits, PrimType type);

/// The unsigned type that bits_of gives.
inline PrimType bits_type(PrimType t) {
  return prim_size(t) == 8 ? PrimType::kU64 : PrimType::kU32;
}

/// A u32 that is at least as great as that of any smaller number of the same type, and differs from
/// theirs if the type has at most 32 bits. 0 and -0 have the same; of NaNs nothing is said.
kir::Value ordered_bits(kir::Builder& k, const kir::Value& x);

/// Scalars in u32s: those of 64 bits take two, narrow ones share one.
int words_of(const std::vector<PrimType>& types);
kir::Values to_words(kir::Builder& k, const kir::Values& x);
kir::Values from_words(kir::Builder& k, const kir::Values& words,
                       const std::vector<PrimType>& types);

}  // namespace kenaz::primitives::blocks
