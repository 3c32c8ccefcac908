// Random numbers of property tests: those of Haskell's package random, so that a seed means the
// same candidates to `kenaz test` and to `futhark test`.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::testing {

/// The generator SplitMix of Steele, Lea and Flood (2014), whose step depends on the seed, too.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed);
  uint64_t next();

 private:
  uint64_t state_, step_;
};

/// Returns an array of random elements, or a scalar if the shape is empty. Integers are from their
/// whole range, floats from [-1, 1]. Fails with kBadRequest if it would be too large.
Result<data::Value> uniform_value(PrimType type, const std::vector<int64_t>& shape, uint64_t seed);

}  // namespace kenaz::testing
