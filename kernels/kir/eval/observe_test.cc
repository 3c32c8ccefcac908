// Kernels of one access each, whose figures follow from arithmetic.
#include "kernels/kir/eval/observe.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/kir/eval/testing.h"

namespace kenaz::kir {
namespace {

constexpr int kObservedThreads = 64;

/// Runs one workgroup with the observer on; `body` has a block of 1 << 14 elements.
struct Observed : KernelTest {
  Observed(int subgroup_size, PrimType type, uint64_t seed = 0) : figures(subgroup_size) {
    kernel.group_size.constant = kObservedThreads;
    options.subgroup_size = subgroup_size;
    options.seed = seed;
    observer = &figures;
    elem = type;
    const size_t bytes = static_cast<size_t>(prim_size(type)) << 14;
    in = block("in", memory.allocate(std::vector<std::byte>(bytes)));
  }
  void load(const Value& index) { k.load(elem, in, index); }
  /// Of the kernel's only access.
  AccessFigures access() {
    EXPECT_EQ(error(), "");
    EXPECT_EQ(figures.accesses().size(), 1u);
    return figures.accesses().begin()->second;
  }
  FiguresObserver figures;
  PrimType elem;
  Value in;
};

int64_t of_class(const AccessFigures& f, AccessClass c) {
  return f.classes[static_cast<size_t>(c)];
}

/// threads / size requests, as for any access that all threads make once.
void expect_all(const AccessFigures& f, int size) {
  EXPECT_EQ(f.requests, kObservedThreads / size);
  EXPECT_EQ(f.lanes, kObservedThreads);
}

TEST(KirObserve, StridesTouchAsManySectorsAsTheyMust) {
  for (const int size : {8, 32, 64}) {
    for (const int stride : {1, 2, 4, 8, 16, 32, -1}) {
      for (const uint64_t seed : {0, 1}) {
        Observed t(size, PrimType::kF32, seed);
        t.load(t.k.add(t.k.mul(t.k.local(), stride), stride < 0 ? kObservedThreads - 1 : 0));
        const AccessFigures f = t.access();
        expect_all(f, size);
        const int64_t requests = kObservedThreads / size, apart = std::abs(stride);
        EXPECT_EQ(f.bytes, kObservedThreads * 4);
        EXPECT_EQ(f.least_sectors, kObservedThreads * 4 / 32);
        EXPECT_EQ(f.sectors,
                  std::min<int64_t>(kObservedThreads, kObservedThreads * 4 * apart / 32));
        EXPECT_EQ(f.lines,
                  requests * std::max<int64_t>(1, std::min<int64_t>(size, size * 4 * apart / 128)));
        EXPECT_EQ(of_class(f, stride == 1 ? AccessClass::kContiguous : AccessClass::kStrided),
                  requests);
        if (stride != 1) {
          EXPECT_EQ(f.strides.at(stride), requests);
        }
      }
    }
  }
}

TEST(KirObserve, WidthsOfElements) {
  for (const int size : {8, 32, 64}) {
    for (const PrimType type : {PrimType::kI8, PrimType::kI16, PrimType::kI64}) {
      Observed t(size, type);
      t.load(t.k.local());
      const AccessFigures f = t.access();
      expect_all(f, size);
      const int64_t bytes = int64_t{size} * prim_size(type);
      EXPECT_EQ(f.sectors, kObservedThreads / size * ((bytes + 31) / 32));
      // 8 bytes of a sector of 32: the second subgroup's are not at its start, but need no more.
      EXPECT_EQ(f.sectors, f.least_sectors);
      EXPECT_EQ(of_class(f, AccessClass::kContiguous), kObservedThreads / size);
    }
  }
}

TEST(KirObserve, OneElementFurtherTouchesASectorMore) {
  for (const int size : {8, 32, 64}) {
    Observed t(size, PrimType::kF32);
    t.load(t.k.add(t.k.local(), 1));
    const AccessFigures f = t.access();
    expect_all(f, size);
    EXPECT_EQ(f.sectors, f.least_sectors + kObservedThreads / size);
    EXPECT_EQ(of_class(f, AccessClass::kMisaligned), kObservedThreads / size);
  }
}

TEST(KirObserve, BroadcastsTouchOneSector) {
  Observed t(32, PrimType::kF64);
  t.load(i32(5));
  const AccessFigures f = t.access();
  expect_all(f, 32);
  EXPECT_EQ(f.bytes, 2 * 8);
  EXPECT_EQ(f.sectors, 2);
  EXPECT_EQ(f.least_sectors, 2);
  EXPECT_EQ(f.same_place, 2 * 32);
  EXPECT_EQ(of_class(f, AccessClass::kBroadcast), 2);
}

TEST(KirObserve, PermutedAndScattered) {
  Observed permuted(32, PrimType::kF32);
  permuted.load(permuted.k.xor_(permuted.k.local(), i32(5)));
  const AccessFigures p = permuted.access();
  EXPECT_EQ(of_class(p, AccessClass::kPermuted), 2);
  EXPECT_EQ(p.sectors, p.least_sectors);
  Observed scattered(32, PrimType::kF32);  // squares: gaps that grow
  scattered.load(scattered.k.mul(scattered.k.local(), scattered.k.local()));
  const AccessFigures s = scattered.access();
  EXPECT_EQ(of_class(s, AccessClass::kScattered), 2);
  EXPECT_GT(s.sectors, 3 * s.least_sectors);
}

TEST(KirObserve, BankConflictsAreOfTheStridesDegree) {
  for (const int stride : {1, 2, 4, 8, 16, 32, 33}) {
    Observed t(32, PrimType::kI32);
    const SharedId s = t.k.shared("tile", PrimType::kI32, {kObservedThreads * 33});
    t.k.store(s, t.k.mul(t.k.local(), stride), i32(1));
    const AccessFigures f = t.access();
    EXPECT_EQ(f.bank_turns, 2 * (stride == 33 ? 1 : stride)) << stride;
    EXPECT_EQ(f.least_bank_turns, 2);
    EXPECT_EQ(f.sectors, 0);
    EXPECT_TRUE(f.shared && f.write);
  }
  Observed same(32, PrimType::kI32);
  const SharedId s = same.k.shared("tile", PrimType::kI32, {1});
  same.k.atomic(AtomicOp::kStore, PrimType::kI32, {s, i32(0)}, i32(1));
  EXPECT_EQ(same.access().bank_turns, 2);
}

TEST(KirObserve, ATransposedReadIsStridedInEveryTurn) {
  Observed t(32, PrimType::kF32);
  t.k.for_(i32(4), [&](const Value& i) { t.load(t.k.add(t.k.mul(t.k.local(), 64), i)); });
  const AccessFigures f = t.access();
  EXPECT_EQ(f.requests, 4 * 2);
  EXPECT_EQ(f.lanes, 4 * kObservedThreads);
  EXPECT_EQ(f.sectors, 4 * kObservedThreads);
  EXPECT_EQ(f.strides.at(64), 8);
}

TEST(KirObserve, BranchesByParityDiverge) {
  for (const uint64_t seed : {0, 3}) {
    Observed t(8, PrimType::kF32, seed);
    t.k.if_(t.k.eq(t.k.and_(t.k.local(), i32(1)), 0), [&] { t.load(t.k.local()); });
    const AccessFigures f = t.access();
    EXPECT_EQ(f.requests, kObservedThreads / 8);
    EXPECT_EQ(f.lanes, kObservedThreads / 2);
    ASSERT_EQ(t.figures.branches().size(), 1u);
    const BranchFigures& b = t.figures.branches().begin()->second;
    EXPECT_EQ(b.requests, kObservedThreads / 8);
    EXPECT_EQ(b.divergent, kObservedThreads / 8);
    EXPECT_EQ(b.taken, kObservedThreads / 2);
  }
}

TEST(KirObserve, TriangularTripCountsLeaveThreadsIdle) {
  for (const uint64_t seed : {0, 3}) {
    Observed t(8, PrimType::kF32, seed);
    const Value trips = t.k.and_(t.k.local(), i32(7));  // 0 to 7 in every subgroup
    t.k.for_(trips, [&](const Value& i) { t.load(t.k.add(t.k.local(), i)); });
    const AccessFigures f = t.access();
    EXPECT_EQ(f.requests, 7 * kObservedThreads / 8);
    EXPECT_EQ(f.lanes, (7 * 8 / 2) * kObservedThreads / 8);
  }
}

TEST(KirObserve, WhatComesBehindADivergentLoopIsOneRequestAgain) {
  Observed t(8, PrimType::kF32, 3);
  t.k.for_(t.k.and_(t.k.local(), i32(7)), [](const Value&) {});
  t.load(t.k.local());
  const AccessFigures f = t.access();
  expect_all(f, 8);
  EXPECT_EQ(of_class(f, AccessClass::kContiguous), kObservedThreads / 8);
}

TEST(KirObserve, HotAtomicsMeetInOnePlace) {
  Observed t(32, PrimType::kI32);
  t.k.atomic(AtomicOp::kAdd, PrimType::kI32, {t.in, t.k.and_(t.k.local(), i32(3))}, i32(1));
  const AccessFigures f = t.access();
  expect_all(f, 32);
  EXPECT_EQ(f.same_place, 2 * 8);
  EXPECT_EQ(f.bytes, 2 * 4 * 4);
}

}  // namespace
}  // namespace kenaz::kir
