#include "tests/fuzz/program/slopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kenaz::fuzz {
namespace {

/// What rounding may add to a function's values, compared with their size.
constexpr double kRounding = 1e-12;

std::vector<double> numbers(const data::Value& v) {
  std::vector<double> out;
  for (int64_t i = 0; i < v.count(); ++i) out.push_back(v.at(i).as_double());
  return out;
}

/// The slope by differences, where it can be told.
std::optional<double> by_differences(double value, const double* around) {
  const double right = (around[0] - value) / kStep, left = (value - around[1]) / kStep;
  const double whole = (around[0] - around[1]) / (2 * kStep);
  const double half = (around[2] - around[3]) / kStep;
  const double noise = kRounding * (1 + std::abs(value)) / kStep, size = 1 + std::abs(half);
  const bool is_smooth = std::abs(right - left) <= 1e-2 * size &&
                         std::abs(whole - half) <= 1e-5 * size && noise <= 1e-5 * size;
  return is_smooth ? std::optional<double>(half) : std::nullopt;
}

}  // namespace

std::optional<std::string> slopes_differ(const std::vector<data::Value>& results) {
  if (results.size() != 4 || results[3].shape.size() != 2) return std::nullopt;
  const double value = results[0].at(0).as_double();
  const auto reverse = numbers(results[1]), forward = numbers(results[2]);
  const auto around = numbers(results[3]);
  double largest = std::max(1.0, std::abs(value));
  for (const auto* list : {&reverse, &forward}) {
    for (const double d : *list) {
      if (!std::isfinite(d)) return std::nullopt;  // of a sum of infinities, order decides
      largest = std::max(largest, std::abs(d));
    }
  }
  for (size_t i = 0; i < reverse.size(); ++i) {
    if (std::abs(reverse[i] - forward[i]) > 1e-7 * largest) {
      return fmt::format("modes: element {}: reverse mode {}, forward mode {}", i, reverse[i],
                         forward[i]);
    }
    const auto slope = by_differences(value, &around[4 * i]);
    if (slope && std::abs(*slope - forward[i]) > 1e-4 * (1 + std::abs(*slope))) {
      return fmt::format("differences: element {}: forward mode {}, by differences {}", i,
                         forward[i], *slope);
    }
  }
  return std::nullopt;
}

}  // namespace kenaz::fuzz
