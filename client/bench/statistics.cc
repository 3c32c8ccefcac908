#include "client/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace kenaz::bench {

namespace {

std::vector<double> sorted(std::span<const double> xs) {
  std::vector<double> all(xs.begin(), xs.end());
  std::sort(all.begin(), all.end());
  return all;
}

double count(std::span<const double> xs) { return static_cast<double>(xs.size()); }

}  // namespace

double mean(std::span<const double> xs) {
  return xs.empty() ? 0 : std::accumulate(xs.begin(), xs.end(), 0.0) / count(xs);
}

double median(std::span<const double> xs) {
  if (xs.empty()) return 0;
  const auto all = sorted(xs);
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

double relative_standard_error(std::span<const double> xs) {
  const double m = mean(xs);
  if (xs.size() < 2 || m == 0) return 0;
  double squares = 0;
  for (const double x : xs) squares += (x - m) * (x - m);
  return std::sqrt(squares / (count(xs) - 1) / count(xs)) / m;
}

double autocorrelation(std::span<const double> xs) {
  const double m = mean(xs);
  double squares = 0, products = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    squares += (xs[i] - m) * (xs[i] - m);
    if (i > 0) products += (xs[i] - m) * (xs[i - 1] - m);
  }
  return squares == 0 ? 0 : products / squares;
}

bool is_settled(std::span<const double> xs) {
  constexpr std::pair<double, double> kMostError[] = {// above which autocorrelation, how much
                                                      {0.95, 0.001},
                                                      {0.75, 0.0015},
                                                      {0.65, 0.0025},
                                                      {0.45, 0.005},
                                                      {-2, 0.01}};
  const double error = relative_standard_error(xs), dependence = autocorrelation(xs);
  for (const auto& [above, most] : kMostError) {
    if (dependence > above) return error <= most;
  }
  return false;
}

Interval median_interval(std::span<const double> xs) {
  if (xs.empty()) return {};
  const auto all = sorted(xs);
  const double half = 1.96 / 2 * std::sqrt(count(xs));
  const double below = std::floor((count(xs) - 1) / 2 - half);
  const size_t low = xs.size() < 6 ? 0 : static_cast<size_t>(std::max(0.0, below));
  return {all[low], all[all.size() - 1 - low]};
}

double chance_of_difference(std::span<const double> xs, std::span<const double> ys) {
  if (xs.empty() || ys.empty()) return 1;
  std::vector<std::pair<double, bool>> all;  // with whether it is of xs
  for (const double x : xs) all.emplace_back(x, true);
  for (const double y : ys) all.emplace_back(y, false);
  std::sort(all.begin(), all.end());
  double rank_sum = 0, ties = 0;
  for (size_t from = 0, to = 0; from < all.size(); from = to) {
    while (to < all.size() && all[to].first == all[from].first) ++to;
    const auto equal = static_cast<double>(to - from);
    const double rank = static_cast<double>(from + to + 1) / 2;  // of all of them, from 1
    for (size_t k = from; k < to; ++k) rank_sum += all[k].second ? rank : 0;
    ties += equal * equal * equal - equal;
  }
  const double n = count(xs), m = count(ys), both = n + m;
  const double u = rank_sum - n * (n + 1) / 2;
  const double variance = n * m / 12 * (both + 1 - ties / (both * (both - 1)));
  if (!(variance > 0)) return 1;
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

}  // namespace kenaz::bench
