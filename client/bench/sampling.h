// How often something is run until its run times can be relied on.
#pragma once

#include <functional>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::bench {

/// The rule of `futhark bench`: at first `runs` runs, and for `seconds`. If they have settled
/// (is_settled), they are the result. If not, the machine was not warm, or something disturbed it:
/// they are dropped, and the convergence phase runs until what it has run has settled, or for
/// `convergence_seconds`.
struct Sampling {
  int runs = 10;
  double seconds = 0.5;
  bool converge = true;
  double convergence_seconds = 300;
};

struct Samples {
  std::vector<double> runtimes;  // microseconds, in the order of the runs
  bool settled = true;           // false: they were still too far apart when the time was over
};

/// What `sample` uses of the world.
struct SamplingHooks {
  std::function<Result<double>()> run;  // runs once; microseconds
  std::function<double()> now;          // seconds, of a clock that does not go back
  /// After each run: how many there were, and how much of the phase is done, from 0 to 1.
  std::function<void(size_t runs, double done)> report;
};

/// Fails as the first run does that fails.
Result<Samples> sample(const Sampling& rule, const SamplingHooks& hooks);

}  // namespace kenaz::bench
