// Random test data. It depends on the type and shape alone, so two inputs of one type and shape
// are equal, in every run of every program.
#pragma once

#include <optional>

#include "client/testing/spec.h"

namespace kenaz::testing {

/// Both ends belong to it. Of the type that they bound; false <= true.
struct RandomBounds {
  PrimValue low, high;
};

/// Without bounds integers are from their whole range, floats from [0, 1], truth values fair.
Result<data::Value> random_value(const RandomType& type, uint64_t seed = 1,
                                 std::optional<RandomBounds> bounds = {});

}  // namespace kenaz::testing
