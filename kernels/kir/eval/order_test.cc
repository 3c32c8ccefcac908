// Races, and threads that do not meet: found under every seed, and what comes near to them is fine.
#include "kernels/kir/eval/fault_testing.h"

namespace kenaz::kir {
namespace {

// ---- races

TEST(KirOrder, UnorderedAccessesOfOnePlaceAreARace) {
  const Build wrong[] = {
      [](Parts& p) { p.k.store(p.s, i32(0), p.me); },
      [](Parts& p) { p.k.store(p.s, i32(0), i32(1)); },  // the same value is no excuse
      [](Parts& p) { p.k.store(p.out, i32(3), i32(1)); },
      [](Parts& p) { p.k.store(p.out, i32(3), i32(1)), p.k.barrier(); },
      [](Parts& p) {
        p.k.store(p.s, p.me, p.me);
        p.k.load(p.s, p.k.sub(i32(7), p.me));
      },
      [](Parts& p) {  // read, then written: the other way round
        p.k.load(PrimType::kI32, p.in, i32(5));
        p.k.if_(p.k.eq(p.me, 5), [&] { p.k.store(p.in, i32(5), i32(1)); });
      },
      [](Parts& p) {  // not every access is atomic
        p.k.if_(
            p.k.eq(p.me, 0), [&] { p.k.store(p.in, i32(0), i32(1)); },
            [&] {
              p.k.atomic(AtomicOp::kAdd, PrimType::kI32, {p.in, i32(0)}, i32(1));
            });
      },
      [](Parts& p) {
        p.k.atomic(AtomicOp::kAdd, PrimType::kI32, {p.in, i32(0)}, i32(1));
        p.k.load(PrimType::kI32, p.in, i32(0));
      },
      [](Parts& p) {  // a vector covers its neighbours
        p.k.if_(
            p.k.eq(p.me, 0),
            [&] {
              p.k.load({PrimType::kI32, 4}, {p.in, i32(0)});
            },
            [&] { p.k.store(p.in, p.me, i32(1)); });
      },
      [](Parts& p) {  // a word covers its bytes
        p.k.if_(
            p.k.eq(p.me, 0), [&] { p.k.load(PrimType::kI32, p.in, i32(0)); },
            [&] {
              p.k.if_(p.k.eq(p.me, 1),
                      [&] { p.k.store(p.in, i32(3), Value(PrimValue::of_bool(true))); });
            });
      },
  };
  for (const Build& build : wrong) expect_fault("kRace", build);
}

TEST(KirOrder, OrderedOrDistinctAccessesAreNoRace) {
  expect_fine([](Parts& p) {  // neighbours
    p.k.store(p.out, p.me, p.me);
    p.k.store(p.k.add(p.in, 0), p.me, Value(PrimValue::of_bool(true)));
  });
  expect_fine([](Parts& p) {  // a barrier between
    p.k.store(p.s, p.me, p.me);
    p.k.barrier();
    const Value x = p.k.load(p.s, p.k.sub(i32(7), p.me));
    p.k.barrier();
    p.k.store(p.s, p.me, x);
  });
  expect_fine([](Parts& p) {  // device memory within a workgroup, too
    p.k.store(p.out, p.me, p.me);
    p.k.barrier();
    p.k.load(PrimType::kI32, p.out, i32(0));
  });
  expect_fine([](Parts& p) {
    p.k.load(PrimType::kI32, p.in, i32(0));
    p.k.atomic(AtomicOp::kMax, PrimType::kI32, {p.in, i32(1)}, p.me);
    p.k.atomic(AtomicOp::kLoad, PrimType::kI32, {p.in, i32(1)});
  });
}

TEST(KirOrder, OneByteFromTheOtherIsNoRaceAfterWideAccesses) {
  expect_fine([](Parts& p) {
    p.k.if_(p.k.eq(p.me, 0), [&] {
      p.k.store(Address{p.in, i32(0)}, p.k.compose({p.me, p.me, p.me, p.me}));
    });
    p.k.barrier();
    p.k.store(p.in, p.me, Value(PrimValue::of_int(PrimType::kU8, 1)));
    p.k.barrier();
    p.k.load(PrimType::kI32, p.in, i32(0));
  });
}

TEST(KirOrder, BarriersDoNotOrderWorkgroups) {
  for (int concurrent : {1, 2}) {
    expect_fault("kRace", [=](Parts& p) {
      p.t.groups = 2;
      p.t.options.concurrent_groups = concurrent;
      p.k.store(p.out, p.me, p.me);
      p.k.barrier();
      p.k.barrier();
    });
  }
  expect_fine([](Parts& p) {
    p.t.groups = 2;
    p.k.load(PrimType::kI32, p.in, p.me);
    p.k.store(p.s, p.me, p.me);
    p.k.if_(p.k.eq(p.k.group(), p.k.sub(p.k.groups(), 1)), [&] { p.k.store(p.out, p.me, p.me); });
  });
}

// ---- meetings

TEST(KirOrder, AllThreadsMeetAtOneBarrier) {
  const Build wrong[] = {
      [](Parts& p) { p.k.if_(p.k.lt(p.me, 4), [&] { p.k.barrier(); }); },
      [](Parts& p) {
        p.k.if_(
            p.k.lt(p.me, 4), [&] { p.k.barrier(); }, [&] { p.k.barrier(); });
      },
      [](Parts& p) {  // as often, in another iteration
        p.k.for_(i32(2), [&](const Value& i) {
          p.k.if_(p.k.eq(i, p.k.quot(p.me, i32(4))), [&] { p.k.barrier(); });
        });
      },
      [](Parts& p) { p.k.for_(p.me, [&](const Value&) { p.k.barrier(); }); },
      [](Parts& p) {  // one waits for its subgroup, the others for all
        p.k.if_(
            p.k.eq(p.me, 0), [&] { p.k.vote(SubgroupOp::kAny, boolean(true)); },
            [&] { p.k.barrier(); });
      },
  };
  for (const Build& build : wrong) expect_fault("kDivergentBarrier", build);
  expect_fine([](Parts& p) {
    p.k.if_(p.k.lt(p.k.group_size(), 9), [&] { p.k.barrier(); });
    p.k.for_(i32(3), [&](const Value&) { p.k.barrier(), p.k.barrier(); });
  });
}

TEST(KirOrder, AllThreadsOfASubgroupMeet) {
  const auto any = [](Parts& p) { p.k.vote(SubgroupOp::kAny, boolean(true)); };
  expect_fault("kDivergentSubgroup", [&](Parts& p) { p.k.if_(p.k.lt(p.me, 3), [&] { any(p); }); });
  expect_fault("kDivergentSubgroup", [&](Parts& p) {
    p.k.if_(
        p.k.lt(p.me, 3), [&] { any(p); }, [&] { any(p); });
  });
  expect_fault("kDivergentSubgroup", [&](Parts& p) {
    p.k.for_(i32(4), [&](const Value& i) { p.k.if_(p.k.eq(i, p.k.lane()), [&] { any(p); }); });
  });
  expect_fault("kDivergentSubgroup",
               [](Parts& p) { p.k.shuffle(SubgroupOp::kBroadcast, p.me, p.k.lane()); });
  expect_fine([&](Parts& p) {  // one subgroup may go where the other does not
    p.k.if_(p.k.lt(p.me, 4), [&] { any(p); });
    p.k.shuffle(SubgroupOp::kBroadcast, p.me, p.k.subgroup());
  });
}

TEST(KirOrder, AStoppedThreadDoesNotPassABranchThatMeetsByChance) {
  const auto build = [](bool meets) {
    return [=](Parts& p) {
      Builder& k = p.k;
      const Var v = k.declare(Type{PrimType::kI32});
      k.if_(
          k.eq(p.me, 3), [&] { k.stop(); }, [&] { k.assign(v, i32(0)); });
      k.if_(k.lt(k.read(v), 1), [&] {
        if (meets) k.barrier();
      });
    };
  };
  expect_fine(build(false));
  expect_fault("kUndefined", build(true));
}

}  // namespace
}  // namespace kenaz::kir
