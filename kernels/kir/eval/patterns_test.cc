// Whole algorithms, as kernels have them: their results do not depend on the interleaving, and
// what is wrong with a variant is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "kernels/kir/eval/testing.h"

namespace kenaz::kir {
namespace {

using testing::StartsWith;

constexpr int kThreads = 8;

struct Manner {
  uint64_t seed;
  int subgroup, concurrent;
};

std::vector<Manner> manners() {
  std::vector<Manner> out;
  for (uint64_t seed = 0; seed < 24; seed++) {
    for (int subgroup : {1, 4, 8}) out.push_back({seed, subgroup, 1 + static_cast<int>(seed % 4)});
  }
  return out;
}

void set(KernelTest& t, const Manner& m) {
  t.options.seed = m.seed;
  t.options.lock_step = m.seed >= 16;
  t.options.subgroup_size = m.subgroup;
  t.options.concurrent_groups = m.concurrent;
  t.options.max_steps = 1'000'000;
  t.kernel.group_size.constant = kThreads;
}

std::vector<int32_t> numbers(size_t n) {
  std::vector<int32_t> out(n);
  for (size_t k = 0; k < n; k++) out[k] = static_cast<int32_t>(k * k % 101) - 30;
  return out;
}

/// The sum of the threads' values, in thread 0: subgroups first, then a tree in shared memory.
Value group_sum(Builder& k, const Value& value, bool with_barriers = true) {
  const SharedId s = k.shared("tree", PrimType::kI32, {kThreads});
  k.store(s, k.local(), k.subgroup_combine(SubgroupOp::kReduce, ScalarOp::kAdd, value));
  if (with_barriers) k.barrier();
  const Value of_all = k.subgroups();
  const Var n = k.declare(of_all);
  // One slot per subgroup counts: that of its lane 0.
  k.while_([&] { return k.lt(i32(1), k.read(n)); },
           [&] {
             const Value half = k.lshr(k.add(k.read(n), 1), i32(1));
             const Value other = k.add(k.local(), half);
             k.if_(k.lt(other, k.read(n)), [&] {
               const Value a = k.mul(k.local(), k.subgroup_size());
               const Value b = k.mul(other, k.subgroup_size());
               k.store(s, a, k.add(k.load(s, a), k.load(s, b)));
             });
             if (with_barriers) k.barrier();
             k.assign(n, half);
           },
           /*uniform=*/true);
  return k.load(s, i32(0));
}

TEST(KirPatterns, ATreeReductionIsRight) {
  const std::vector<int32_t> in = numbers(kThreads * 3);
  for (const Manner& m : manners()) {
    KernelTest t;
    set(t, m);
    t.groups = 3;
    const Value data = t.array("in", in), out = t.room<int32_t>("out", 3);
    Builder& k = t.k;
    const Value sum = group_sum(k, k.load(PrimType::kI32, data, k.global()));
    k.if_(k.eq(k.local(), 0), [&] { k.store(out, k.group(), sum); });
    ASSERT_EQ(t.error(), "") << m.seed << " " << m.subgroup;
    for (int g = 0; g < 3; g++) {
      EXPECT_EQ(t.read<int32_t>("out")[g],
                std::accumulate(in.begin() + g * kThreads, in.begin() + (g + 1) * kThreads, 0));
    }
  }
}

TEST(KirPatterns, ATreeReductionWithoutBarriersIsNot) {
  for (const Manner& m : manners()) {
    if (m.subgroup == kThreads) continue;
    KernelTest t;
    set(t, m);
    group_sum(t.k, t.k.local(), false);
    EXPECT_THAT(t.error(), StartsWith("kRace")) << m.seed << " " << m.subgroup;
  }
}

// ---- the last workgroup folds the others' results

struct Ticket {
  AtomicOrder order = AtomicOrder::kAcquireRelease;
  bool fence_before = false, fence_behind = false;
  bool reader_fences = false;  // the thread that reads, behind the barrier
  Scope scope = Scope::kDevice;
  bool all_fence = false;  // all threads, before the barrier
  bool atomic = true;
  Order stores = Order::kCoherent, loads = Order::kCoherent;
  bool all_store = false;  // all threads store a part, not thread 0 alone
  bool barrier = true;     // between the stores and the ticket
  bool reset = true;
};

void last_group(KernelTest& t, const Ticket& v, const std::vector<int32_t>& in) {
  constexpr int64_t kGroups = 5;
  t.groups = kGroups;
  const Value data = t.array("in", in), out = t.room<int32_t>("out", 1);
  const Value parts = t.room<int32_t>("parts", kGroups * kThreads);
  const Value ticket = t.array<int32_t>("ticket", {0});
  Builder& k = t.k;
  const SharedId is_last = k.shared("is_last", PrimType::kBool, {1});
  const Value x = k.load(PrimType::kI32, data, k.global());
  const Value first = k.eq(k.local(), 0);
  if (v.all_store) {
    k.store({parts, k.global()}, x, v.stores);
    if (v.all_fence) k.fence(v.scope);
    if (v.barrier) k.barrier();
  }
  const Value sum = v.all_store ? x : group_sum(k, x);
  k.if_(first, [&] {
    if (!v.all_store) k.store({parts, k.group()}, sum, v.stores);
    if (v.fence_before) k.fence(v.scope);
    Value mine;
    if (v.atomic) {
      mine = k.atomic(AtomicOp::kAdd, PrimType::kI32, {ticket, i32(0)}, i32(1), v.order);
    } else {
      mine = k.load({PrimType::kI32}, {ticket, i32(0)}, Order::kCoherent);
      k.store({ticket, i32(0)}, k.add(mine, 1), Order::kCoherent);
    }
    if (v.fence_behind) k.fence(v.scope);
    k.store(is_last, i32(0), k.eq(mine, kGroups - 1));
  });
  k.barrier();
  k.if_(k.and_(k.load(is_last, i32(0)), k.eq(k.local(), kThreads - 1)), [&] {
    if (v.reader_fences) k.fence(v.scope);
    const Var total = k.declare(i32(0));
    k.for_(i32(v.all_store ? kGroups * kThreads : kGroups), [&](const Value& g) {
      k.assign(total, k.add(k.read(total), k.load({PrimType::kI32}, {parts, g}, v.loads)));
    });
    k.store(out, i32(0), k.read(total));
    if (v.reset) k.store(ticket, i32(0), i32(0));
  });
}

void expect_last_group(const Ticket& v, bool is_right) {
  const std::vector<int32_t> in = numbers(kThreads * 5);
  for (const Manner& m : manners()) {
    KernelTest t;
    set(t, m);
    last_group(t, v, in);
    if (!is_right) {
      EXPECT_THAT(t.error(), StartsWith("kRace")) << m.seed << " " << m.subgroup;
      continue;
    }
    ASSERT_EQ(t.error(), "") << m.seed << " " << m.subgroup;
    EXPECT_EQ(t.read<int32_t>("out")[0], std::accumulate(in.begin(), in.end(), 0));
    EXPECT_EQ(t.read<int32_t>("ticket")[0], 0);
  }
}

constexpr Ticket kFences{
    .order = AtomicOrder::kRelaxed, .fence_before = true, .fence_behind = true};

TEST(KirPatterns, TheLastWorkgroupSeesTheOthersByAcquireAndRelease) {
  expect_last_group({}, true);
  expect_last_group({.all_store = true}, true);
}
TEST(KirPatterns, TheLastWorkgroupSeesTheOthersByFences) {
  expect_last_group(kFences, true);
  Ticket v = kFences;
  v.all_store = true;
  expect_last_group(v, true);
  v.all_fence = true;  // on the other side of the barrier
  v.fence_before = false;
  v.fence_behind = false;
  v.reader_fences = true;
  expect_last_group(v, true);
}
TEST(KirPatterns, ATicketWithoutReleaseIsFound) {
  expect_last_group({.order = AtomicOrder::kAcquire}, false);
  Ticket v = kFences;
  v.fence_before = false;
  expect_last_group(v, false);
}
TEST(KirPatterns, ATicketWithoutAcquireIsFound) {
  expect_last_group({.order = AtomicOrder::kRelease}, false);
  Ticket v = kFences;
  v.fence_behind = false;
  expect_last_group(v, false);
}
TEST(KirPatterns, ATicketWithAFenceOfTheWorkgroupIsFound) {
  Ticket v = kFences;
  v.scope = Scope::kWorkgroup;
  expect_last_group(v, false);
}
TEST(KirPatterns, ATicketThatIsNotAtomicIsFound) {
  expect_last_group({.fence_before = true, .fence_behind = true, .atomic = false}, false);
}
TEST(KirPatterns, PlainAccessesAcrossWorkgroupsAreFound) {
  expect_last_group({.stores = Order::kPlain}, false);
  expect_last_group({.loads = Order::kPlain}, false);
}
TEST(KirPatterns, AMissingBarrierBeforeTheTicketIsFound) {
  expect_last_group({.all_store = true, .barrier = false}, false);
}

// ---- decoupled look-back

enum class Wrong : uint8_t { kNothing, kNoRelease, kNoAcquire, kPlainStatus, kNoTicket };

/// The inclusive sums of the threads' values, in `s`.
void group_scan(Builder& k, SharedId s, const Value& value) {
  k.store(s, k.local(), value);
  for (int step = 1; step < kThreads; step *= 2) {
    k.barrier();
    const Var x = k.declare(k.load(s, k.local()));
    k.if_(k.le(i32(step), k.local()),
          [&] { k.assign(x, k.add(k.read(x), k.load(s, k.sub(k.local(), step)))); });
    k.barrier();
    k.store(s, k.local(), k.read(x));
  }
  k.barrier();
}

/// One element per thread; tile by tile an inclusive sum. A tile's status: 0 none, 1 its sum is
/// known, 2 that of all up to it.
void look_back(KernelTest& t, const std::vector<int32_t>& in, Wrong wrong) {
  const auto tiles = static_cast<int64_t>(in.size()) / kThreads;
  t.groups = tiles;
  t.kernel.needs_progress = true;
  const std::vector<int32_t> zeros(static_cast<size_t>(tiles));
  const Value data = t.array("in", in), out = t.room<int32_t>("out", in.size());
  const Value status = t.array("status", zeros);
  const Value sums = t.room<int32_t>("sums", zeros.size() * 2);
  const Value ticket = t.array<int32_t>("ticket", {0});
  Builder& k = t.k;
  const SharedId s = k.shared("scan", PrimType::kI32, {kThreads});
  const SharedId facts = k.shared("facts", PrimType::kI32, {2});  // tile, sum of those before
  const Value first = k.eq(k.local(), 0);
  const auto release = wrong == Wrong::kNoRelease ? AtomicOrder::kRelaxed : AtomicOrder::kRelease;
  const auto acquire = wrong == Wrong::kNoAcquire ? AtomicOrder::kRelaxed : AtomicOrder::kAcquire;
  k.if_(first, [&] {
    const Value n = k.atomic(AtomicOp::kAdd, PrimType::kI32, {ticket, i32(0)}, i32(1));
    k.store(facts, i32(0), wrong == Wrong::kNoTicket ? k.to_i32(k.group()) : n);
  });
  k.barrier();
  const Value tile = k.load(facts, i32(0));
  const Value at = k.add(k.mul(tile, kThreads), k.local());
  group_scan(k, s, k.load(PrimType::kI32, data, at));
  const auto publish = [&](int which, const Value& sum) {
    k.store({sums, k.add(k.mul(tile, 2), which - 1)}, sum, Order::kCoherent);
    if (wrong == Wrong::kPlainStatus) {
      k.store({status, tile}, i32(which), Order::kCoherent);
    } else {
      k.atomic(AtomicOp::kStore, PrimType::kI32, {status, tile}, i32(which), release);
    }
  };
  k.if_(first, [&] {
    const Value mine = k.load(s, i32(kThreads - 1));
    publish(1, mine);
    const Var before = k.declare(i32(0));
    const Var j = k.declare(k.sub(tile, 1));
    k.while_([&] { return k.le(i32(0), k.read(j)); },
             [&] {
               const Value i = k.read(j);
               const Value is = k.atomic(AtomicOp::kLoad, PrimType::kI32, {status, i}, {}, acquire);
               k.if_(k.lt(i32(0), is), [&] {
                 const Value where = k.add(k.mul(i, 2), k.sub(is, 1));
                 const Value x = k.load({PrimType::kI32}, {sums, where}, Order::kCoherent);
                 k.assign(before, k.add(k.read(before), x));
                 k.assign(j, k.select(k.eq(is, 2), i32(-1), k.sub(i, 1)));
               });
             });
    publish(2, k.add(k.read(before), mine));
    k.store(facts, i32(1), k.read(before));
  });
  k.barrier();
  k.store(out, at, k.add(k.load(facts, i32(1)), k.load(s, k.local())));
}

void expect_sums(Wrong wrong, bool starts_in_order) {
  const std::vector<int32_t> in = numbers(kThreads * 9);
  std::vector<int32_t> expected(in.size());
  std::partial_sum(in.begin(), in.end(), expected.begin());
  for (const Manner& m : manners()) {
    KernelTest t;
    set(t, m);
    t.options.starts_in_order = starts_in_order;
    look_back(t, in, wrong);
    ASSERT_EQ(t.error(), "") << m.seed << " " << m.concurrent;
    EXPECT_EQ(t.read<int32_t>("out"), expected);
  }
}

TEST(KirPatterns, ALookBackScanIsRight) { expect_sums(Wrong::kNothing, false); }

TEST(KirPatterns, ALookBackScanEndsWhenTheHostStopsIt) {
  for (int64_t stop_after : {0, 500, 3000}) {
    for (const Manner& m : manners()) {
      KernelTest t;
      set(t, m);
      t.options.stop_after = stop_after;
      t.options.max_steps = 100'000;
      look_back(t, numbers(kThreads * 9), Wrong::kNothing);
      EXPECT_EQ(t.error(), "") << m.seed << " " << m.concurrent;
    }
  }
}

TEST(KirPatterns, ALookBackScanWithoutOrderIsFound) {
  for (Wrong wrong : {Wrong::kNoRelease, Wrong::kNoAcquire, Wrong::kPlainStatus}) {
    for (const Manner& m : manners()) {
      KernelTest t;
      set(t, m);
      look_back(t, numbers(kThreads * 9), wrong);
      EXPECT_THAT(t.error(), StartsWith("kRace")) << m.seed << " " << static_cast<int>(wrong);
    }
  }
}

TEST(KirPatterns, ALookBackScanThatTrustsTheOrderOfWorkgroupsIsFound) {
  int found = 0;
  for (const Manner& m : manners()) {
    KernelTest t;
    set(t, m);
    t.options.max_steps = 100'000;
    look_back(t, numbers(kThreads * 9), Wrong::kNoTicket);
    found += t.error().starts_with("kEndless") ? 1 : 0;
  }
  EXPECT_GT(found, 10);
}

TEST(KirPatterns, ALookBackScanMayTrustAnOrderThatThereIs) { expect_sums(Wrong::kNoTicket, true); }

// ---- locks

TEST(KirPatterns, ALockOrdersWhatItGuards) {
  for (const AtomicOrder order : {AtomicOrder::kAcquireRelease, AtomicOrder::kRelaxed}) {
    const bool is_right = order == AtomicOrder::kAcquireRelease;
    for (const Manner& m : manners()) {
      KernelTest t;
      set(t, m);
      t.groups = 3;
      t.options.seed += 1;  // a thread that spins must let the owner go on
      const Value lock = t.array<int32_t>("lock", {0});
      const Value sums = t.array<int32_t>("sums", {0, 0});
      Builder& k = t.k;
      const Var done = k.declare(boolean(false));
      k.while_([&] { return k.not_(k.read(done)); },
               [&] {
                 const Value old =
                     k.compare_and_swap(PrimType::kI32, {lock, i32(0)}, i32(0), i32(1), order);
                 k.if_(k.eq(old, 0), [&] {
                   for (int i = 0; i < 2; i++) {
                     const Value x = k.load({PrimType::kI32}, {sums, i32(i)}, Order::kCoherent);
                     k.store({sums, i32(i)}, k.add(x, i + 1), Order::kCoherent);
                   }
                   k.atomic(AtomicOp::kStore, PrimType::kI32, {lock, i32(0)}, i32(0), order);
                   k.assign(done, boolean(true));
                 });
               });
      if (is_right) {
        ASSERT_EQ(t.error(), "") << m.seed;
        EXPECT_EQ(t.read<int32_t>("sums"), (std::vector<int32_t>{24, 48}));
      } else {
        EXPECT_THAT(t.error(), StartsWith("kRace")) << m.seed;
      }
    }
  }
}

}  // namespace
}  // namespace kenaz::kir
