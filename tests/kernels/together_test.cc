// Subgroups and workgroups.
#include <gmock/gmock.h>

#include <limits>

#include "tests/kernels/device_run.h"

namespace kenaz {
namespace {

using kir::Builder;
using kir::i32;
using kir::SubgroupOp;
using kir::Value;
using kir::Var;

class Subgroups : public OnDevice, public testing::WithParamInterface<int> {
 protected:
  PrimType type() const { return static_cast<PrimType>(GetParam()); }
};

struct Lanes : DeviceTest {
  PrimType type;
  Value x;
  int outs = 0;
  explicit Lanes(PrimType of) : type(of) {
    kernel.group_size.constant = kThreads;
    // Small, so that sums of halves are exact; of both signs; none of a subgroup's is the same.
    const Value n = k.sub(k.rem(k.mul(k.local(), 5), i32(16)), 7);
    x = type == PrimType::kBool ? k.lt(n, 2) : k.convert(n, type);
  }
  void give(const Value& v) {
    const size_t size = prim_size(v.type.prim);
    k.store(block("o" + std::to_string(outs++), memory.allocate(kThreads * size)), k.local(), v);
  }
};

TEST_P(Subgroups, MoveValues) {
  Lanes t(type());
  Builder& k = t.k;
  const Value around = k.rem(k.add(k.lane(), 3), k.subgroup_size());
  t.give(k.shuffle(SubgroupOp::kShuffle, t.x, around));
  t.give(k.shuffle(SubgroupOp::kShuffleXor, t.x, i32(1)));
  t.give(k.shuffle(SubgroupOp::kShuffleXor, t.x, k.sub(k.subgroup_size(), 1)));
  t.give(k.shuffle(SubgroupOp::kBroadcast, t.x, i32(3)));
  t.give(k.shuffle(SubgroupOp::kBroadcast, t.x, k.sub(k.subgroup_size(), 1)));
  const Value up = k.shuffle(SubgroupOp::kShuffleUp, t.x, i32(2));
  t.give(k.select(k.lt(k.lane(), 2), t.x, up));
  const Value down = k.shuffle(SubgroupOp::kShuffleDown, t.x, i32(1));
  t.give(k.select(k.eq(k.lane(), k.sub(k.subgroup_size(), 1)), t.x, down));
  run_on_both(t);
}

TEST_P(Subgroups, CombineValues) {
  Lanes t(type());
  Builder& k = t.k;
  for (const ScalarOp op : {ScalarOp::kAdd, ScalarOp::kMul, ScalarOp::kMin, ScalarOp::kMax,
                            ScalarOp::kAnd, ScalarOp::kOr, ScalarOp::kXor}) {
    if (!scalar_op_accepts(op, type())) continue;
    // A product of eight floats is not exact.
    const bool product = op == ScalarOp::kMul && is_float(type());
    const Value x = product ? k.convert(k.select(k.lt(k.lane(), 3), i32(-1), i32(2)), type()) : t.x;
    for (const SubgroupOp kind :
         {SubgroupOp::kReduce, SubgroupOp::kInclusive, SubgroupOp::kExclusive}) {
      t.give(k.subgroup_combine(kind, op, x));
    }
  }
  run_on_both(t);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Subgroups, testing::Range(0, kPrimTypeCount),
                         [](const auto& info) {
                           return std::string(prim_name(static_cast<PrimType>(info.param)));
                         });

using Together = OnDevice;

// Of a subgroup that has none, of one that has few, of one that has only NaNs.
TEST_F(Together, ExtremaOfNaNs) {
  for (const PrimType type : {PrimType::kF16, PrimType::kF32, PrimType::kF64}) {
    Lanes t(type);
    Builder& k = t.k;
    const Value is_nan =
        k.or_(k.eq(k.subgroup(), 2),
              k.and_(k.eq(k.subgroup(), 1), k.ne(k.rem(k.lane(), i32(4)), i32(3))));
    const Value nan = PrimValue::of_float(type, std::numeric_limits<double>::quiet_NaN());
    const Value x = k.select(is_nan, nan, t.x);
    for (const ScalarOp op : {ScalarOp::kMin, ScalarOp::kMax}) {
      for (const SubgroupOp kind :
           {SubgroupOp::kReduce, SubgroupOp::kInclusive, SubgroupOp::kExclusive}) {
        t.give(k.subgroup_combine(kind, op, x));
      }
    }
    run_on_both(t);
  }
}

TEST_F(Together, Votes) {
  Lanes t(PrimType::kI32);
  Builder& k = t.k;
  for (const Value& b : {k.lt(t.x, 3), k.lt(t.x, 100), k.lt(t.x, -100), k.eq(k.lane(), 5)}) {
    for (const SubgroupOp op :
         {SubgroupOp::kCount, SubgroupOp::kRank, SubgroupOp::kAny, SubgroupOp::kAll}) {
      t.give(k.vote(op, b));
    }
    for (int word = 0; word < kir::kBallotWords; word++) t.give(k.ballot(b, word));
  }
  run_on_both(t);
}

// A workgroup's scan: subgroups, their sums over shared memory, and back.
TEST_F(Together, AScan) {
  Lanes t(PrimType::kI64);
  Builder& k = t.k;
  const auto sums = k.shared("sums", PrimType::kI64, {kThreads});
  const Value mine = k.subgroup_combine(SubgroupOp::kInclusive, ScalarOp::kAdd, t.x);
  k.if_(k.eq(k.lane(), k.sub(k.subgroup_size(), 1)), [&] { k.store(sums, k.subgroup(), mine); });
  k.barrier();
  const Var before = k.declare(kir::i64(0));
  k.for_(k.subgroup(), [&](Value s) { k.assign(before, k.add(k.read(before), k.load(sums, s))); });
  t.give(k.add(mine, k.read(before)));
  run_on_both(t);
}

// Device memory that one thread of a workgroup stored is the others' behind a barrier.
TEST_F(Together, ABarrierIsForDeviceMemoryToo) {
  Lanes t(PrimType::kI32);
  Builder& k = t.k;
  const Value xs = t.room<int32_t>("xs", kThreads);
  k.store(xs, k.local(), t.x);
  k.for_(
      i32(5),
      [&](Value i) {
        k.barrier();
        const Value other = k.load(PrimType::kI32, xs, k.rem(k.add(k.local(), 17), i32(kThreads)));
        k.barrier();
        k.store(xs, k.local(), k.add(k.mul(other, 3), i));
      },
      true);
  run_on_both(t);
}

// A tree over shared memory, as reductions have it.
TEST_F(Together, ATree) {
  Lanes t(PrimType::kF32);
  Builder& k = t.k;
  const auto shared = k.shared("s", PrimType::kF32, {kThreads});
  k.store(shared, k.local(), t.x);
  const Var width = k.declare(i32(kThreads / 2));
  k.while_([&] { return k.lt(i32(0), k.read(width)); },
           [&] {
             k.barrier();
             const Value w = k.read(width);
             k.if_(k.lt(k.local(), w), [&] {
               k.store(shared, k.local(),
                       k.add(k.load(shared, k.local()), k.load(shared, k.add(k.local(), w))));
             });
             k.assign(width, k.quot(w, i32(2)));
           },
           true);
  k.barrier();
  t.give(k.load(shared, i32(0)));
  run_on_both(t);
}

}  // namespace
}  // namespace kenaz
