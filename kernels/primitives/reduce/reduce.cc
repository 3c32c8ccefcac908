#include "kernels/primitives/reduce/reduce.h"

namespace kenaz::primitives {

using kir::Builder;
using kir::Order;
using kir::Value;
using kir::Values;

namespace {

constexpr int kCounterWords = 2;  // of 8 bytes

Value partial_word(Builder& k, size_t n, const Value& group) {
  return k.add(group, kCounterWords + static_cast<int64_t>(n) * kReduceMaxGroups);
}

/// One reduction: what its steps share.
class Reduce {
 public:
  Reduce(Builder& k, const ReduceSpec& spec)
      : k_(k), spec_(spec), m_(spec.monoids), values_(k, m_, kReduceWorkgroup) {}

  void build() {
    if (spec_.partial) start_count();
    values_.store(k_, k_.local(), own_share());
    reduce_workgroup();
    if (!spec_.partial) {
      store_result();
      return;
    }
    k_.if_(
        k_.eq(k_.groups(), 1), [&] { store_result(); }, [&] { combine_groups(); });
  }

 private:
  Values element(const Value& i) { return k_.call(spec_.elem, {i}); }

  Values own_share() {
    const kir::Vars acc = k_.declare(m_.neutral());
    const auto add = [&](const Value& i) {
      const Values x = element(i);
      k_.assign(acc, m_.combine(k_, k_.read(acc), x));
    };
    if (spec_.commutative) {
      const auto iteration = [&](const Value& first) {
        const Value i = k_.add(first, k_.global());
        k_.if_(k_.lt(i, spec_.width), [&] { add(i); });
      };
      k_.for_(kir::i64(0), spec_.width, k_.threads(), iteration, true);
    } else {
      // Rounded up, without a sum that wraps for the longest arrays. No element: no thread has one.
      const Value share = k_.add(k_.quot(k_.sub(spec_.width, 1), k_.threads()), 1);
      for_share(k_, k_.mul(k_.global(), share), share, spec_.width, add);
    }
    return k_.read(acc);
  }

  /// Neighbours combine, then neighbouring pairs, ..: the order stays. The result is the first
  /// thread's.
  void reduce_workgroup() {
    const kir::Var step = k_.declare(kir::i32(1));
    const auto cond = [&] { return k_.lt(k_.read(step), kReduceWorkgroup); };
    const auto iteration = [&] {
      k_.barrier();
      const Value s = k_.read(step), lid = k_.local();
      const Value pair = k_.sub(k_.mul(s, 2), 1);
      k_.if_(k_.eq(k_.and_(lid, pair), 0), [&] {
        const Values a = values_.load(k_, lid), b = values_.load(k_, k_.add(lid, s));
        values_.store(k_, lid, m_.combine(k_, a, b));
      });
      k_.assign(step, k_.mul(s, 2));
    };
    k_.while_(cond, iteration, true);
  }

  void store_result() {
    k_.if_(k_.eq(k_.local(), 0), [&] {
      const Values all = values_.load(k_, kir::i32(0));
      for (size_t n = 0; n < m_.size(); n++) {
        const Value at = kir::i64(static_cast<int64_t>(n));
        k_.store(word(k_, spec_.result, at, m_.types()[n]), all[n]);
      }
    });
  }

  // What a stopped thread loads says nothing, so whether a workgroup goes on must not depend on
  // it: it does only if all of its threads go.
  void start_count() {
    going_ = k_.shared("going_threads", PrimType::kI32, {1});
    k_.if_(k_.eq(k_.local(), 0), [&] { k_.store(going_, kir::i32(0), kir::i32(0)); });
  }
  Value all_go() {
    k_.atomic(kir::AtomicOp::kAdd, PrimType::kI32, {going_, kir::i32(0)}, kir::i32(1));
    k_.barrier();
    return k_.eq(k_.load(going_, kir::i32(0)), kReduceWorkgroup);
  }

  void combine_groups() {
    k_.if_(all_go(), [&] {
      const kir::SharedId last = k_.shared("is_last", PrimType::kBool, {1});
      k_.if_(k_.eq(k_.local(), 0), [&] { k_.store(last, kir::i32(0), publish()); });
      k_.barrier();
      k_.if_(k_.load(last, kir::i32(0)), [&] {
        values_.store(k_, k_.local(), share_of_partials());
        reduce_workgroup();
        store_result();
      });
    });
  }

  /// Writes the workgroup's result; gives whether it is the last one.
  Value publish() {
    const Values mine = values_.load(k_, kir::i32(0));
    for (size_t n = 0; n < m_.size(); n++) {
      const Value at = partial_word(k_, n, k_.group());
      k_.store(word(k_, *spec_.partial, at, m_.types()[n]), mine[n], Order::kCoherent);
    }
    k_.fence(kir::Scope::kDevice);
    const Value before =
        k_.atomic(kir::AtomicOp::kAdd, PrimType::kU32, {*spec_.partial, kir::i64(0)},
                  PrimValue{PrimType::kU32, 1}, kir::AtomicOrder::kAcquireRelease);
    k_.fence(kir::Scope::kDevice);
    return k_.eq(k_.convert(before, PrimType::kI64), k_.sub(k_.groups(), 1));
  }

  Values share_of_partials() {
    const Value share = k_.div_up(k_.groups(), kir::i64(kReduceWorkgroup));
    const Value first = k_.mul(k_.to_i64(k_.local()), share);
    const kir::Vars acc = k_.declare(m_.neutral());
    for_share(k_, first, share, k_.groups(), [&](const Value& g) {
      Values x;
      for (size_t n = 0; n < m_.size(); n++) {
        const PrimType t = m_.types()[n];
        const kir::Address at = word(k_, *spec_.partial, partial_word(k_, n, g), t);
        x.push_back(k_.load({t, 1}, at, Order::kCoherent));
      }
      k_.assign(acc, m_.combine(k_, k_.read(acc), x));
    });
    return k_.read(acc);
  }

  Builder& k_;
  const ReduceSpec& spec_;
  const Monoids& m_;
  SharedValues values_;
  kir::SharedId going_;
};

}  // namespace

int64_t reduce_partial_bytes(size_t values) {
  return 8 * (kCounterWords + static_cast<int64_t>(values) * kReduceMaxGroups);
}

void build_reduce(Builder& k, const ReduceSpec& spec) { Reduce(k, spec).build(); }

}  // namespace kenaz::primitives
