// Vectors, shared memory, atomics, arguments and the grid.
#include <gmock/gmock.h>

#include "tests/kernels/device_run.h"

namespace kenaz {
namespace {

using kir::Address;
using kir::AtomicOp;
using kir::AtomicOrder;
using kir::Builder;
using kir::i32;
using kir::i64;
using kir::Order;
using kir::Value;
using kir::Values;
using kir::Var;

std::vector<uint8_t> bytes(size_t n) {
  std::vector<uint8_t> v(n);
  for (size_t k = 0; k < n; k++) v[k] = static_cast<uint8_t>(k * 37 + k / 50 + 3);
  return v;
}

/// Bytes that are no NaN when they are taken for floats of the type, which might not stay the same.
std::vector<uint8_t> bytes_of(PrimType type, size_t n) {
  std::vector<uint8_t> v = bytes(n * prim_size(type));
  for (size_t k = 0; k < v.size(); k++) {
    if (type == PrimType::kBool) v[k] &= 1;
    if (is_float(type) && k % prim_size(type) == static_cast<size_t>(prim_size(type)) - 1)
      v[k] = 0x40;
  }
  return v;
}

class MemoryOf : public OnDevice, public testing::WithParamInterface<int> {
 protected:
  PrimType type() const { return static_cast<PrimType>(GetParam()); }
};

TEST_P(MemoryOf, VectorsLoadAndStore) {
  for (const uint8_t lanes : {1, 2, 4}) {
    for (const Order order : {Order::kPlain, Order::kCoherent}) {
      DeviceTest t;
      Builder& k = t.k;
      t.kernel.group_size.constant = kThreads;
      const Value xs = t.array("xs", bytes_of(type(), kThreads * lanes));
      const Value ys = t.array("ys", bytes_of(type(), kThreads * lanes));
      const Value at = k.mul(k.local(), lanes);
      const Value x = k.load({type(), lanes}, {xs, at}, order);
      const Value y = k.load({type(), lanes}, {ys, k.sub(i32((kThreads - 1) * lanes), at)});
      Values mixed;
      for (int n = 0; n < lanes; n++) {
        mixed.push_back(n % 2 == 0 ? k.extract(x, lanes - 1 - n) : k.extract(y, n));
      }
      k.barrier();
      k.store({ys, k.to_i64(at)}, k.compose(mixed), order);
      run_on_both(t);
    }
  }
}

TEST_P(MemoryOf, SharedMemoryIsExchangedOverBarriers) {
  for (const uint8_t lanes : {1, 2, 4}) {
    DeviceTest t;
    Builder& k = t.k;
    t.kernel.group_size.constant = kThreads;
    t.groups = 3;
    const Value xs = t.array("xs", bytes_of(type(), 3 * kThreads * lanes));
    const Value out =
        t.block("out", t.memory.allocate(size_t{3} * kThreads * lanes * prim_size(type())));
    const auto shared = k.shared("s", type(), {kThreads * lanes});
    const Value at = k.mul(k.global(), lanes);
    k.store({shared, k.mul(k.local(), lanes)}, k.load({type(), lanes}, {xs, at}));
    k.barrier();
    const Value other = k.mul(k.sub(i32(kThreads - 1), k.local()), lanes);
    k.store({out, at}, k.load({type(), lanes}, {shared, other}));
    run_on_both(t);
  }
}

TEST_P(MemoryOf, SharedArraysOfVectorsAreExchanged) {
  for (const uint8_t lanes : {2, 4}) {
    DeviceTest t;
    Builder& k = t.k;
    t.kernel.group_size.constant = kThreads;
    const Value xs = t.array("xs", bytes_of(type(), kThreads * lanes));
    const Value out =
        t.block("out", t.memory.allocate(size_t{kThreads} * lanes * prim_size(type())));
    const auto shared = k.shared("s", type(), {kThreads}, lanes);
    const Value at = k.mul(k.local(), lanes);
    k.store(shared, k.local(), k.load({type(), lanes}, {xs, at}));
    k.barrier();
    k.store({out, at}, k.load(shared, k.sub(i32(kThreads - 1), k.local())));
    run_on_both(t);
  }
}

TEST_P(MemoryOf, ArgumentsComeAsTheyAre) {
  for (const int more : {0, 20}) {  // in push constants, and in memory
    DeviceTest t;
    Builder& k = t.k;
    t.kernel.group_size.constant = 1;
    const Value out = t.block("out", t.memory.allocate(size_t{3} * prim_size(type())));
    int at = 0;
    for (const int64_t n : {-3, 77, 1}) {
      for (int e = 0; e < more / 3; e++) t.scalar("extra", PrimValue::i64(e));
      const PrimValue v = is_float(type()) ? PrimValue::of_float(type(), static_cast<double>(n) / 4)
                          : type() == PrimType::kBool ? PrimValue::of_bool(n > 0)
                                                      : PrimValue::of_int(type(), n);
      k.store(out, i32(at++), t.scalar("x", v));
    }
    run_on_both(t);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MemoryOf, testing::Range(0, kPrimTypeCount),
                         [](const auto& info) {
                           return std::string(prim_name(static_cast<PrimType>(info.param)));
                         });

// ---- atomics

using Atomics = OnDevice;

constexpr PrimType kAtomicTypes[] = {PrimType::kI32, PrimType::kU32, PrimType::kI64,
                                     PrimType::kU64};
constexpr AtomicOrder kOrders[] = {AtomicOrder::kRelaxed, AtomicOrder::kAcquire,
                                   AtomicOrder::kRelease, AtomicOrder::kAcquireRelease};

/// What all threads did, whatever their order was.
TEST_F(Atomics, CombineWhatAllThreadsGive) {
  for (const PrimType type : kAtomicTypes) {
    for (const bool in_shared : {false, true}) {
      for (const AtomicOrder order : kOrders) {
        DeviceTest t;
        Builder& k = t.k;
        t.kernel.group_size.constant = kThreads;
        t.groups = in_shared ? 1 : 5;
        std::vector<int64_t> start{0, 1'000'000, -1'000'000, -1, 0, 0x5555};
        std::vector<int32_t> narrow(start.begin(), start.end());
        const Value out = prim_size(type) == 8 ? t.array("out", start) : t.array("out", narrow);
        const auto shared = k.shared("s", type, {6});
        if (in_shared) {
          k.if_(k.lt(k.local(), 6),
                [&] { k.store(shared, k.local(), k.load(type, out, k.local())); });
        }
        k.barrier();
        const Value x = k.convert(k.sub(k.mul(k.global(), 977), 30'000), type);
        const AtomicOp ops[] = {AtomicOp::kAdd, AtomicOp::kMin, AtomicOp::kMax,
                                AtomicOp::kAnd, AtomicOp::kOr,  AtomicOp::kXor};
        for (int n = 0; n < 6; n++) {
          const Address at = in_shared ? Address{shared, i32(n)} : Address{out, i32(n)};
          k.atomic(ops[n], type, at, x, order);
        }
        k.barrier();
        if (in_shared) {
          k.if_(k.lt(k.local(), 6), [&] { k.store(out, k.local(), k.load(shared, k.local())); });
        }
        run_on_both(t);
      }
    }
  }
}

// The old values, each thread at a place of its own.
TEST_F(Atomics, GiveTheOldValue) {
  for (const PrimType type : kAtomicTypes) {
    for (const bool in_shared : {false, true}) {
      DeviceTest t;
      Builder& k = t.k;
      t.kernel.group_size.constant = kThreads;
      const size_t size = prim_size(type);
      const Value xs = t.array("xs", bytes(kThreads * size));
      const Value out = t.block("out", t.memory.allocate(size * kThreads * 12));
      const auto shared = k.shared("s", type, {kThreads});
      k.store(shared, k.local(), k.load(type, xs, k.local()));
      const Address at = in_shared ? Address{shared, k.local()} : Address{xs, k.local()};
      const Value x = k.convert(k.mul(k.local(), 40'503), type);
      int n = 0;
      const auto give = [&](const Value& v) { k.store(out, k.add(k.local(), kThreads * n++), v); };
      for (const AtomicOp op : {AtomicOp::kExchange, AtomicOp::kAdd, AtomicOp::kMin, AtomicOp::kMax,
                                AtomicOp::kAnd, AtomicOp::kXor, AtomicOp::kOr}) {
        give(k.atomic(op, type, at, x));
      }
      const Value now = k.atomic(AtomicOp::kLoad, type, at, {}, AtomicOrder::kAcquire);
      give(now);
      give(k.compare_and_swap(type, at, now, x));            // stores
      give(k.compare_and_swap(type, at, k.add(x, 1), now));  // does not
      k.atomic(AtomicOp::kStore, type, at, k.add(x, 5), AtomicOrder::kRelease);
      give(k.atomic(AtomicOp::kLoad, type, at));
      run_on_both(t);
    }
  }
}

// Sums that no order changes: of small whole numbers, of what is subnormal, of zeros with signs.
TEST_F(Atomics, SumFloatsWhereTheDeviceDoes) {
  const device::Info& info = device().info();
  for (const bool in_shared : {false, true}) {
    const bool has = in_shared ? info.shared_float32_atomic_add : info.float32_atomic_add;
    if (!has) continue;
    DeviceTest t;
    Builder& k = t.k;
    t.kernel.group_size.constant = kThreads;
    t.groups = in_shared ? 1 : 5;
    const auto small = [](uint32_t bits) { return PrimValue{PrimType::kF32, bits}; };
    const std::vector<float> start{0, -100, -0.0f, 0, 0};
    const Value out = t.array("out", start);
    const auto shared = k.shared("s", PrimType::kF32, {5});
    if (in_shared) {
      k.if_(k.lt(k.local(), 5),
            [&] { k.store(shared, k.local(), k.load(PrimType::kF32, out, k.local())); });
    }
    k.barrier();
    // Whole numbers whose sums are exact in any order.
    const Value number = k.convert(k.sub(k.mul(k.global(), 97), 3000), PrimType::kF32);
    const Values xs{number, PrimValue::of_float(PrimType::kF32, 0.5), small(0x80000000), small(3),
                    PrimValue::of_float(PrimType::kF32, __builtin_inf())};
    for (int n = 0; n < 5; n++) {
      const Address at = in_shared ? Address{shared, i32(n)} : Address{out, i32(n)};
      k.atomic(AtomicOp::kAdd, PrimType::kF32, at, xs[n]);
    }
    k.barrier();
    if (in_shared) {
      k.if_(k.lt(k.local(), 5), [&] { k.store(out, k.local(), k.load(shared, k.local())); });
    }
    run_on_both(t);
  }
}

// The last of the workgroups sees what all of them have stored.
TEST_F(Atomics, AReleaseIsSeenByWhoAcquires) {
  for (const bool fences : {false, true}) {
    DeviceTest t;
    Builder& k = t.k;
    t.kernel.group_size.constant = kThreads;
    t.groups = 20;
    const Value partial = t.room<int64_t>("partial", 20), out = t.room<int64_t>("out", 1);
    const Value counter = t.array("counter", std::vector<uint32_t>{0});
    const auto is_last = k.shared("is_last", PrimType::kBool, {1});
    k.if_(k.eq(k.local(), 0), [&] {
      k.store({partial, k.group()}, k.mul(k.group(), 3), Order::kCoherent);
      if (fences) k.fence(kir::Scope::kDevice);
      const Value old = k.atomic(AtomicOp::kAdd, PrimType::kU32, {counter, i32(0)},
                                 PrimValue::of_int(PrimType::kU32, 1),
                                 fences ? AtomicOrder::kRelaxed : AtomicOrder::kAcquireRelease);
      if (fences) k.fence(kir::Scope::kDevice);
      k.store(is_last, i32(0), k.eq(old, 19));
    });
    k.barrier();
    k.if_(k.and_(k.load(is_last, i32(0)), k.eq(k.local(), 0)), [&] {
      const Var sum = k.declare(i64(0));
      k.for_(i64(20), [&](Value g) {
        k.assign(sum, k.add(k.read(sum), k.load({PrimType::kI64}, {partial, g}, Order::kCoherent)));
      });
      k.store(out, i32(0), k.read(sum));
    });
    t.options.concurrent_groups = 4;
    run_on_both(t);
    EXPECT_EQ(t.read<int64_t>("out")[0], 570);
  }
}

// ---- the grid

using Grid = OnDevice;

TEST_F(Grid, MoreWorkgroupsThanOneDimensionHolds) {
  DeviceTest t;
  Builder& k = t.k;
  t.kernel.group_size.constant = 8;
  t.groups = 70'003;
  const Value out = t.room<int32_t>("out", static_cast<size_t>(t.groups));
  k.if_(k.eq(k.local(), 3), [&] { k.store(out, k.group(), k.to_i32(k.group())); });
  run_on_device(t);
  const auto got = t.read<int32_t>("out");
  for (int32_t g = 0; g < 70'003; g++) ASSERT_EQ(got[g], g);
}

TEST_F(Grid, BuiltinsTellAThreadWhereItIs) {
  DeviceTest t;
  Builder& k = t.k;
  t.kernel.group_size.constant = kThreads;
  t.groups = 3;
  constexpr int kBuiltins = 8;
  const Value out = t.room<int64_t>("out", size_t{3} * kThreads * kBuiltins);
  for (int b = 0; b < kBuiltins; b++) {
    const Value v = k.to_i64(k.builtin(static_cast<kir::BuiltinKind>(b)));
    k.store(out, k.add(k.mul(k.global(), kBuiltins), b), v);
  }
  run_on_both(t);
}

TEST_F(Grid, SpecialisationConstants) {
  for (const bool given : {false, true}) {
    DeviceTest t;
    Builder& k = t.k;
    const Value flag = k.spec("flag", PrimValue::of_bool(false));
    const Value size = k.spec("size", PrimValue::i32(32));
    const Value items = k.spec("items", PrimValue::i32(2));
    t.kernel.group_size = {1, 1};
    if (given) t.options.specs = {PrimValue::of_bool(true), PrimValue::i32(64), PrimValue::i32(5)};
    const Value out = t.room<int32_t>("out", 64 * 5);
    const auto shared = k.shared("s", PrimType::kI32, {5, 1});
    k.for_(items, [&](Value i) {
      const Value at = k.add(k.local(), k.mul(i, size));
      k.store(shared, at, k.add(k.mul(at, 10), k.select(flag, i32(1), i32(2))));
    });
    k.barrier();
    k.for_(items, [&](Value i) {
      const Value at = k.add(k.local(), k.mul(i, k.group_size()));
      k.store(out, at, k.load(shared, k.sub(k.sub(k.mul(size, items), 1), at)));
    });
    run_on_both(t);
    EXPECT_EQ(t.read<int32_t>("out")[0], given ? 3191 : 632);
  }
}

}  // namespace
}  // namespace kenaz
