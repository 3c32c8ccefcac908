// Kernels that are right, and what goes wrong when one thing in them is changed: the fault is found
// whatever the order of threads, with the two lines of the program that it is about.
#include "kernels/kir/eval/seeded_testing.h"

namespace kenaz::kir {
namespace {

TEST(KirSeeded, AnExchangeThroughATile) {
  expect_breaks(R"(
store s0[v3] = v9 @2
barrier @3
v10: i32 = sub.i32(7i32, v3)
v11: i32 = load s0[v10] @4
store v1[v7] = v11 @5
)",
                2,
                {{"barrier @3", "", FaultKind::kRace, {2, 4}},
                 {"barrier @3", "fence.workgroup @3", FaultKind::kRace, {2, 4}},
                 {"store v1[v7]", "store v1[v3]", FaultKind::kRace, {5}},
                 {"store v1[v7]", "store v1[v5]", FaultKind::kRace, {5}}});
}

TEST(KirSeeded, NeighboursInPlace) {
  expect_breaks(
      R"(
store s0[v3] = v9 @2
barrier @3
v10: i32 = add.i32(v3, 1i32)
v11: i32 = and.i32(v10, 7i32)
v12: i32 = load s0[v11] @4
barrier @5
store s0[v3] = v12 @6
v13: i32 = load s0[v3] @7
store v1[v7] = v13 @8
)",
      1,
      {{"barrier @3", "", FaultKind::kRace, {2, 4}}, {"barrier @5", "", FaultKind::kRace, {4, 6}}});
}

TEST(KirSeeded, ASumOfAWorkgroup) {
  expect_breaks(R"(
store s0[v3] = v9 @2
barrier @3
var x0: i32 = 4i32
while uniform @4 {
v10: i32 = x0
v11: bool = lt.i32(0i32, v10)
} test v11 {
v12: bool = lt.i32(v3, v10)
if v12 @5 {
v13: i32 = add.i32(v3, v10)
v14: i32 = load s0[v13] @6
v15: i32 = load s0[v3] @7
v16: i32 = add.i32(v14, v15)
store s0[v3] = v16 @8
}
barrier @9
v17: i32 = lshr.i32(v10, 1i32)
x0 = v17
}
if v8 @10 {
v18: i32 = load s0[0i32] @11
store v1[v5] = v18 @12
}
)",
                2,
                {{"barrier @9", "", FaultKind::kRace, {6, 8}},
                 {"}\nbarrier @9", "barrier @9\n}", FaultKind::kDivergentBarrier, {5, 9}},
                 {"x0: i32 = 4i32", "x0: i32 = v3", FaultKind::kDivergentBarrier, {4, 9}}});
}

TEST(KirSeeded, CountersThatAreSetToZero) {
  // An atomic behind a thread's own store does not hide the store from other threads' atomics.
  expect_breaks(
      R"(
store v2[v3] = 0i32 @2
barrier @3
v10: i32 = and.i32(v9, 3i32)
atomic.add.i32 v2[v10], 1i32 @4
barrier @5
v11: i32 = load v2[v3] @6
)",
      1,
      {{"barrier @3", "", FaultKind::kRace, {2, 4}}, {"barrier @5", "", FaultKind::kRace, {4, 6}}});
}

TEST(KirSeeded, AHistogram) {
  expect_breaks(R"(
store s0[v3] = 0i32 @2
barrier @3
v10: i32 = and.i32(v9, 3i32)
atomic.add.i32 s0[v10], 1i32 @4
barrier @5
v11: i32 = load s0[v3] @6
atomic.add.i32 v2[v3], v11 @7
)",
                2,
                {{"barrier @5", "", FaultKind::kRace, {4, 6}},
                 {"atomic.add.i32 s0[v10], 1i32 @4",
                  "v12: i32 = load s0[v10] @4\nv13: i32 = add.i32(v12, 1i32)\n"
                  "store s0[v10] = v13 @4",
                  FaultKind::kRace,
                  {4}},
                 {"atomic.add.i32 v2[v3], v11 @7",
                  "v12: i32 = load v2[v3] @7\nv13: i32 = add.i32(v12, v11)\n"
                  "store v2[v3] = v13 @7",
                  FaultKind::kRace,
                  {7}}});
}

