// What each instruction does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kir/eval/testing.h"

namespace kenaz::kir {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(KirRun, BuiltinsTellAThreadWhereItIs) {
  KernelTest t;
  t.kernel.group_size.constant = 8;
  t.options.subgroup_size = 4;
  t.groups = 2;
  const Value out = t.room<int64_t>("out", 16 * 8);
  Builder& k = t.k;
  const Value at = k.mul(k.global(), 8);
  const Values all{k.group(), k.groups(),   k.local(),     k.group_size(),
                   k.lane(),  k.subgroup(), k.subgroups(), k.subgroup_size()};
  for (int i = 0; i < 8; i++) k.store(out, k.add(at, i), k.to_i64(all[i]));
  ASSERT_EQ(t.error(), "");
  const auto r = t.read<int64_t>("out");
  EXPECT_EQ(std::vector<int64_t>(r.begin() + 8 * 13, r.begin() + 8 * 14),
            (std::vector<int64_t>{1, 2, 5, 8, 1, 1, 2, 4}));
}

TEST(KirRun, ScalarsAreThoseOfTheTable) {
  PerThread t(4, PrimType::kI32);
  Builder& k = t.k;
  const Value x = k.sub(k.local(), 2);  // -2 -1 0 1
  const Value y = k.select(k.lt(x, 0), k.mul(x, 10),
                           k.op(ScalarOp::kMad, PrimType::kI32, PrimType::kI32, {x, x, i32(7)}));
  t.give(k.convert(k.convert(y, PrimType::kI8), PrimType::kI32));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("out"), ElementsAre(-20, -10, 7, 8));
}

TEST(KirRun, VectorsAreNeighboursInMemory) {
  KernelTest t;
  t.kernel.group_size.constant = 2;
  const Value in = t.array<int32_t>("in", iota(8));
  const Value out = t.room<int32_t>("out", 8);
  Builder& k = t.k;
  const Value at = k.mul(k.local(), 4);
  const Value v = k.load({PrimType::kI32, 4}, {in, at});
  const Value w = k.compose({k.extract(v, 3), k.extract(v, 2), k.extract(v, 1), k.extract(v, 0)});
  const Var var = k.declare(w);
  k.store(Address{out, at}, k.read(var));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("out"), ElementsAre(3, 2, 1, 0, 7, 6, 5, 4));
}

TEST(KirRun, EveryTypeIsLoadedAndStoredAsItLiesInMemory) {
  KernelTest t;
  Builder& k = t.k;
  const Value bytes = t.array<uint8_t>("bytes", {0xff, 1});
  const Value halves = t.array<uint16_t>("halves", {0x3c00});
  const Value longs = t.room<int64_t>("longs", 3);
  const Value bools = t.room<uint8_t>("bools", 2);
  k.store(longs, i32(0), k.to_i64(k.load(PrimType::kI8, bytes, i32(0))));
  k.store(longs, i64(1), k.to_i64(k.load(PrimType::kU8, bytes, i64(0))));
  k.store(longs, i64(2), k.to_i64(k.load(PrimType::kF16, halves, i64(0))));
  const Value truth = k.load(PrimType::kBool, bytes, i32(1));
  k.store(bools, i32(0), truth);
  k.store(bools, i32(1), k.not_(truth));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int64_t>("longs"), ElementsAre(-1, 255, 1));
  EXPECT_THAT(t.read<uint8_t>("bools"), ElementsAre(1, 0));
}

TEST(KirRun, SharedArraysBelongToTheGroupAndLocalOnesToTheThread) {
  PerThread t(8, PrimType::kI32);
  Builder& k = t.k;
  const Value s = t.k.spec("factor", PrimValue::i32(2));
  t.options.specs = {PrimValue::i32(4)};
  (void)s;
  const SharedId shared = k.shared("s", PrimType::kI32, {2, 0});
  const LocalId local = k.local_array("l", PrimType::kI32, 2);
  k.store(local, i32(1), k.mul(k.local(), 3));
  k.store(shared, k.local(), k.load(local, i32(1)));
  k.barrier();
  t.give(k.load(shared, k.sub(i32(7), k.local())));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("out"), ElementsAre(21, 18, 15, 12, 9, 6, 3, 0));
}

