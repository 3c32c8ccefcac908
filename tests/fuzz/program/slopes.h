// Programs that calculate derivatives in several ways: what they return, and how it has to agree.
//
// The results are, of a function of n numbers: its value; its derivatives by reverse mode; by
// forward mode, one direction each; and [n][4] values of it, where one number is larger and smaller
// by a step and by half of one.
//
// * Both modes are the same sums in another order: they agree to 1e-7, compared with the
//   value and the largest derivative, wherever they are finite.
// * Differences of both steps agree to 1e-5 where the function is smooth, and so do those from the
//   left and the right to 1e-2, which tells corners and jumps; there, they agree with the
//   derivatives to 1e-4. All but the last are also compared with what rounding can do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/data/value.h"

namespace kenaz::fuzz {

constexpr double kStep = 1e-4;
constexpr const char* kStepText = "1e-4f64";

/// Says which of the results disagree, before a colon, and how; null: none, or they are others.
std::optional<std::string> slopes_differ(const std::vector<data::Value>& results);

}  // namespace kenaz::fuzz
