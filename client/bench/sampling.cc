#include "client/bench/sampling.h"

#include <algorithm>

#include "client/bench/statistics.h"

namespace kenaz::bench {

namespace {

/// Runs until there are as many runs, and as much time has gone.
Status run_phase(const SamplingHooks& hooks, size_t runs, double seconds,
                 std::vector<double>& runtimes) {
  const double begin = hooks.now();
  for (;;) {
    const double gone = hooks.now() - begin;
    if (runtimes.size() >= runs && gone >= seconds) return {};
    KENAZ_ASSIGN(const double time, hooks.run());
    runtimes.push_back(time);
    const double by_runs = static_cast<double>(runtimes.size()) / static_cast<double>(runs);
    const double by_time = seconds > 0 ? (hooks.now() - begin) / seconds : 1;
    hooks.report(runtimes.size(), std::min({1.0, by_runs, by_time}));
  }
}

}  // namespace

Result<Samples> sample(const Sampling& rule, const SamplingHooks& hooks) {
  Samples samples;
  std::vector<double>& times = samples.runtimes;
  KENAZ_TRY(run_phase(hooks, static_cast<size_t>(rule.runs), rule.seconds, times));
  samples.settled = is_settled(times);
  if (samples.settled || !rule.converge) return samples;
  const double end = hooks.now() + rule.convergence_seconds;
  // Looking at the series takes time as well, so it grows by a quarter between looks.
  size_t next = times.size();
  times.clear();
  while (hooks.now() < end) {
    KENAZ_ASSIGN(const double time, hooks.run());
    times.push_back(time);
    const double left = std::max(0.0, end - hooks.now());
    hooks.report(times.size(), 1 - left / std::max(rule.convergence_seconds, 1e-9));
    if (times.size() < next) continue;
    next = times.size() + std::max<size_t>(1, times.size() / 4);
    samples.settled = is_settled(times);
    if (samples.settled) break;
  }
  // No time at all was given, or it was over after some runs: at least as many as were wished.
  while (times.size() < static_cast<size_t>(rule.runs)) {
    KENAZ_ASSIGN(const double time, hooks.run());
    times.push_back(time);
  }
  return samples;
}

}  // namespace kenaz::bench
