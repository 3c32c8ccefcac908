#include "client/bench/axis.h"

#include <algorithm>
#include <cmath>

namespace kenaz::bench {

namespace {

constexpr double kTolerance = 1e-9;  // 0.1 to the power of 3 is not 0.001
constexpr int kSteps[] = {1, 2, 5};

/// The power of ten below or at a value.
int decade(double value) { return static_cast<int>(std::floor(std::log10(value) + kTolerance)); }

bool is_power_of_ten(double value) {
  return std::abs(std::log10(value) - std::round(std::log10(value))) < kTolerance;
}

}  // namespace

double round_down(double value) {
  const double power = std::pow(10.0, decade(value));
  double best = power;
  for (const int step : kSteps) {
    if (step * power <= value * (1 + kTolerance)) best = step * power;
  }
  return best;
}

double round_up(double value) {
  const double power = std::pow(10.0, decade(value));
  for (const int step : kSteps) {
    if (step * power >= value * (1 - kTolerance)) return step * power;
  }
  return 10 * power;
}

LogAxis::LogAxis(double least, double greatest)
    : low_(round_down(least)), high_(round_up(greatest)) {
  if (high_ < low_ * 1.5) {
    low_ = round_down(low_ / 2);
    high_ = round_up(high_ * 2);
  }
}

double LogAxis::share(double value) const {
  return (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
}

std::vector<Tick> LogAxis::ticks() const {
  std::vector<Tick> all;
  const int first = decade(low_), last = decade(high_);
  const bool few = high_ / low_ <= 200;
  const int every = std::max(1, (last - first + 7) / 8);  // at most nine labels
  for (int d = first; d <= last; ++d) {
    for (const int step : kSteps) {
      const double value = step * std::pow(10.0, d);
      if (value < low_ * (1 - kTolerance) || value > high_ * (1 + kTolerance)) continue;
      all.push_back({value, few || (is_power_of_ten(value) && (d - first) % every == 0)});
    }
  }
  return all;
}

}  // namespace kenaz::bench
