// For tests: kernels that are wrong, and those that nearly are.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "kernels/kir/eval/testing.h"

namespace kenaz::kir {

/// What a kernel of eight threads is built of: a block of 8 i32 that holds 0..7, one that is
/// undefined, and a shared and a local array of 8 i32.
struct Parts {
  KernelTest& t;
  Builder& k;
  Value in, out, me;
  SharedId s;
  LocalId l;
  Value undefined() const { return k.load(PrimType::kI32, out, me); }
};
using Build = std::function<void(Parts&)>;

/// Seeds from here on are those of before, in lock step.
inline constexpr uint64_t kFirstInLockStep = 8;

inline std::string outcome(const Build& build, uint64_t seed) {
  KernelTest t;
  t.kernel.group_size.constant = 8;
  t.options.subgroup_size = 4;
  t.options.seed = seed % kFirstInLockStep;
  t.options.lock_step = seed >= kFirstInLockStep;
  t.options.max_steps = 20000;
  const Value in = t.array<int32_t>("in", {0, 1, 2, 3, 4, 5, 6, 7});
  const Value out = t.room<int32_t>("out", 8);
  Parts parts{t,
              t.k,
              in,
              out,
              t.k.local(),
              t.k.shared("s", PrimType::kI32, {8}),
              t.k.local_array("l", PrimType::kI32, 8)};
  build(parts);
  return t.error();
}

inline constexpr uint64_t kSeeds[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};

inline void expect_fault(const char* fault, const Build& build) {
  for (uint64_t seed : kSeeds)
    EXPECT_THAT(outcome(build, seed), testing::StartsWith(fault)) << seed;
}
inline void expect_fine(const Build& build) {
  for (uint64_t seed : kSeeds) EXPECT_EQ(outcome(build, seed), "") << seed;
}

}  // namespace kenaz::kir
