// How types and sizes are compared now, and what the last comparison has found.
#pragma once

#include <cstdint>

#include "kernels/futhark/check/mismatch.h"

namespace kenaz::check {

enum class CompareSizes : uint8_t {
  kSame,  // those that differ are a mismatch
  kAny,   // they are none, but what is open becomes what it is compared with
  kNone,  // they are not looked at: of branches, whose types are joined
};

/// Shared by Sizes and Inference. Whoever compares sets the first two for as long as it does.
struct Comparison {
  CompareSizes sizes = CompareSizes::kSame;
  bool lenient = false;  // in prelude text: constraints hold of abstract types too
  int results = 0;       // how many function types are around whose results are being compared
  Mismatch mismatch;     // of the last comparison of types

  bool any_sizes() const { return sizes != CompareSizes::kSame; }
};

}  // namespace kenaz::check
