// Compares results with what a test expects, by the rules of `futhark test`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "protocol/data/value.h"

namespace kenaz::data {

/// What `futhark test` tolerates.
inline constexpr double kTolerance = 0.002;

/// Returns nullopt if `got` is as expected, else one line that says where they differ first, how
/// many elements do, and by how much at most. Types and shapes must be equal; integers and bools
/// exact; floats within max(tolerance, tolerance * the largest finite expected element), one
/// absolute tolerance for the whole value, NaN equal to NaN.
std::optional<std::string> mismatch(const Value& expected, const Value& got,
                                    double tolerance = kTolerance);
std::optional<std::string> mismatch(std::span<const Value> expected, std::span<const Value> got,
                                    double tolerance = kTolerance);

}  // namespace kenaz::data
