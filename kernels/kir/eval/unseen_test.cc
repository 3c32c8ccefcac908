// More kernels that are right, though some look racy, and what goes wrong in them when one thing is
// changed: forms that the interpreter was not made with.
#include "kernels/kir/eval/seeded_testing.h"

namespace kenaz::kir {
namespace {

TEST(KirUnseen, AStencilWithItsBorder) {
  expect_breaks(
      R"(
v10: i32 = add.i32(v3, 1i32)
store s0[v10] = v9 @2
if v8 @3 {
store s0[0i32] = v9 @4
v11: i32 = load v0[0i32]
store s0[9i32] = v11 @5
}
barrier @6
v12: i32 = load s0[v3] @7
v13: i32 = add.i32(v3, 2i32)
v14: i32 = load s0[v13] @8
v15: i32 = add.i32(v12, v14)
v16: bool = lt.i32(v15, 1000i32)
if v16 @9 {
store v1[v7] = v15 @10
}
)",
      2,
      {{"store s0[9i32] = v11 @5", "", FaultKind::kUndefined, {8, 9}},
       {"v10: i32 = add.i32(v3, 1i32)", "v10: i32 = add.i32(v3, 2i32)", FaultKind::kRace, {2, 5}},
       {"if v8 @3 {", "v17: bool = lt.i32(v3, 2i32)\nif v17 @3 {", FaultKind::kRace, {4}, {{5}}}});
}

TEST(KirUnseen, AFlagThatSaysWhetherToGoOn) {
  expect_breaks(R"(
var x0: i32 = 0i32
while uniform @4 {
barrier @5
if v8 @6 {
store s0[8i32] = 0i32 @7
}
barrier @8
v10: i32 = x0
v11: bool = lt.i32(v10, 3i32)
v12: bool = eq.i32(v3, 5i32)
v13: bool = and.bool(v11, v12)
if v13 @9 {
store s0[8i32] = 1i32 @10
}
barrier @11
v14: i32 = load s0[8i32] @12
v15: bool = eq.i32(v14, 1i32)
} test v15 {
v16: i32 = add.i32(v10, 1i32)
x0 = v16
}
)",
                1,
                {{"barrier @5", "", FaultKind::kRace, {7, 12}},
                 {"barrier @8", "", FaultKind::kRace, {7, 10}},
                 {"barrier @11", "", FaultKind::kRace, {10, 12}}});
}

TEST(KirUnseen, AScanWithTwoBuffers) {
  expect_breaks(
      R"(
store s0[v3] = v9 @2
var x0: i32 = 1i32
var x1: i32 = 0i32
while uniform @3 {
v10: i32 = x0
v11: bool = lt.i32(v10, 8i32)
} test v11 {
barrier @4
v12: i32 = x1
v13: i32 = xor.i32(v12, 8i32)
v14: i32 = add.i32(v12, v3)
v15: i32 = load s0[v14] @5
v16: i32 = sub.i32(v3, v10)
v17: bool = le.i32(0i32, v16)
var x2: i32 = v15
if v17 @6 {
v18: i32 = add.i32(v12, v16)
v19: i32 = load s0[v18] @7
v20: i32 = add.i32(v15, v19)
x2 = v20
}
v21: i32 = x2
v22: i32 = add.i32(v13, v3)
store s0[v22] = v21 @8
x1 = v13
v23: i32 = mul.i32(v10, 2i32)
x0 = v23
}
)",
      2,
      {{"xor.i32(v12, 8i32)", "xor.i32(v12, 0i32)", FaultKind::kRace, {7, 8}},
       {"barrier @4", "", FaultKind::kRace, {2, 7}, {{7, 8}}},
       {"le.i32(0i32, v16)", "le.i32(-4i32, v16)", FaultKind::kOutOfBlock, {7, UINT32_MAX}}});
}

TEST(KirUnseen, ASortOfNeighbours) {
  expect_breaks(
      R"(
store s0[v3] = v9 @2
for v10: i32 = 0i32 to 8i32 step 1i32 uniform @3 {
barrier @4
v11: i32 = add.i32(v3, v10)
v12: i32 = and.i32(v11, 1i32)
v13: bool = eq.i32(v12, 0i32)
v14: bool = lt.i32(v3, 7i32)
v15: bool = and.bool(v13, v14)
if v15 @5 {
v16: i32 = add.i32(v3, 1i32)
v17: i32 = load s0[v3] @6
v18: i32 = load s0[v16] @7
v19: i32 = min.i32(v17, v18)
v20: i32 = max.i32(v17, v18)
store s0[v3] = v19 @8
store s0[v16] = v20 @9
}
}
)",
      1,
      {{"and.bool(v13, v14)", "and.bool(v14, v14)", FaultKind::kRace, {6, 9}, {{7, 8}, {8, 9}}}});
}