TEST(KirSeeded, TheLastWorkgroupReadsWhatTheOthersWrote) {
  expect_breaks(R"(
if v8 @2 {
store.coherent v1[v4] = v9 @3
v10: i32 = atomic.add.i32.acquire_release v2[0i32], 1i32 @4
v11: i64 = groups
v12: i32 = convert.i64.i32(v11)
v13: i32 = sub.i32(v12, 1i32)
v14: bool = eq.i32(v10, v13)
if v14 @5 {
for v15: i64 = 0i64 to v11 step 1i64 @6 {
v16: i32 = load.coherent v1[v15] @7
store l0[0i32] = v16 @8
}
}
}
)",
                3,
                {{"add.i32.acquire_release", "add.i32.release", FaultKind::kRace, {3, 7}},
                 {"add.i32.acquire_release", "add.i32.acquire", FaultKind::kRace, {3, 7}},
                 {"add.i32.acquire_release", "add.i32", FaultKind::kRace, {3, 7}},
                 {"store.coherent", "store", FaultKind::kRace, {3, 7}},
                 {"load.coherent", "load", FaultKind::kRace, {3, 7}}});
}

TEST(KirSeeded, AChainOfWorkgroups) {
  expect_breaks(R"(
if v8 @2 {
v10: i32 = atomic.add.i32 v2[0i32], 1i32 @3
v11: i32 = sub.i32(v10, 1i32)
v12: bool = lt.i32(0i32, v10)
if v12 @4 {
while @5 {
v13: i32 = atomic.load.i32.acquire v2[v10] @6
v14: bool = eq.i32(v13, 0i32)
} test v14 {
}
v15: i32 = load.coherent v1[v11] @7
v16: i32 = add.i32(v15, v9)
store.coherent v1[v10] = v16 @8
} else {
store.coherent v1[v10] = v9 @9
}
v17: i32 = add.i32(v10, 1i32)
atomic.store.i32.release v2[v17], 1i32 @10
}
)",
                2,
                {{"store.i32.release", "store.i32", FaultKind::kRace, {7, 9}},
                 {"load.i32.acquire", "load.i32", FaultKind::kRace, {7, 9}}});
}

TEST(KirSeeded, WhatIsUndefinedIsToldWithWhereItComesFrom) {
  expect_breaks(R"(
store s0[v3] = v9 @2
barrier @3
v10: i32 = sub.i32(7i32, v3)
v11: i32 = load s0[v10] @4
v12: i32 = mul.i32(v11, 2i32)
v13: bool = lt.i32(v12, 100i32)
if v13 @5 {
store v1[v7] = v11 @6
}
)",
                1,
                {{"store s0[v3] = v9 @2",
                  "v20: bool = lt.i32(v3, 7i32)\nif v20 @7 {\nstore s0[v3] = v9 @2\n}",
                  FaultKind::kUndefined,
                  {4, 5}}});
  expect_breaks(R"(
var x0: i32 = 0i32 @2
if v8 @3 {
x0 = 5i32 @4
}
v10: i32 = x0
v11: i32 = subgroup.shuffle_xor v10, 1i32 @5
v12: i32 = select.i32(true, v10, v11)
v13: i32 = load v0[v12] @6
)",
                1,
                {{"x0: i32 = 0i32", "x0: i32", FaultKind::kUndefined, {2, 6}},
                 {"select.i32(true, v10, v11)",
                  "add.i32(v11, 60i32)",
                  FaultKind::kOutOfBlock,
                  {6, UINT32_MAX}}});
  expect_breaks(R"(
v10: i32 = load v0[v7] @2
store l0[0i32] = v10 @3
v11: i32 = load l0[0i32] @4
v12: i32 = and.i32(v11, 7i32)
v13: i32 = load v0[v12] @5
)",
                1,
                {{"load v0[v7] @2", "load v1[v7] @2", FaultKind::kUndefined, {2, 5}},
                 {"l0[0i32] @4", "l0[1i32] @4", FaultKind::kUndefined, {4, 5}}});
}

