// Random test data. It depends on the type and shape alone, so two inputs of one type and shape
// are equal, in every run of every program.
#pragma once

#include "client/testing/spec.h"

namespace kenaz::testing {

/// Integers from their whole range, floats from [0, 1], fair truth values.
Result<data::Value> random_value(const RandomType& type);

}  // namespace kenaz::testing
