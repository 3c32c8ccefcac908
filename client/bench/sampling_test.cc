#include "client/bench/sampling.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

/// A machine whose clock only runs go on. Run k takes what `time` says of it, in microseconds.
class Machine {
 public:
  explicit Machine(std::function<double(int)> time) : time_(std::move(time)) {}
  Samples sample(const Sampling& rule) {
    SamplingHooks hooks;
    hooks.run = [this]() -> Result<double> {
      const double us = time_(runs++);
      now += us / 1e6;
      return us;
    };
    hooks.now = [this] { return now; };
    hooks.report = [this](size_t, double done) { furthest = std::max(furthest, done); };
    const auto samples = bench::sample(rule, hooks);
    EXPECT_TRUE(samples);
    return samples ? *samples : Samples{};
  }
  double now = 0, furthest = 0;
  int runs = 0;

 private:
  std::function<double(int)> time_;
};

TEST(Sampling, StableRunsNeedTheFirstPhaseOnly) {
  Machine slow([](int) { return 2e6; });
  EXPECT_EQ(slow.sample({}).runtimes.size(), 10);  // ten runs, though half a second is over soon
  EXPECT_EQ(slow.furthest, 1);
  Machine quick([](int k) { return k % 2 == 0 ? 1000.0 : 1001.0; });
  const auto samples = quick.sample({});
  EXPECT_TRUE(samples.settled);
  EXPECT_NEAR(quick.now, 0.5, 0.002);  // half a second, though ten runs are over soon
}

TEST(Sampling, WhatIsNotWarmIsDropped) {
  Machine machine([](int k) { return k < 8 ? 9e5 : 1e5; });
  const auto samples = machine.sample({});
  EXPECT_TRUE(samples.settled);
  EXPECT_GE(samples.runtimes.size(), 10);
  for (const double t : samples.runtimes) EXPECT_EQ(t, 1e5);
  Sampling rule;
  rule.converge = false;
  Machine again([](int k) { return k < 8 ? 9e5 : 1e5; });
  const auto first = again.sample(rule);
  EXPECT_FALSE(first.settled);
  EXPECT_EQ(first.runtimes.size(), 10);
}

TEST(Sampling, TheConvergencePhaseEnds) {
  Machine machine([](int k) { return k / 7 % 2 == 0 ? 1e5 : 3e5; });
  Sampling rule;
  rule.convergence_seconds = 20;
  const auto samples = machine.sample(rule);
  EXPECT_FALSE(samples.settled);
  EXPECT_LT(machine.now, 25);
  EXPECT_GT(samples.runtimes.size(), 50);
  rule.convergence_seconds = 0;
  Machine hurried([](int k) { return k / 5 % 2 == 0 ? 1e5 : 3e5; });
  EXPECT_EQ(hurried.sample(rule).runtimes.size(), 10);
}

TEST(Sampling, ARunThatFailsEndsIt) {
  SamplingHooks hooks;
  hooks.run = []() -> Result<double> { return bad_request("no"); };
  hooks.now = [] { return 0.0; };
  hooks.report = [](size_t, double) {};
  EXPECT_FALSE(sample({}, hooks));
}

}  // namespace
}  // namespace kenaz::bench
