// Control flow, failures and stopped threads.
#include <gmock/gmock.h>

#include "tests/kernels/device_run.h"

namespace kenaz {
namespace {

using kir::boolean;
using kir::Builder;
using kir::i32;
using kir::i64;
using kir::SubgroupOp;
using kir::Value;
using kir::Values;
using kir::Var;

std::vector<int32_t> iota(int n, int first = 0) {
  std::vector<int32_t> v;
  for (int k = 0; k < n; k++) v.push_back(first + k);
  return v;
}

/// A workgroup whose threads each have a number in xs and a place in out.
struct PerThread : DeviceTest {
  Value xs, out, x;
  explicit PerThread(PrimType result = PrimType::kI32) {
    kernel.group_size.constant = kThreads;
    xs = array("xs", iota(kThreads, -20));
    out = block("out", memory.allocate(static_cast<size_t>(kThreads) * prim_size(result)));
    x = k.load(PrimType::kI32, xs, k.local());
  }
  void give(const Value& v) { k.store(out, k.local(), v); }
  template <class T = int32_t>
  std::vector<T> got() const {
    return read<T>("out");
  }
};

using Control = OnDevice;

TEST_F(Control, BranchesGiveValues) {
  PerThread t;
  Builder& k = t.k;
  const Values r = k.if_values(
      k.lt(t.x, 0),
      [&] {
        return Values{k.mul(t.x, t.x), i32(1)};
      },
      [&] {
        return Values{k.if_values(
                          k.lt(t.x, 10), [&] { return Values{k.add(t.x, 100)}; },
                          [&] { return Values{t.x}; })[0],
                      i32(2)};
      });
  t.give(k.mul(r[0], r[1]));
  run_on_both(t);
  EXPECT_EQ(t.got()[0], 400);
  EXPECT_EQ(t.got()[25], 210);
}

TEST_F(Control, ABranchMayHaveOnlyOneSide) {
  PerThread t;
  Builder& k = t.k;
  const Var v = k.declare(t.x);
  k.if_(k.lt(t.x, 0), [&] { k.assign(v, i32(7)); });
  k.if_(k.lt(t.x, 10), {}, [&] { k.assign(v, i32(8)); });
  t.give(k.read(v));
  run_on_both(t);
}

// What was read of a variable stays what it was when the variable changes.
TEST_F(Control, ReadingAVariableGivesItsValueThen) {
  PerThread t;
  Builder& k = t.k;
  const Var a = k.declare(t.x), b = k.declare(i32(3));
  const Value before = k.read(a), sum = k.add(k.read(a), k.read(b));
  k.assign(a, k.add(k.read(a), 1));
  const Value between = k.mul(k.read(a), 2);
  k.for_(i32(3), [&](Value i) {
    const Values both = k.read(kir::Vars{a, b});
    k.assign({a, b}, {both[1], k.add(both[0], i)});
  });
  k.if_(k.lt(t.x, 0), [&] { k.assign(b, i32(1000)); });
  t.give(k.add(k.add(before, sum), k.add(between, k.sub(k.read(a), k.read(b)))));
  run_on_both(t);
}

TEST_F(Control, LoopsOfAllSorts) {
  PerThread t(PrimType::kI64);
  Builder& k = t.k;
  const Var sum = k.declare(i64(0));
  const Value start = k.to_i64(t.x);
  k.for_(start, i64(50), i64(3), [&](Value i) { k.assign(sum, k.add(k.read(sum), i)); });
  k.for_(
      i32(0), i32(4), i32(1),
      [&](Value i) { k.assign(sum, k.add(k.mul(k.read(sum), 3), k.to_i64(i))); }, false, true);
  k.for_(
      i32(9),
      [&](Value i) {
        k.for_(k.add(i, t.x), [&](Value j) { k.assign(sum, k.xor_(k.read(sum), k.to_i64(j))); });
      },
      true);
  k.while_([&] { return k.lt(i64(1000), k.read(sum)); },
           [&] { k.assign(sum, k.quot(k.read(sum), i64(2))); });
  t.give(k.read(sum));
  run_on_both(t);
}

// Each thread makes another number of rounds, up to several times as many as a thread makes without
// a look at whether it is to stop.
TEST_F(Control, ShortLoopsOfAnyLength) {
  for (const PrimType type : {PrimType::kI32, PrimType::kU64}) {
    for (const int64_t step : {1, 3}) {
      PerThread t(PrimType::kI64);
      Builder& k = t.k;
      const Var sum = k.declare(i64(0));
      const PrimValue most = PrimValue::of_int(type, int64_t{1} << (prim_bits(type) - 2));
      const Value from = k.sub(Value(most), k.convert(k.mul(k.local(), 4), type));
      k.for_(from, Value(most), PrimValue::of_int(type, step),
             [&](Value i) { k.assign(sum, k.add(k.mul(k.read(sum), 3), k.to_i64(i))); });
      t.give(k.read(sum));
      run_on_both(t);
    }
  }
}

TEST_F(Control, IndicesOfEveryWidth) {
  for (const PrimType type : {PrimType::kI8, PrimType::kU8, PrimType::kI16, PrimType::kU16,
                              PrimType::kI32, PrimType::kU32, PrimType::kI64, PrimType::kU64}) {
    PerThread t(PrimType::kI64);
    Builder& k = t.k;
    const Var sum = k.declare(i64(0));
    k.for_(PrimValue::of_int(type, 1), k.convert(k.max(t.x, i32(0)), type),
           PrimValue::of_int(type, 2),
           [&](Value i) { k.assign(sum, k.add(k.read(sum), k.to_i64(i))); });
    t.give(k.read(sum));
    run_on_both(t);
  }
}

// The head has statements of its own: a load, a variable.
TEST_F(Control, AWhileWithAHeadThatWorks) {
  PerThread t;
  Builder& k = t.k;
  const Var at = k.declare(k.local()), heads = k.declare(i32(0));
  Value element;
  k.while_(
      [&] {
        k.assign(heads, k.add(k.read(heads), 1));
        element = k.load(PrimType::kI32, t.xs, k.read(at));
        return k.lt(element, 20);
      },
      [&] { k.assign(at, k.add(k.read(at), k.select(k.lt(element, 0), i32(2), i32(1)))); });
  t.give(k.add(k.mul(k.read(heads), 1000), k.read(at)));
  run_on_both(t);
}

TEST_F(Control, Functions) {
  PerThread t(PrimType::kF32);
  Builder& k = t.k;
  const auto collatz = k.function("collatz", {{PrimType::kI32}}, [&](const Values& p) {
    const Var n = k.declare(p[0]), steps = k.declare(i32(0));
    k.while_([&] { return k.lt(i32(1), k.read(n)); },
             [&] {
               const Value v = k.read(n);
               k.assign(n,
                        k.if_values(
                            k.eq(k.and_(v, i32(1)), 0), [&] { return Values{k.quot(v, i32(2))}; },
                            [&] { return Values{k.add(k.mul(v, 3), 1)}; })[0]);
               k.assign(steps, k.add(k.read(steps), 1));
             });
    return Values{k.read(steps), k.convert(k.read(n), PrimType::kF32)};
  });
  const auto twice = k.function("twice", {{PrimType::kI32}}, [&](const Values& p) {
    return Values{k.add(k.call(collatz, {p[0]})[0], k.call(collatz, {k.add(p[0], 1)})[0])};
  });
  const Value steps = k.call(twice, {t.x})[0];
  t.give(k.add(k.convert(steps, PrimType::kF32), k.call(collatz, {t.x})[1]));
  run_on_both(t);
}

TEST_F(Control, ALocalArrayIsAThreadsOwn) {
  PerThread t;
  Builder& k = t.k;
  const auto digits = k.local_array("digits", PrimType::kI32, 8);
  const auto seen = k.local_array("seen", PrimType::kBool, 8);
  k.for_(i32(8), [&](Value i) {
    k.store(digits, i, k.mul(t.x, i));
    k.store(seen, i, k.lt(i, k.rem(t.x, i32(8))));
  });
  const Var sum = k.declare(i32(0));
  k.for_(i32(8), [&](Value i) {
    k.if_(k.load(seen, i),
          [&] { k.assign(sum, k.add(k.read(sum), k.load(digits, k.sub(i32(7), i)))); });
  });
  t.give(k.read(sum));
  run_on_both(t);
}

/// if x == 0 .. else if x == 1 .. else ..; every condition and branch loads, one of them fails.
Value chain(PerThread& t, int links, int first = 0) {
  Builder& k = t.k;
  if (first == links) return k.mul(t.x, -1);
  const Value other = k.load(PrimType::kI32, t.xs, i32(first % kThreads));
  return k.if_values(
      k.eq(t.x, k.add(other, first)),
      [&] {
        if (first == 7) k.if_(k.eq(t.x, 3), [&] { k.fail(9, {t.x}); });
        return Values{k.add(k.load(PrimType::kI32, t.xs, k.local()), 100 * first)};
      },
      [&] { return Values{chain(t, links, first + 1)}; })[0];
}

// A branch's result goes to two variables.
TEST_F(Control, AChainWhoseResultsAreHandedOn) {
  PerThread t;
  Builder& k = t.k;
  const std::function<void(int, const Var&, const Var&)> link = [&](int n, const Var& a,
                                                                    const Var& b) {
    k.if_(
        k.eq(k.rem(t.x, i32(31)), n),
        [&] {
          k.assign(a, k.add(k.mul(t.x, 3), n));
          k.assign(b, i32(n));
        },
        [&] {
          const Var inner = k.declare(kir::Type{PrimType::kI32});
          const Var other = k.declare(i32(0));
          if (n < 12) {
            link(n + 1, inner, other);
          } else {
            k.assign(inner, i32(-1000));
          }
          k.assign(a, k.read(inner));
          k.assign(b, k.read(inner));
        });
  };
  const Var a = k.declare(i32(0)), b = k.declare(i32(0));
  link(-10, a, b);
  t.give(k.add(k.mul(k.read(a), 100), k.read(b)));
  run_on_both(t);
}

TEST_F(Control, AChainThatIsLongerThanADriverNests) {
  PerThread t;
  t.k.barrier();
  t.give(chain(t, 120));
  t.give(t.k.add(t.x, 1));
  run_on_both(t);
}

// ---- failures

using Failure = OnDevice;

TEST_F(Failure, IsRecordedWithItsArguments) {
  for (const PrimType type : {PrimType::kI8, PrimType::kU8, PrimType::kI16, PrimType::kU16,
                              PrimType::kI32, PrimType::kU32, PrimType::kI64, PrimType::kU64,
                              PrimType::kF16, PrimType::kF32, PrimType::kF64, PrimType::kBool}) {
    PerThread t;
    Builder& k = t.k;
    const Value v = k.convert(t.x, type);
    k.barrier();  // no thread begins when another one has failed
    t.give(i32(5));
    k.if_(k.eq(t.x, -3), [&] { k.fail(4, {v, t.x, i64(1), v}); });
    t.give(i32(6));
    run_on_both(t);
    EXPECT_EQ(t.record[0], 5u);
    EXPECT_EQ(t.got()[17], 5);
    EXPECT_EQ(t.got()[18], 6);
  }
}

TEST_F(Failure, OnlyTheFirstCounts) {
  PerThread t;
  Builder& k = t.k;
  k.barrier();
  k.if_(k.eq(t.x, 1), [&] {
    k.fail(1, {t.x});
    k.fail(2, {t.x, t.x});
  });
  k.if_(k.eq(t.x, 1), [&] { k.fail(3, {}); });
  t.give(t.x);
  run_on_both(t);
  EXPECT_EQ(t.record[0], 2u);
}

TEST_F(Failure, OfAnEarlierKernelLeavesNothingToDo) {
  for (const bool together : {false, true}) {
    PerThread t;
    if (together) t.k.barrier();
    t.give(t.x);
    t.record[0] = 3;
    const std::vector<int32_t> before = iota(kThreads);
    t.memory.write(t.args[1].bits, std::as_bytes(std::span(before)));
    run_on_device(t);
    EXPECT_EQ(t.got(), before);
    EXPECT_EQ(t.record[0], 3u);
  }
}

// The thread stops without a failure, which would end the loops of others after a while.
TEST_F(Failure, EndsTheThreadsLoopsAndThoseOfItsFunctions) {
  PerThread t;
  Builder& k = t.k;
  const auto out = t.out;
  const auto check =
      k.function("check", {{PrimType::kI32}, {PrimType::kI32}}, [&](const Values& p) {
        k.if_(k.eq(p[0], p[1]), [&] { k.stop(); });
        return Values{};
      });
  const auto add = k.function("add", {{PrimType::kI32}, {PrimType::kI32}}, [&](const Values& p) {
    const Value at = k.local();
    k.store(out, at, k.add(k.load(PrimType::kI32, out, at), p[1]));
    return Values{};
  });
  k.barrier();
  t.give(i32(0));
  k.for_(i32(5), [&](Value i) {
    k.for_(t.x, [&](Value j) {
      k.call(add, {t.x, i32(1)});
      k.call(check, {j, i32(39)});
      k.call(add, {i, i32(100)});
    });
    k.call(add, {t.x, i32(10000)});
  });
  run_on_both(t);
  EXPECT_EQ(t.record[0], 0u);
}

// Another lane tells what a stopped thread computes.
TEST_F(Failure, AStoppedThreadLoadsZeros) {
  PerThread t;
  Builder& k = t.k;
  const auto shared = k.shared("s", PrimType::kI32, {kThreads});
  k.store(shared, k.local(), i32(5));
  k.barrier();
  k.if_(k.eq(k.lane(), 1), [&] { k.stop(); });
  const Value old = k.atomic(kir::AtomicOp::kAdd, PrimType::kI32, {shared, k.local()}, i32(1));
  const Value sum =
      k.add(k.add(k.load(PrimType::kI32, t.xs, k.local()), old), k.load(shared, k.local()));
  t.give(k.shuffle(SubgroupOp::kBroadcast, k.add(sum, 1000), i32(1)));
  run_on_both(t);
  EXPECT_EQ(t.record[0], 0u);
  EXPECT_EQ(t.got()[0], 1000);
}

TEST_F(Failure, StoppedThreadsStillMeetTheOthers) {
  PerThread t;
  Builder& k = t.k;
  const auto shared = k.shared("s", PrimType::kI32, {kThreads});
  k.store(shared, k.local(), t.x);
  k.if_(k.lt(t.x, -15), [&] { k.fail(1, {}); });
  k.for_(
      i32(3),
      [&](Value i) {
        k.barrier();
        const Value other = k.load(shared, k.sub(i32(kThreads - 1), k.local()));
        k.barrier();
        k.store(shared, k.local(), k.add(other, i));
      },
      true);
  t.give(k.load(shared, k.local()));
  run_on_both(t);
}

// More rounds than llvmpipe lets a thread make are a failure there, and work elsewhere.
TEST_F(Failure, ALoopThatTheDriverEnds) {
  for (const bool uses_while : {false, true}) {
    for (const bool has_head : {false, true}) {
      PerThread t;
      t.cuts = true;
      Builder& k = t.k;
      const Var n = k.declare(t.x);
      const auto body = [&] { k.assign(n, k.add(k.read(n), 1)); };
      if (uses_while) {
        k.while_(
            [&] {
              if (has_head) k.assign(n, k.add(k.read(n), 1));
              return k.lt(k.read(n), 200'000);
            },
            body);
      } else {
        k.for_(i32(200'000), [&](Value) { body(); });
      }
      t.give(k.read(n));
      run_on_device(t);
      if (device().info().cuts_loops) {
        EXPECT_EQ(t.record[0], DeviceTest::kCutFailure + 1u);
      } else {
        EXPECT_EQ(t.record[0], 0u);
        EXPECT_GE(t.got()[0], 199'000);
      }
    }
  }
}

}  // namespace
}  // namespace kenaz
