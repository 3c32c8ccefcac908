// Kernels that nobody wrote: the device and the interpreter must agree on them.
#include <gmock/gmock.h>

#include <random>

#include "tests/kernels/device_run.h"

namespace kenaz {
namespace {

using kir::Address;
using kir::AtomicOp;
using kir::Builder;
using kir::i32;
using kir::SubgroupOp;
using kir::Value;
using kir::Values;
using kir::Var;
using P = PrimType;
using O = ScalarOp;

constexpr P kTypes[] = {P::kI32, P::kI64, P::kU32, P::kU8, P::kI16, P::kBool};
constexpr int kSlots = 4;  // of each thread, in every memory

class RandomKernel {
 public:
  RandomKernel(DeviceTest& test, uint32_t seed) : k(test.k), random_(seed) {
    test.kernel.group_size.constant = kThreads;
    std::vector<int32_t> data;
    for (int n = 0; n < kThreads * kSlots; n++) data.push_back(static_cast<int32_t>(random_()));
    xs_ = test.array("xs", data);
    out_ = test.array("out", data);
    n_ = test.scalar("n", PrimValue::i32(static_cast<int32_t>(random_() % 100)));
    shared_ = k.shared("shared", P::kI32, {kThreads * kSlots});
    local_ = k.local_array("local", P::kI32, kSlots);
  }