TEST(KirUnseen, AMatrixIsTransposedInPlace) {
  expect_breaks(
      R"(
v10: bool = lt.i32(v3, v5)
if v10 @2 {
v11: i32 = mul.i32(v3, 8i32)
v12: i32 = add.i32(v11, v5)
v13: i32 = load v1[v7] @3
v14: i32 = load v1[v12] @4
store v1[v12] = v13 @5
store v1[v7] = v14 @6
}
)",
      8, {{"lt.i32(v3, v5)", "lt.i32(v3, 8i32)", FaultKind::kRace, {3, 5}, {{4, 6}, {5, 6}}}});
}

TEST(KirUnseen, BytesBesideWords) {
  expect_breaks(R"(
store v2[v3] = 1u8 @2
v10: i32 = add.i32(v3, 2i32)
store v2[v10] = v9 @3
)",
                1, {{"add.i32(v3, 2i32)", "add.i32(v3, 1i32)", FaultKind::kRace, {2, 3}}});
}

TEST(KirUnseen, VectorsAndTheirElements) {
  expect_breaks(R"(
v10: i32 = mul.i32(v3, 4i32)
v11: i32x4 = load v0[v10] @2
store v1[v10] = v11 @3
v12: i32 = add.i32(v10, 3i32)
v13: i32 = load v1[v12] @4
)",
                1,
                {{"add.i32(v10, 3i32)", "sub.i32(28i32, v10)", FaultKind::kRace, {3, 4}},
                 {"mul.i32(v3, 4i32)", "mul.i32(v5, 4i32)", FaultKind::kRace, {3}, {{3, 4}}}});
}

TEST(KirUnseen, APermutation) {
  expect_breaks(R"(
v10: i32 = mul.i32(v7, 5i32)
v11: i32 = and.i32(v10, 63i32)
store v1[v11] = v9 @2
)",
                8, {{"mul.i32(v7, 5i32)", "mul.i32(v7, 6i32)", FaultKind::kRace, {2}}});
}

TEST(KirUnseen, SubgroupsDoNotOrderMemory) {
  expect_breaks(R"(
store s0[v3] = v9 @2
barrier @3
v10: i32 = xor.i32(v3, 1i32)
v11: i32 = load s0[v10] @4
)",
                2,
                {{"barrier @3", "v12: i32 = subgroup.reduce.add v9 @3", FaultKind::kRace, {2, 4}},
                 {"barrier @3", "fence.device @3", FaultKind::kRace, {2, 4}}});
}

TEST(KirUnseen, TheFirstWorkgroupToComeWrites) {
  expect_breaks(R"(
if v8 @2 {
v10: i32 = atomic.cas.i32 v2[0i32], 0i32, 1i32 @3
v11: bool = eq.i32(v10, 0i32)
if v11 @4 {
store v1[0i32] = v9 @5
}
}
)",
                3,
                {{"atomic.cas.i32 v2[0i32], 0i32, 1i32 @3",
                  "load v2[0i32] @3\natomic.store.i32 v2[0i32], 1i32 @6",
                  FaultKind::kRace,
                  {3, 6},
                  {{5}}}});
}

TEST(KirUnseen, AnAtomicSumIsReadBehindABarrier) {
  expect_breaks(R"(
atomic.add.i32 v2[v3], 1i32 @2
barrier @3
v10: i32 = sub.i32(7i32, v3)
v11: i32 = load v2[v10] @4
)",
                1, {{"barrier @3", "", FaultKind::kRace, {2, 4}}});
}

TEST(KirUnseen, AWorkgroupsPlaceInDeviceMemory) {
  expect_breaks(
      R"(
if v8 @2 {
store v2[v5] = v9 @3
}
barrier @4
v10: i32 = load v2[v5] @5
v11: bool = lt.i32(v10, 100i32)
if v11 @6 {
v12: i32 = add.i32(v3, 8i32)
store v1[v7] = v12 @7
}
)",
      4,
      {{"barrier @4", "", FaultKind::kRace, {3, 5}},
       {"store v1[v7] = v12", "store v2[v12] = v7", FaultKind::kRace, {7}},
       {"store v1[v7] = v12", "store v2[v3] = v7", FaultKind::kRace, {3, 7}, {{5, 7}, {7}}},
       {"load v2[v5] @5", "load v1[v5] @5", FaultKind::kUndefined, {5, 6}}});
}

TEST(KirUnseen, CountersOfSubgroupsNeedNoAtomics) {
  expect_breaks(R"(
store s0[v3] = 0i32 @2
barrier @3
v10: i32 = subgroup
v11: i32 = mul.i32(v10, 4i32)
v12: i32 = and.i32(v9, 3i32)
v13: i32 = add.i32(v11, v12)
v14: i32 = load s0[v13] @4
v15: i32 = add.i32(v14, 1i32)
store s0[v13] = v15 @5
)",
                2,
                {{"mul.i32(v10, 4i32)", "mul.i32(v10, 0i32)", FaultKind::kRace, {4, 5}, {{5}}},
                 {"mul.i32(v10, 4i32)", "mul.i32(v10, 3i32)", FaultKind::kRace, {4, 5}, {{5}}}});
}

