// Compares results with what a test expects, by the rules of `futhark test`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "protocol/data/value.h"

namespace kenaz::data {

/// Returns nullopt if `got` is as expected, else one line that says where they differ. Types and
/// shapes must be equal, and integers and bools; floats must be within max(0.002, 0.002 * the
/// largest finite expected element), one absolute tolerance for the whole value, NaN equal to NaN.
std::optional<std::string> mismatch(const Value& expected, const Value& got);
std::optional<std::string> mismatch(std::span<const Value> expected, std::span<const Value> got);

}  // namespace kenaz::data
