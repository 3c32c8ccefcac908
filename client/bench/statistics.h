// What can be said of a series of run times. All functions take them in the order of the runs.
#pragma once

#include <span>

namespace kenaz::bench {

double mean(std::span<const double> xs);    // 0 of none
double median(std::span<const double> xs);  // 0 of none

/// The standard error of the mean by the mean, from the sample's variance. 0 of fewer than two
/// values, and where the mean is 0.
double relative_standard_error(std::span<const double> xs);

/// How far each value predicts the next: the autocorrelation of lag 1, from -1 to 1. 0 where all
/// values are equal.
double autocorrelation(std::span<const double> xs);

/// Whether a series needs no more runs: its relative standard error is at most 1%, and less the
/// more the runs depend on each other, since they say less then. These are the limits of
/// `futhark bench`.
bool is_settled(std::span<const double> xs);

/// Where the median of all runs there could be lies, with a probability of 95%, if runs are
/// independent: between two of the values, by their ranks. Of less than six values the least and
/// the greatest.
struct Interval {
  double low = 0, high = 0;
};
Interval median_interval(std::span<const double> xs);

/// The probability that two series differ by rank as much as these do, or more, if both come from
/// the same distribution: the test of Mann, Whitney and Wilcoxon, two-sided, by the normal
/// approximation, corrected for ties. 1 if a series is empty, or all values are equal.
double chance_of_difference(std::span<const double> xs, std::span<const double> ys);

}  // namespace kenaz::bench
