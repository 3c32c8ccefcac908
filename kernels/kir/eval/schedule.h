// Which thread goes on, and for how long: all drawn from a seed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kir/eval/group.h"

namespace kenaz::kir::eval {

/// A small random number generator; the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 .. n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  uint64_t state_;
};

/// With seed 0 workgroups start in order, and a thread goes on until it waits or has run for long;
/// then the next one goes on. Other seeds draw a manner: how often threads change, how often
/// workgroups do, how long one is held up now and then, the order in which workgroups start.
class Schedule {
 public:
  Schedule(uint64_t seed, int64_t max_steps);

  /// The workgroups in the order in which they start: mixed by the seed if they are not too many.
  std::vector<int64_t> order(std::vector<int64_t> groups);
  /// Which of the running workgroups goes on.
  size_t pick_group(size_t running);
  /// Which index into `ready` goes on. Sets how far it may.
  size_t pick_thread(size_t ready);
  /// A workgroup has left: indices change.
  void forget_groups() { current_ = 0, stalled_until_ = steps_left; }

  /// After an access: whether another thread shall go on.
  bool switches() { return random_ && --accesses_left_ <= 0; }
  int64_t steps_left;  // of all threads; as of the last change of thread
  int64_t budget() const { return steps_left < kLongest ? steps_left : kLongest; }
  /// After how many iterations a thread finds that another one has failed.
  int32_t patience() const { return patience_; }
  bool coin() { return (rng_.next() & 1) != 0; }

 private:
  static constexpr size_t kMostMixed = 1 << 20;
  /// Steps after which another thread goes on in any case.
  static constexpr int64_t kLongest = 2000;
  // As powers of two, in steps of all threads and in iterations of one.
  static constexpr uint32_t kLongestStall = 15, kLongestPatience = 13;

  bool random_;
  Random rng_;
  uint32_t accesses_;       // between two changes, on average
  uint32_t group_changes_;  // changes of thread between two of workgroup
  int32_t patience_;
  uint32_t stalls_;  // one in so many changes holds a workgroup up; 0: never
  int32_t accesses_left_ = 0;
  size_t current_ = 0, cursor_ = 0;
  size_t stalled_ = 0;
  int64_t stalled_until_;  // as steps_left
};

}  // namespace kenaz::kir::eval