TEST(KirRun, SharedArraysOfVectorsAreIndexedByVector) {
  PerThread t(4, PrimType::kI32);
  Builder& k = t.k;
  const SharedId shared = k.shared("s", PrimType::kI32, {4}, 2);
  k.store(shared, k.local(), k.compose({k.local(), k.mul(k.local(), 10)}));
  k.barrier();
  const Value both = k.load(shared, k.sub(i32(3), k.local()));
  t.give(k.add(k.extract(both, 0), k.extract(both, 1)));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("out"), ElementsAre(33, 22, 11, 0));
}

TEST(KirRun, AVectorBehindASharedArrayIsNone) {
  PerThread t(4, PrimType::kI32);
  Builder& k = t.k;
  const SharedId shared = k.shared("s", PrimType::kI32, {4}, 4);
  k.store(shared, k.add(k.local(), 1), k.compose({k.local(), i32(0), i32(0), i32(0)}));
  t.give(i32(0));
  EXPECT_THAT(t.error(), HasSubstr("index 4 of an array of 4"));
}

TEST(KirRun, AtomicsGiveTheOldValue) {
  KernelTest t;
  const Value m = t.array<int32_t>("m", {5, 5, 5, 5, 6, 6, 6, 5, 5});
  const Value old = t.room<int32_t>("old", 10);
  Builder& k = t.k;
  const AtomicOp ops[] = {AtomicOp::kExchange, AtomicOp::kAdd, AtomicOp::kMin, AtomicOp::kMax,
                          AtomicOp::kAnd,      AtomicOp::kOr,  AtomicOp::kXor};
  for (int i = 0; i < 7; i++) {
    k.store(old, i32(i), k.atomic(ops[i], PrimType::kI32, {m, i32(i)}, i32(3)));
  }
  k.atomic(AtomicOp::kStore, PrimType::kI32, {m, i32(7)}, i32(9));
  k.store(old, i32(7), k.atomic(AtomicOp::kLoad, PrimType::kI32, {m, i32(7)}));
  k.store(old, i32(8), k.compare_and_swap(PrimType::kI32, {m, i32(8)}, i32(4), i32(1)));
  k.store(old, i32(9), k.compare_and_swap(PrimType::kI32, {m, i32(8)}, i32(5), i32(2)));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("m"), ElementsAre(3, 8, 3, 5, 2, 7, 5, 9, 2));
  EXPECT_THAT(t.read<int32_t>("old"), ElementsAre(5, 5, 5, 5, 6, 6, 6, 9, 5, 5));
}

TEST(KirRun, AtomicsAreSignedByTheirType) {
  KernelTest t;
  const Value m = t.array<int32_t>("m", {-1, -1});
  Builder& k = t.k;
  const Value wide = t.array<uint64_t>("wide", {uint64_t{1} << 40});
  k.atomic(AtomicOp::kMin, PrimType::kI32, {m, i32(0)}, i32(1));
  k.atomic(AtomicOp::kMin, PrimType::kU32, {m, i32(1)}, PrimValue{PrimType::kU32, 1});
  k.atomic(AtomicOp::kAdd, PrimType::kU64, {wide, i32(0)}, PrimValue{PrimType::kU64, 1});
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("m"), ElementsAre(-1, 1));
  EXPECT_THAT(t.read<uint64_t>("wide"), ElementsAre((uint64_t{1} << 40) + 1));
}

struct SubgroupCase {
  SubgroupOp op;
  std::vector<int32_t> expected;
};

TEST(KirRun, SubgroupsCombineInLaneOrder) {
  for (const auto& c :
       std::vector<SubgroupCase>{{SubgroupOp::kReduce, {10, 10, 10, 10, 26, 26, 26, 26}},
                                 {SubgroupOp::kInclusive, {1, 3, 6, 10, 5, 11, 18, 26}},
                                 {SubgroupOp::kExclusive, {0, 1, 3, 6, 0, 5, 11, 18}}}) {
    PerThread t(8, PrimType::kI32);
    t.options.subgroup_size = 4;
    t.give(t.k.subgroup_combine(c.op, ScalarOp::kAdd, t.k.add(t.k.local(), 1)));
    ASSERT_EQ(t.error(), "");
    EXPECT_EQ(t.read<int32_t>("out"), c.expected);
  }
}

