// Kernels of one branch or loop each, whose figures follow from arithmetic. As in observe_test.cc:
// 64 threads, in subgroups of 8, 32 and 64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/kir/eval/observe.h"
#include "kernels/kir/eval/testing.h"

namespace kenaz::kir::micro_branches {
namespace {

constexpr int kBranchThreads = 64;
constexpr int kSubgroupSizes[] = {8, 32, 64};
using Sums = std::array<int64_t, 3>;
constexpr Sums kOnce{8, 2, 1};

struct BranchCase {
  const char* name;
  std::function<void(Builder&)> body;
  Sums requests;
  int64_t threads, taken;
  Sums divergent;
};

std::string text(const BranchFigures& f) {
  return fmt::format("{} requests, {} threads, {} taken, {} divergent", f.requests, f.lanes,
                     f.taken, f.divergent);
}

void expect_branches(const std::vector<BranchCase>& table) {
  for (const BranchCase& c : table) {
    for (size_t size = 0; size < std::size(kSubgroupSizes); ++size) {
      for (const uint64_t seed : {0, 1, 3, 4}) {
        KernelTest t;
        FiguresObserver figures(kSubgroupSizes[size]);
        t.kernel.group_size.constant = kBranchThreads;
        t.options.subgroup_size = kSubgroupSizes[size];
        t.options.seed = seed;
        t.options.lock_step = seed == 4;
        t.observer = &figures;
        c.body(t.k);
        EXPECT_EQ(t.error(), "") << c.name;
        ASSERT_EQ(figures.branches().size(), 1u) << c.name;
        EXPECT_EQ(text(figures.branches().begin()->second),
                  text({c.requests[size], c.threads, c.taken, c.divergent[size]}))
            << c.name << ", subgroups of " << kSubgroupSizes[size] << ", seed " << seed;
      }
    }
  }
}

std::function<void(Builder&)> if_(const std::function<Value(Builder&)>& condition) {
  return [=](Builder& k) { k.if_(condition(k), [] {}); };
}
std::function<void(Builder&)> for_(const std::function<Value(Builder&)>& trips) {
  return [=](Builder& k) { k.for_(trips(k), [](const Value&) {}); };
}

TEST(KirObserveBranches, BranchesDivergeWhereASubgroupGoesBothWays) {
  expect_branches({
      {"even or odd",
       if_([](Builder& k) { return k.eq(k.and_(k.local(), i32(1)), 0); }),
       kOnce,
       64,
       32,
       {8, 2, 1}},
      {"one eight or the next",
       if_([](Builder& k) { return k.eq(k.and_(k.local(), i32(8)), 0); }),
       kOnce,
       64,
       32,
       {0, 2, 1}},
      {"halves", if_([](Builder& k) { return k.lt(k.local(), 32); }), kOnce, 64, 32, {0, 0, 1}},
      {"the first 20",
       if_([](Builder& k) { return k.lt(k.local(), 20); }),
       kOnce,
       64,
       20,
       {1, 1, 1}},
      {"one", if_([](Builder& k) { return k.eq(k.local(), 5); }), kOnce, 64, 1, {1, 1, 1}},
      {"all", if_([](Builder& k) { return k.lt(k.local(), 64); }), kOnce, 64, 64, {0, 0, 0}},
      {"nobody", if_([](Builder& k) { return k.eq(k.local(), 99); }), kOnce, 64, 0, {0, 0, 0}},
  });
}

TEST(KirObserveBranches, TripCountsThatDifferLeaveThreadsIdle) {
  expect_branches({
      {"five turns", for_([](Builder&) { return i32(5); }), {48, 12, 6}, 6 * 64, 5 * 64, {0, 0, 0}},
      // 0 to 7 turns: in each but the last test one of eight leaves.
      {"triangles of 8",
       for_([](Builder& k) { return k.and_(k.local(), i32(7)); }),
       {64, 16, 8},
       36 * 8,
       28 * 8,
       {56, 14, 7}},
      // 0 to 63 turns: a subgroup from t on tests t + its size times.
      {"one triangle",
       for_([](Builder& k) { return k.local(); }),
       {288, 96, 64},
       2080,
       2016,
       {56, 62, 63}},
      {"even threads thrice",
       [](Builder& k) {
         const Var left = k.declare(k.select(k.eq(k.and_(k.local(), i32(1)), 0), i32(3), i32(0)));
         k.while_([&] { return k.lt(i32(0), k.read(left)); },
                  [&] { k.assign(left, k.sub(k.read(left), 1)); });
       },
       {32, 8, 4},
       4 * 32 + 32,
       3 * 32,
       {8, 2, 1}},
  });
}

}  // namespace
}  // namespace kenaz::kir::micro_branches