TEST(KirUnseen, AVariableThatOnlyALoopSets) {
  expect_breaks(R"(
var x0: i32 @2
for v10: i32 = 0i32 to 1i32 step 1i32 @3 {
x0 = v9
}
v11: i32 = x0
v12: bool = lt.i32(v11, 99i32)
if v12 @4 {
store v1[v7] = v11 @5
}
)",
                1, {{"to 1i32", "to v3", FaultKind::kUndefined, {2, 4}}});
}

TEST(KirUnseen, AnUndefinedAddend) {
  expect_breaks(R"(
store l0[1i32] = v9 @2
v10: i32 = load l0[1i32] @3
atomic.add.i32 v2[0i32], v10 @4
)",
                2, {{"store l0[1i32]", "store l0[2i32]", FaultKind::kUndefined, {3, 4}}});
}

TEST(KirUnseen, ANumberOfTurnsFromMemory) {
  expect_breaks(
      R"(
if v8 @2 {
store s0[3i32] = 2i32 @3
}
barrier @4
v10: i32 = load s0[3i32] @5
for v11: i32 = 0i32 to v10 step 1i32 uniform @6 {
barrier @7
}
)",
      2,
      {{"store s0[3i32]", "store s0[4i32]", FaultKind::kUndefined, {5, 6}},
       {"if v8 @2 {", "v12: bool = eq.i32(v3, 9i32)\nif v12 @2 {", FaultKind::kUndefined, {5, 6}},
       {"load s0[3i32] @5", "and.i32(v3, 3i32)", FaultKind::kDivergentBarrier, {6, 7}}});
}

TEST(KirUnseen, ABranchOnWhatAllHaveLoaded) {
  expect_breaks(
      R"(
store s0[v3] = v9 @2
barrier @3
for v10: i32 = 0i32 to 8i32 step 1i32 uniform @4 {
v11: i32 = load s0[v10] @5
v12: bool = lt.i32(v11, 4i32)
if v12 @6 {
barrier @7
}
}
)",
      1, {{"load s0[v10] @5", "load s0[v3] @5", FaultKind::kDivergentBarrier, {6, 7}}});
}

TEST(KirUnseen, ASubgroupThatDoesNotStayTogether) {
  expect_breaks(R"(
for v10: i32 = 0i32 to 3i32 step 1i32 uniform @2 {
v11: i32 = subgroup.reduce.add v9 @3
}
)",
                1, {{"to 3i32", "to v3", FaultKind::kDivergentSubgroup, {2, 3}}});
}

// Of the readers of a place only two are noted: whoever writes must not be ordered behind both.
TEST(KirUnseen, AStoreToWhatManyHaveRead) {
  const std::string all_read = "v10: i32 = load v2[0i32] @2\nbarrier @3\n";
  const auto store_by = [](int thread) {
    return "v11: bool = eq.i32(v7, " + std::to_string(thread) +
           "i32)\nif v11 @4 {\nstore v2[0i32] = 7i32 @5\n}\n";
  };
  const std::string again = "v12: i32 = load v2[0i32] @6\n";
  for (uint64_t seed = 0; seed < 48; ++seed) {
    for (const int thread : {0, 9, 31}) {
      const auto fault = fault_of({all_read + store_by(thread)}, 4, false, seed);
      EXPECT_TRUE(fault && fault->kind == FaultKind::kRace) << seed << " " << thread;
    }
    // One workgroup, before and behind its barrier; and behind another launch of one.
    EXPECT_FALSE(fault_of({all_read + store_by(3)}, 1, false, seed)) << seed;
    EXPECT_TRUE(fault_of({all_read + again + store_by(3)}, 1, false, seed)) << seed;
    EXPECT_TRUE(fault_of({all_read, all_read + store_by(3)}, 1, false, seed)) << seed;
    EXPECT_FALSE(fault_of({all_read, all_read + store_by(3)}, 1, true, seed)) << seed;
    EXPECT_TRUE(fault_of({all_read, all_read, store_by(3)}, 1, false, seed)) << seed;
  }
}

// Who writes is ordered behind one reader that releases afterwards, and behind no other one.
TEST(KirUnseen, AStoreToWhatManyHaveReadBehindOneOfThem) {
  int found = 0;
  for (uint64_t seed = 0; seed < 48; ++seed) {
    const auto fault = fault_of({R"(
v10: i32 = load v0[0i32] @2
v11: bool = eq.i32(v3, 1i32)
if v11 @3 {
atomic.store.i32.release v2[0i32], 1i32 @4
}
if v8 @5 {
while @6 {
v13: i32 = atomic.load.i32.acquire v2[0i32] @7
v14: bool = eq.i32(v13, 0i32)
} test v14 {
}
store v0[0i32] = v10 @8
}
)"},
                                1, false, seed);
    found += fault && fault->kind == FaultKind::kRace ? 1 : 0;
  }
  // Of the readers only two are noted, so not under every seed.
  EXPECT_GT(found, 40);
}

}  // namespace
}  // namespace kenaz::kir