TEST(KirRun, FloatsAreCombinedFromLaneZeroUp) {
  PerThread t(4, PrimType::kF32);
  t.options.subgroup_size = 4;
  const Value in = t.array<float>("in", {1e8F, 1, -1e8F, 1});
  t.give(t.k.subgroup_combine(SubgroupOp::kReduce, ScalarOp::kAdd,
                              t.k.load(PrimType::kF32, in, t.k.local())));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<float>("out"), Each(1.0F));
}

TEST(KirRun, ExclusiveScansStartWithTheNeutralElement) {
  const auto first = [](ScalarOp op, Value v) {
    PerThread t(1, v.type.prim);
    t.options.subgroup_size = 1;
    t.give(t.k.subgroup_combine(SubgroupOp::kExclusive, op, v));
    EXPECT_EQ(t.error(), "");
    uint64_t bits = 0;
    const auto bytes = t.memory.bytes(t.args[0].bits);
    std::memcpy(&bits, bytes.data(), bytes.size());
    return PrimValue{v.type.prim, bits};
  };
  const PrimValue i8 = PrimValue::of_int(PrimType::kI8, 1);
  const PrimValue u16 = PrimValue::of_int(PrimType::kU16, 1);
  EXPECT_EQ(first(ScalarOp::kAdd, i8).as_i64(), 0);
  EXPECT_EQ(first(ScalarOp::kMul, PrimValue::f64(2)).as_double(), 1);
  EXPECT_EQ(first(ScalarOp::kMin, i8).as_i64(), 127);
  EXPECT_EQ(first(ScalarOp::kMax, i8).as_i64(), -128);
  EXPECT_EQ(first(ScalarOp::kMin, u16).as_i64(), 65535);
  EXPECT_EQ(first(ScalarOp::kMax, u16).as_i64(), 0);
  EXPECT_EQ(first(ScalarOp::kMin, PrimValue::f32(2)).as_double(), HUGE_VAL);
  EXPECT_EQ(first(ScalarOp::kMax, PrimValue::f32(2)).as_double(), -HUGE_VAL);
  EXPECT_EQ(first(ScalarOp::kAnd, i8).as_i64(), -1);
  EXPECT_EQ(first(ScalarOp::kAnd, boolean(false)).bits, 1U);
  EXPECT_EQ(first(ScalarOp::kOr, boolean(true)).bits, 0U);
  EXPECT_EQ(first(ScalarOp::kXor, i8).as_i64(), 0);
}

TEST(KirRun, ShufflesTakeAnotherLanesValue) {
  for (const auto& c :
       std::vector<SubgroupCase>{{SubgroupOp::kShuffle, {30, 30, 30, 30, 70, 70, 70, 70}},
                                 {SubgroupOp::kBroadcast, {30, 30, 30, 30, 70, 70, 70, 70}},
                                 {SubgroupOp::kShuffleXor, {30, 20, 10, 0, 70, 60, 50, 40}}}) {
    PerThread t(8, PrimType::kI32);
    t.options.subgroup_size = 4;
    t.give(t.k.shuffle(c.op, t.k.mul(t.k.local(), 10), i32(3)));
    ASSERT_EQ(t.error(), "");
    EXPECT_EQ(t.read<int32_t>("out"), c.expected);
  }
}

TEST(KirRun, AShuffleFromNoLaneIsUndefined) {
  for (const SubgroupOp op : {SubgroupOp::kShuffleUp, SubgroupOp::kShuffleDown}) {
    PerThread t(4, PrimType::kI32);
    t.options.subgroup_size = 4;
    t.give(t.k.shuffle(op, t.k.local(), i32(1)));
    ASSERT_EQ(t.error(), "");
    const uint64_t out = t.args[0].bits;
    const bool up = op == SubgroupOp::kShuffleUp;
    for (int lane = 0; lane < 4; lane++) {
      const bool missing = lane == (up ? 0 : 3);
      EXPECT_EQ(t.memory.defined(out + 4 * lane, 4), !missing);
      if (!missing) {
        EXPECT_EQ(t.read<int32_t>("out")[lane], up ? lane - 1 : lane + 1);
      }
    }
  }
}

