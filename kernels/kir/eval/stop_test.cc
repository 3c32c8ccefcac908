// Threads that stop, by a failure or by the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/kir/eval/testing.h"

namespace kenaz::kir {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(KirStop, TheFirstFailureIsRecordedAndStopsItsThread) {
  for (uint64_t seed : {0, 1, 2}) {
    PerThread t(4, PrimType::kI32);
    t.options.seed = seed;
    Builder& k = t.k;
    const Value counter = t.array<int32_t>("counter", {0});
    t.give(i32(-1));
    k.if_(k.le(i32(2), k.local()), [&] { k.fail(7, {k.local(), boolean(true)}); });
    k.fail(8, {});  // the other two
    t.give(k.local());
    k.atomic(AtomicOp::kAdd, PrimType::kI32, {counter, i32(0)}, i32(1));
    auto r = t.run();
    ASSERT_TRUE(r) << r.error().message;
    ASSERT_TRUE(r->failure);
    if (seed == 0) {
      EXPECT_EQ(r->failure->number, 8);
    }
    if (r->failure->number == 7) {
      EXPECT_GE(r->failure->args.at(0).as_i64(), 2);
      EXPECT_EQ(r->failure->args.at(1), PrimValue::of_bool(true));
    }
    EXPECT_THAT(t.read<int32_t>("out"), Each(-1));
    EXPECT_THAT(t.read<int32_t>("counter"), ElementsAre(0));
  }
}

TEST(KirStop, AStoppedThreadLoadsZeroLeavesItsLoopsAndMeetsTheOthers) {
  PerThread t(4, PrimType::kI32);
  t.options.subgroup_size = 4;
  Builder& k = t.k;
  const Value in = t.array<int32_t>("in", iota(4, 10));
  const SharedId s = k.shared("s", PrimType::kI32, {4});
  k.store(s, k.local(), i32(1));
  k.if_(k.eq(k.local(), 1), [&] { k.stop(); });
  k.while_([&] { return k.eq(k.local(), 1); }, [] {});  // endless for the stopped one
  k.for_(
      i32(2), [&](const Value&) { k.barrier(); }, /*uniform=*/true);
  const Value sum = k.subgroup_combine(SubgroupOp::kReduce, ScalarOp::kAdd,
                                       k.load(PrimType::kI32, in, k.local()));
  t.give(sum);
  auto r = t.run();
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_FALSE(r->failure);
  const auto out = t.read<int32_t>("out");
  EXPECT_EQ(out[0], 10 + 12 + 13);
  EXPECT_FALSE(t.memory.defined(t.args[0].bits + 4, 4));
}

TEST(KirStop, AStoppedThreadMayHoldUndefinedValues) {
  PerThread t(2, PrimType::kI32);
  Builder& k = t.k;
  const Var v = k.declare(Type{PrimType::kI32});
  k.if_(
      k.eq(k.local(), 1), [&] { k.stop(); }, [&] { k.assign(v, i32(0)); });
  t.give(i32(0));
  k.if_(k.lt(k.read(v), 4), [&] { t.give(k.load(PrimType::kI32, t.out, k.read(v))); });
  k.for_(k.read(v), [](const Value&) {});
  t.give(k.select(k.eq(k.read(v), 1), i32(1), i32(2)));
  EXPECT_EQ(t.error(), "");
}

TEST(KirStop, AfterAFailureAKernelHasNoEffect) {
  PerThread t(4, PrimType::kI32);
  t.options.stop_after = 0;
  t.options.subgroup_size = 4;
  Builder& k = t.k;
  const Value flag = t.array<int32_t>("flag", {0});
  const SharedId s = k.shared("s", PrimType::kI32, {4});
  k.store(s, k.local(), k.local());
  k.barrier();
  k.while_(  // ends, though nobody sets it
      [&] {
        return k.eq(k.atomic(AtomicOp::kLoad, PrimType::kI32, {flag, i32(0)}), 0);
      },
      [] {});
  k.for_(
      i32(2), [&](const Value&) { k.barrier(); }, /*uniform=*/true);
  t.give(k.subgroup_combine(SubgroupOp::kReduce, ScalarOp::kAdd, k.load(s, k.local())));
  k.atomic(AtomicOp::kAdd, PrimType::kI32, {flag, i32(0)}, i32(1));
  k.fail(1, {});
  const auto r = t.run();
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_FALSE(r->failure);
  EXPECT_FALSE(t.memory.defined(t.args[0].bits, 1));
  EXPECT_THAT(t.read<int32_t>("flag"), ElementsAre(0));
}

/// Thread 0 waits for what nobody does, then stores an index; after the barrier `use` gets it.
std::string stopped_by_host(uint64_t seed, const std::function<void(PerThread&, Value)>& use) {
  PerThread t(4, PrimType::kI32);
  t.options = {.subgroup_size = 4, .seed = seed, .stop_after = 3000};
  t.options.max_steps = 100'000;
  Builder& k = t.k;
  const Value flag = t.array<int32_t>("flag", {0});
  const SharedId s = k.shared("s", PrimType::kI32, {1});
  k.if_(k.eq(k.local(), 0), [&] {
    k.while_(
        [&] {
          return k.eq(k.atomic(AtomicOp::kLoad, PrimType::kI32, {flag, i32(0)}), 0);
        },
        [] {});
    k.store(s, i32(0), i32(0));
  });
  k.barrier();
  use(t, k.load(s, i32(0)));
  return t.error();
}

TEST(KirStop, TheHostStopsThreadsInTheirLoops) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_EQ(stopped_by_host(seed, [](PerThread& t, const Value& x) { t.give(x); }), "");
    // The other threads go on with what the stopped one has not written.
    EXPECT_THAT(stopped_by_host(seed, [](PerThread& t, const Value& x) { t.k.store(t.out, x, x); }),
                HasSubstr("kUndefined"));
  }
}

TEST(KirStop, AThreadThatWaitsForOneThatHasFailedStops) {
  for (uint64_t seed = 0; seed < 8; seed++) {
    PerThread t(4, PrimType::kI32);
    t.options.seed = seed;
    t.options.max_steps = 200'000;
    Builder& k = t.k;
    const Value flag = t.array<int32_t>("flag", {0});
    k.if_(k.eq(k.local(), 0), [&] {
      k.fail(3, {});
      k.atomic(AtomicOp::kStore, PrimType::kI32, {flag, i32(0)}, i32(1));
    });
    k.while_(
        [&] {
          return k.eq(k.atomic(AtomicOp::kLoad, PrimType::kI32, {flag, i32(0)}), 0);
        },
        [] {});
    k.barrier();
    t.give(k.local());
    const auto r = t.run();
    ASSERT_TRUE(r) << seed << " " << r.error().message;
    EXPECT_EQ(r->failure->number, 3);
    EXPECT_FALSE(t.memory.defined(t.args[0].bits + 4, 4)) << seed;
  }
}

}  // namespace
}  // namespace kenaz::kir
