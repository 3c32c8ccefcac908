// How types and sizes are compared now, and what the last comparison has found.
#pragma once

#include "kernels/futhark/check/mismatch.h"

namespace kenaz::check {

/// Shared by Sizes and Inference. Whoever compares sets the first two for as long as it does.
struct Comparison {
  bool any_sizes = false;  // sizes that differ are no mismatch
  bool lenient = false;    // in prelude text: constraints hold of abstract types too
  int results = 0;         // how many function types are around whose results are being compared
  Mismatch mismatch;       // of the last comparison of types
};

}  // namespace kenaz::check