TEST(KirRun, VotesCountTheLanes) {
  for (const auto& c : std::vector<SubgroupCase>{{SubgroupOp::kCount, {2, 2, 2, 2, 4, 4, 4, 4}},
                                                 {SubgroupOp::kRank, {0, 0, 0, 1, 0, 1, 2, 3}},
                                                 {SubgroupOp::kAny, {1, 1, 1, 1, 1, 1, 1, 1}},
                                                 {SubgroupOp::kAll, {0, 0, 0, 0, 1, 1, 1, 1}}}) {
    PerThread t(8, PrimType::kI32);
    t.options.subgroup_size = 4;
    const Value r = t.k.vote(c.op, t.k.lt(i32(1), t.k.local()));
    t.give(t.k.to_i32(r));
    ASSERT_EQ(t.error(), "");
    EXPECT_EQ(t.read<int32_t>("out"), c.expected);
  }
}

TEST(KirRun, BallotsHaveABitForEachLane) {
  for (const int word : {0, 1, 2}) {
    PerThread t(64, PrimType::kU32);
    t.options.subgroup_size = 64;
    t.give(t.k.ballot(t.k.eq(t.k.rem(t.k.local(), i32(33)), 1), word));
    ASSERT_EQ(t.error(), "");
    const std::vector<uint32_t> words = {2, 4, 0};
    EXPECT_EQ(t.read<uint32_t>("out"), std::vector<uint32_t>(64, words[word]));
  }
}

TEST(KirRun, LoopsAndBranchesNest) {
  PerThread t(6, PrimType::kI64);
  Builder& k = t.k;
  const Var sum = k.declare(i64(0));
  k.for_(i64(0), k.to_i64(k.local()), i64(2), [&](const Value& i) {
    const Var n = k.declare(i);
    k.while_([&] { return k.lt(i64(0), k.read(n)); },
             [&] {
               k.assign(n, k.sub(k.read(n), 1));
               k.if_(
                   k.eq(k.read(n), 1), [&] { k.assign(sum, k.add(k.read(sum), 100)); },
                   [&] { k.assign(sum, k.add(k.read(sum), 1)); });
             });
  });
  t.give(k.read(sum));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int64_t>("out"), ElementsAre(0, 0, 0, 101, 101, 204));
}

TEST(KirRun, FunctionsCallEarlierOnes) {
  PerThread t(3, PrimType::kI32);
  Builder& k = t.k;
  const FunctionId square = k.function("square", {{PrimType::kI32}},
                                       [&](const Values& p) { return Values{k.mul(p[0], p[0])}; });
  const FunctionId both =
      k.function("both", {{PrimType::kI32}, {PrimType::kI32}}, [&](const Values& p) {
        const Value a = k.call(square, {p[0]})[0];
        return Values{a, k.call(square, {p[1]})[0]};
      });
  const Values r = k.call(both, {k.local(), i32(10)});
  t.give(k.add(r[0], r[1]));
  ASSERT_EQ(t.error(), "");
  EXPECT_THAT(t.read<int32_t>("out"), ElementsAre(100, 101, 104));
}

TEST(KirRun, WhatDoesNotFitTheKernelIsRejected) {
  KernelTest t;
  t.scalar("n", PrimValue::i32(1));
  t.args[0] = PrimValue::i64(1);
  EXPECT_THAT(t.error(), HasSubstr("argument n"));
  t.args.clear();
  EXPECT_THAT(t.error(), HasSubstr("argument n"));
  KernelTest u;
  u.k.spec("s", PrimValue::i32(1));
  u.options.specs = {PrimValue::of_bool(true)};
  EXPECT_THAT(u.error(), HasSubstr("constant s"));
  KernelTest v;
  v.k.shared("s", PrimType::kI64, {1 << 30});
  EXPECT_THAT(v.error(), HasSubstr("array s"));
  KernelTest w;
  w.kernel.group_size.constant = 12;
  EXPECT_EQ(w.error(), "");
  w.k.lane();
  EXPECT_THAT(w.error(), HasSubstr("subgroups of 8 in a workgroup of 12"));
}