  void build() {
    k.barrier();  // no thread begins when another has failed
    for (int f = 0; f < 2; f++) function();
    slot_ = k.mul(k.local(), kSlots);
    for (int s = 0; s < kSlots; s++) {
      k.store(local_, i32(s), n_);
      k.store(shared_, k.add(slot_, s), k.add(k.local(), s));
    }
    values_ = {k.local(), n_, k.lane(), k.load(P::kI32, xs_, k.local())};
    for (int n = 0; n < 3; n++) {
      statements(6);
      together();
    }
    for (int s = 0; s < kSlots; s++) {
      k.store(out_, k.add(slot_, s), k.xor_(k.load(P::kI32, out_, k.add(slot_, s)), of(P::kI32)));
    }
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  P type() { return kTypes[below(std::size(kTypes))]; }

  // ---- values

  /// Any value of the type, of late ones more often.
  Value of(P t) {
    std::vector<Value> fit;
    for (const Value& v : values_) {
      if (v.type.prim == t) fit.push_back(v);
    }
    if (fit.empty() || one_in(6)) {
      if (t == P::kBool) return k.lt(of(P::kI32), i32(below(1000)));
      if (t != P::kI32 && one_in(2)) return k.convert(of(P::kI32), t);
      return PrimValue::of_int(t, below(3) == 0 ? static_cast<int32_t>(random_()) : below(20) - 5);
    }
    const int recent = std::min<int>(static_cast<int>(fit.size()), 5);
    return one_in(3) ? fit[below(static_cast<int>(fit.size()))]
                     : fit[fit.size() - 1 - below(recent)];
  }
  Value small(int n) { return k.and_(of(P::kI32), i32(n - 1)); }  // n: a power of two

  Value computed() {
    const P t = type();
    if (one_in(5)) return k.convert(of(type()), t);
    for (;;) {
      const O op = static_cast<O>(below(static_cast<int>(O::kSelect) + 1));
      if (!scalar_op_accepts(op, t) || op == O::kConvert || op == O::kBitcast || op == O::kPow) {
        continue;
      }
      if (op == O::kSelect) return k.select(of(P::kBool), of(t), of(t));
      Values args;
      for (int a = 0; a < scalar_op_arity(op); a++) args.push_back(of(t));
      return k.prim(op, args);
    }
  }

  // ---- statements

  void block(int n) {
    const size_t values = values_.size(), vars = vars_.size();
    depth_++;
    statements(n);
    depth_--;
    values_.resize(values);
    vars_.resize(vars);
  }
  void statements(int n) {
    for (int s = 0; s < n; s++) statement();
  }

  void statement() {
    switch (below(depth_ < 4 ? 16 : 11)) {
      case 0: vars_.push_back(k.declare(of(type()))); break;
      case 1:
      case 2: variable(); break;
      case 3:
      case 4: memory(); break;
      case 5: atomic(); break;
      case 6:
      case 7:
      case 8:
      case 9: values_.push_back(computed()); break;
      case 10: call(); break;
      case 11: k.if_(of(P::kBool), [&] { block(2); }); break;
      case 12: branch(); break;
      case 13: for_loop(); break;
      case 14: while_loop(); break;
      default: stop(); break;
    }
  }

  void variable() {
    if (vars_.empty()) return;
    const Var& var = vars_[below(static_cast<int>(vars_.size()))];
    if (one_in(2)) {
      values_.push_back(k.read(var));
    } else {
      k.assign(var, of(var.type.prim));
    }
  }

  Address place() {
    const Value at = small(kSlots);
    switch (below(3)) {
      case 0: return {local_, at};
      case 1: return {shared_, k.add(slot_, at)};
      default: return {out_, k.add(slot_, at)};
    }
  }
  void memory() {
    if (one_in(3)) {
      values_.push_back(k.load(P::kI32, xs_, small(64)));
    } else if (one_in(2)) {
      values_.push_back(k.load({P::kI32}, place()));
    } else {
      k.store(place(), of(P::kI32));
    }
  }
  void atomic() {
    Address at = place();
    if (at.base.index() == 2) return;  // a thread's own array has none
    constexpr AtomicOp kOps[] = {AtomicOp::kExchange, AtomicOp::kAdd, AtomicOp::kMin,
                                 AtomicOp::kMax,      AtomicOp::kAnd, AtomicOp::kXor};
    values_.push_back(k.atomic(kOps[below(std::size(kOps))], P::kI32, at, of(P::kI32)));
  }

  void branch() {
    const P first = type(), second = type();
    const auto side = [&] {
      const size_t values = values_.size(), vars = vars_.size();
      depth_++;
      statements(2);
      depth_--;
      const Values results{of(first), of(second)};
      values_.resize(values);
      vars_.resize(vars);
      return results;
    };
    for (const Value& v : k.if_values(of(P::kBool), side, side)) values_.push_back(v);
  }

  void for_loop() {
    const Value from = one_in(2) ? i32(0) : small(4), to = one_in(2) ? i32(3) : small(8);
    k.for_(
        from, to, i32(1 + below(3)),
        [&](Value i) {
          values_.push_back(i);
          block(3);
          values_.pop_back();
        },
        false, one_in(4));
  }

  void while_loop() {
    const Var left = k.declare(small(4)), seen = k.declare(of(P::kI32));
    const size_t values = values_.size(), vars = vars_.size();
    k.while_(
        [&] {
          if (one_in(2)) k.assign(seen, k.add(k.read(seen), 1));
          if (one_in(2)) memory();
          return k.and_(k.lt(i32(0), k.read(left)), k.ne(k.read(seen), of(P::kI32)));
        },
        [&] {
          k.assign(left, k.sub(k.read(left), 1));
          block(3);
        });
    values_.resize(values);
    vars_.resize(vars);
    values_.push_back(k.read(seen));
  }

  void stop() {
    // Not by a failure, which ends the loops of other threads after a while.
    k.if_(k.eq(small(16), below(16)), [&] { k.stop(); });
  }

  void function() {
    const P a = type(), b = type();
    auto values = std::exchange(values_, {});
    auto vars = std::exchange(vars_, {});
    functions_.push_back(k.function("f", {{a}, {b}}, [&](const Values& p) {
      slot_ = k.mul(k.local(), kSlots);
      values_ = {p[0], p[1], n_};
      depth_ = 2;
      statements(6);
      depth_ = 0;
      return one_in(2) ? Values{of(P::kI32)} : Values{of(type()), of(type())};
    }));
    params_.emplace_back(a, b);
    values_ = std::move(values);
    vars_ = std::move(vars);
  }
  void call() {
    if (functions_.empty()) return;
    const int f = below(static_cast<int>(functions_.size()));
    for (const Value& v : k.call(functions_[f], {of(params_[f].first), of(params_[f].second)})) {
      values_.push_back(v);
    }
  }

  /// What all threads come to, stopped or not: others see what they have.
  void together() {
    if (one_in(2)) {
      const Value lane = k.and_(k.add(k.lane(), below(8)), k.sub(k.subgroup_size(), 1));
      values_.push_back(k.shuffle(SubgroupOp::kShuffle, of(P::kI32), lane));
      values_.push_back(k.vote(SubgroupOp::kAny, of(P::kBool)));
      return;
    }
    k.for_(
        i32(1 + below(3)),
        [&](Value i) {
          k.barrier();
          const Value other = k.xor_(k.local(), i32(1 + below(kThreads - 1)));
          const Value seen = k.load(shared_, k.mul(other, kSlots));
          k.barrier();
          k.store(out_, slot_, k.xor_(k.add(seen, i), of(P::kI32)));
        },
        true);
  }

  Builder& k;
  std::mt19937 random_;
  Value xs_, out_, n_, slot_;
  kir::SharedId shared_;
  kir::LocalId local_;
  std::vector<Value> values_;
  std::vector<Var> vars_;
  std::vector<kir::FunctionId> functions_;
  std::vector<std::pair<P, P>> params_;
  int depth_ = 0;
};

using Random = OnDevice;

// More of them: --gtest_also_run_disabled_tests --gtest_repeat=N
std::mt19937 more_seeds(std::random_device{}());

void compare(uint32_t seed, bool cuts) {
  DeviceTest t;
  SCOPED_TRACE(seed);
  RandomKernel(t, seed).build();
  t.cuts = cuts;
  OnDevice::run_on_both(t);
}

TEST_F(Random, KernelsLeaveTheSameMemory) {
  for (uint32_t seed = 0; seed < 12 && !HasFatalFailure(); seed++) compare(seed, seed % 2 == 1);
}

TEST_F(Random, DISABLED_MoreKernelsDo) { compare(more_seeds(), true); }

}  // namespace
}  // namespace kenaz
