// Finds values for the thresholds of a program by running it on the inputs of its test blocks.
//
// A threshold stands between two ways to compute the same: from a size on one is taken, below it
// the other. So for one run of an entry point only the places between the sizes that it compares
// matter. All of them are tried, one threshold after the other in the order of the program, and the
// one that is best for all inputs together is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/lib/connection.h"

namespace kenaz::testing {

struct AutotuneOptions {
  client::ServerOptions server;  // `program` is filled in
  int runs = 5;                  // per dataset and way, at least
  double timeout = 600;          // seconds, for the whole program
  double call_timeout = 30;      // seconds that a call may take; ways that take longer are left
  std::string entry;             // only this one; empty: all
};

/// How long one dataset takes under a threshold: microseconds[k] where it is above the first k
/// sizes and at most the k-th. Infinite: that way failed.
struct ThresholdTimes {
  std::vector<int64_t> sizes;        // ascending, each once
  std::vector<double> microseconds;  // one more
};

/// The value for which the datasets are fastest, in the geometric mean, and of the values that are
/// as good the one nearest to `fallback`; which is the result, too, if the best is not at least
/// 5 % better.
int64_t best_threshold(const std::vector<ThresholdTimes>& datasets, int64_t fallback);

struct TunedParam {
  std::string name;
  int64_t value = 0, fallback = 0;
  size_t datasets = 0;  // in which it was compared; 0: nothing was found out
  double speedup = 1;   // to the default, in the geometric mean over these
};

/// Of all thresholds, in the order of the program. `report` is called after each. Datasets that
/// fail whatever is tried, or are tagged nobench, do not count.
Result<std::vector<TunedParam>> autotune_program(
    const std::string& path, const AutotuneOptions& options,
    const std::function<void(const TunedParam&)>& report);

/// The text of a tuning file with these values; parameters that keep their default are comments.
std::string tuning_text(const std::vector<TunedParam>& params);

}  // namespace kenaz::testing
