// Bytes that are loaded or stored together as one number.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// A vector of four bytes, or two of 16 bits, whose lanes become wider numbers is loaded as a word,
/// of which they are parts: shifted and masked. Two of them that an `or` joins again are taken out
/// together where they keep their distance. In the same way numbers of 32 bits that are cut to the
/// lanes of such a vector are stored as a word.
void words(Kernel& kernel);

}  // namespace kenaz::kir