TEST(KirSeeded, UndefinedValuesAreFollowedThroughMemory) {
  expect_breaks(R"(
v10: i32 = load v0[v7] @2
store s0[v3] = v10 @3
barrier @4
v11: i32 = sub.i32(7i32, v3)
v12: i32 = load s0[v11] @5
store v1[v7] = v12 @6
v13: i32 = load v1[v7] @7
v14: i32 = and.i32(v13, 7i32)
v15: i32 = load v0[v14] @8
)",
                3,
                {{"load v0[v7] @2", "load v1[v7] @2", FaultKind::kUndefined, {2, 8}},
                 {"store s0[v3] = v10 @3", "", FaultKind::kUndefined, {5, 8}},
                 {"store v1[v7] = v12 @6", "", FaultKind::kUndefined, {7, 8}}});
}

TEST(KirSeeded, ThreadsThatDoNotMeet) {
  expect_breaks(R"(
for v10: i32 = 0i32 to 4i32 step 1i32 uniform @2 {
barrier @3
}
)",
                1, {{"to 4i32", "to v3", FaultKind::kDivergentBarrier, {2, 3}}});
  expect_breaks(
      R"(
v10: bool = lt.i32(v5, 100i32)
if v10 @2 {
v11: i32 = subgroup.reduce.add v9 @3
store v1[v7] = v11 @4
}
)",
      2, {{"lt.i32(v5, 100i32)", "lt.i32(v3, 2i32)", FaultKind::kDivergentSubgroup, {2, 3}}});
  expect_breaks(R"(
v10: bool = lt.i32(v5, 1i32)
if v10 @2 {
barrier @3
} else {
barrier @4
}
)",
                2,
                {{"lt.i32(v5, 1i32)", "lt.i32(v3, 1i32)", FaultKind::kDivergentBarrier, {3, 4}}});
}

// ---- several launches

/// Fine with a barrier between them, a race at the two lines without.
void expect_order_needed(const std::vector<std::string>& bodies, const std::set<uint32_t>& lines) {
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    const auto fine = fault_of(bodies, 2, true, seed);
    EXPECT_FALSE(fine) << seed << ": " << fine->text;
    const auto found = fault_of(bodies, 2, false, seed);
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(describe(found->kind), describe(FaultKind::kRace)) << seed;
    EXPECT_EQ(lines_of(*found), lines) << seed << ": " << found->text;
    EXPECT_EQ(found->launches_before, static_cast<int>(bodies.size()) - 1) << seed;
  }
}

TEST(KirSeeded, LaunchesThatTheHostDidNotOrder) {
  constexpr const char* kWrites = "store v1[v7] = v9 @2\n";
  constexpr const char* kReads = "v10: i32 = load v1[v7] @3\n";
  constexpr const char* kOther = "store v2[v7] = v9 @4\n";
  expect_order_needed({kWrites, kReads}, {2, 3});
  expect_order_needed({kReads, kWrites}, {2, 3});
  expect_order_needed({kWrites, kWrites}, {2});
  expect_order_needed({kWrites, kOther, kReads}, {2, 3});
}

TEST(KirSeeded, WhatALaunchLeftUndefined) {
  const std::string half = R"(
v10: bool = lt.i32(v3, 4i32)
if v10 @2 {
store v1[v7] = v3 @3
}
)";
  const std::string uses = "v10: i32 = load v1[v7] @4\nv11: i32 = load v0[v10] @5\n";
  for (uint64_t seed = 0; seed < kOrders; ++seed) {
    EXPECT_FALSE(fault_of({"store v1[v7] = v3 @3\n", uses}, 2, true, seed)) << seed;
    const auto found = fault_of({half, uses}, 2, true, seed);
    ASSERT_TRUE(found) << seed;
    EXPECT_EQ(describe(found->kind), describe(FaultKind::kUndefined)) << seed;
    EXPECT_EQ(lines_of(*found), (std::set<uint32_t>{4, 5})) << seed;
  }
}

}  // namespace
}  // namespace kenaz::kir