class Tally : public Observer {
 public:
  void on_access(const Inst&, const Place& p, bool shared, bool write, uint64_t address,
                 int bytes) override {
    seen.push_back(std::string(shared ? "shared " : "device ") + (write ? "write " : "read ") +
                   std::to_string(p.local) + " " + std::to_string(address & 0xffff) + " " +
                   std::to_string(bytes));
  }
  void on_branch(const Inst&, const Place&, bool t) override { taken += t ? 1 : 0, branches++; }
  std::vector<std::string> seen;
  int branches = 0, taken = 0;
};

TEST(KirRun, SomeWorkgroupsOfManyRun) {
  const auto ran = [](int64_t groups, int64_t most, uint64_t seed, bool progress = false) {
    KernelTest t;
    t.groups = groups;
    t.kernel.needs_progress = progress;
    t.options.most_groups = most;
    t.options.groups_seed = seed;
    t.options.seed = 3;
    const Value out = t.room<int64_t>("out", static_cast<size_t>(groups));
    t.k.store(out, t.k.group(), t.k.group());
    EXPECT_EQ(t.error(), "");
    const auto expected = chosen_groups(t.kernel, groups, t.options);
    std::vector<int64_t> numbers;
    for (int64_t g = 0; g < groups; ++g) {
      if (t.memory.defined(t.args[0].bits + static_cast<uint64_t>(g) * 8, 8)) numbers.push_back(g);
    }
    EXPECT_EQ(numbers, expected);
    return numbers;
  };
  EXPECT_EQ(ran(100, 1, 0), (std::vector<int64_t>{0}));
  EXPECT_EQ(ran(100, 2, 0), (std::vector<int64_t>{0, 99}));
  const auto some = ran(100, 10, 1);
  EXPECT_EQ(some.size(), 10u);
  EXPECT_EQ(some.front(), 0);
  EXPECT_EQ(some.back(), 99);
  EXPECT_EQ(ran(100, 10, 1), some);
  EXPECT_NE(ran(100, 10, 2), some);
  EXPECT_EQ(ran(7, 7, 0).size(), 7u);
  EXPECT_EQ(ran(7, 0, 0).size(), 7u);
  EXPECT_EQ(ran(7, 2, 0, true).size(), 7u);  // they wait for each other
}

TEST(KirRun, AnObserverSeesAccessesAndBranches) {
  KernelTest t;
  t.kernel.group_size.constant = 2;
  const Value in = t.array<int32_t>("in", iota(8));
  Builder& k = t.k;
  const SharedId pad = k.shared("pad", PrimType::kI32, {3});
  const SharedId s = k.shared("s", PrimType::kI32, {2});
  (void)pad;
  const Value v = k.load({PrimType::kI32, 4}, {in, k.mul(k.local(), 4)});
  k.store(s, k.local(), k.extract(v, 0));
  k.if_(k.eq(k.local(), 1), [&] {
    k.atomic(AtomicOp::kAdd, PrimType::kI32, {in, i32(0)}, i32(1));
  });
  k.for_(i32(3), [](const Value&) {});
  Tally tally;
  t.observer = &tally;
  t.k.barrier();
  ASSERT_THAT(t.error(), HasSubstr("kRace"));  // the atomic and thread 0's load
  EXPECT_THAT(tally.seen,
              ElementsAre("device read 0 0 16", "shared write 0 0 4", "device read 1 16 16",
                          "shared write 1 4 4", "device write 1 0 4"));
  EXPECT_EQ(tally.branches, 6);  // thread 0: if, four of the loop; thread 1: if
  EXPECT_EQ(tally.taken, 4);
}

}  // namespace
}  // namespace kenaz::kir
