#include "kernels/primitives/blocks/combine.h"

#include <fmt/format.h>

#include "kernels/primitives/blocks/native.h"
#include "protocol/base/check.h"

namespace kenaz::primitives::blocks {

using kir::SubgroupOp;
using kir::Vars;

Values select(Builder& k, const Value& cond, const Values& a, const Values& b) {
  Values out;
  for (size_t n = 0; n < a.size(); n++) out.push_back(k.select(cond, a[n], b[n]));
  return out;
}

Value log2_of(Builder& k, const Value& power) {
  return k.op(ScalarOp::kCtz, power.type.prim, PrimType::kI32, {power});
}

SubgroupCombiner::SubgroupCombiner(Team& team, const plan::Operator& op)
    : t_(team), op_(op), native_(team.has_subgroups()) {
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    const op::Known* row = op.facts.known.empty() ? nullptr : op.facts.known[n];
    native_ =
        native_ && row != nullptr && op::has_subgroup_op(*row, op.facts.types[n], team.target);
  }
}

Combiner::Combiner(Team& team, const plan::Operator& op) : SubgroupCombiner(team, op) {
  for (size_t n = 0; n < op.facts.types.size(); n++) {
    shared_.push_back(team.shared_per_thread(fmt::format("combine{}", n), op.facts.types[n]));
  }
  store(team.k.local(), op.neutral);
}

void Combiner::store(const Value& index, const Values& x) {
  for (size_t n = 0; n < x.size(); n++) t_.k.store(shared_[n], index, x[n]);
}
Values Combiner::load(const Value& index) {
  Values out;
  for (const kir::SharedId s : shared_) out.push_back(t_.k.load(s, index));
  return out;
}

Value SubgroupCombiner::log2_subgroup() { return log2_of(t_.k, t_.k.subgroup_size()); }

// ---- subgroups

Values SubgroupCombiner::butterfly(const Values& x, const Value& log2_width) {
  Builder& k = t_.k;
  const Vars acc = k.declare(x);
  // Before step b, each lane has the combination of the 2^b lanes around it.
  k.for_(
      log2_width,
      [&](const Value& b) {
        const Value distance = k.shl(kir::i32(1), b);
        const Values own = k.read(acc);
        Values other;
        for (const Value& v : own) other.push_back(k.shuffle(SubgroupOp::kShuffleXor, v, distance));
        if (op_.facts.commutative) {
          k.assign(acc, combine(own, other));
          return;
        }
        const Value first = k.eq(k.and_(k.lane(), distance), 0);
        k.assign(acc, combine(select(k, first, own, other), select(k, first, other, own)));
      },
      true);
  return k.read(acc);
}

Values SubgroupCombiner::shuffle_scan(const Values& x, const Value& log2_width) {
  Builder& k = t_.k;
  const Vars acc = k.declare(x);
  const Value place = k.and_(k.lane(), k.sub(k.shl(kir::i32(1), log2_width), 1));
  k.for_(
      log2_width,
      [&](const Value& b) {
        const Value distance = k.shl(kir::i32(1), b);
        const Values own = k.read(acc);
        Values other;
        for (const Value& v : own) other.push_back(k.shuffle(SubgroupOp::kShuffleUp, v, distance));
        k.if_(k.le(distance, place), [&] { k.assign(acc, combine(other, own)); });
      },
      true);
  return k.read(acc);
}

Values SubgroupCombiner::native(SubgroupOp op, const Values& x) {
  Values out;
  for (size_t n = 0; n < x.size(); n++) {
    out.push_back(native_subgroup(t_.k, op, *op_.facts.known[n], x[n]));
  }
  return out;
}

Values SubgroupCombiner::subgroup_reduce(const Values& x) {
  CHECK(t_.has_subgroups());
  return native_ ? native(SubgroupOp::kReduce, x) : butterfly(x, log2_subgroup());
}

Values SubgroupCombiner::part_reduce(const Values& x, const Value& log2_width) {
  CHECK(t_.has_subgroups());
  return butterfly(x, log2_width);
}

Values SubgroupCombiner::subgroup_inclusive(const Values& x) {
  CHECK(t_.has_subgroups());
  return native_ ? native(SubgroupOp::kInclusive, x) : shuffle_scan(x, log2_subgroup());
}

Values SubgroupCombiner::part_inclusive(const Values& x, const Value& log2_width) {
  CHECK(t_.has_subgroups());
  return shuffle_scan(x, log2_width);
}

Values SubgroupCombiner::subgroup_before(const Values& inclusive) {
  return part_before(inclusive, t_.k.lane());
}

Values SubgroupCombiner::part_before(const Values& inclusive, const Value& lane) {
  Builder& k = t_.k;
  Values below;
  for (const Value& v : inclusive) {
    below.push_back(k.shuffle(SubgroupOp::kShuffleUp, v, kir::i32(1)));
  }
  return k.if_values(
      k.eq(lane, 0), [&] { return op_.neutral; }, [&] { return below; });
}

// ---- the workgroup

// An operator of several instructions takes longer than the shuffles that let lanes work on the
// subgroups' totals side by side.
bool Combiner::totals_fit_lanes() const {
  const program::Target& target = t_.target;
  return !native_ && target.fixed_subgroups &&
         target.max_group_size <= target.subgroup_size * target.subgroup_size;
}

/// That of the subgroup which has the lane's number; neutral if there is none.
Values Combiner::total_of_lane() {
  Builder& k = t_.k;
  return k.if_values(
      k.lt(k.lane(), k.subgroups()), [&] { return load(k.lane()); }, [&] { return op_.neutral; });
}

/// Of the next power of two.
Value Combiner::log2_subgroups() {
  Builder& k = t_.k;
  const Value last = k.sub(k.subgroups(), 1);
  return k.sub(kir::i32(32), k.op(ScalarOp::kClz, PrimType::kI32, PrimType::kI32, {last}));
}

Values Combiner::reduce(const Values& x, bool of_subgroup) {
  if (!t_.has_subgroups()) return reduce_columns(x, kir::i32(1));
  Builder& k = t_.k;
  const Values mine = of_subgroup ? x : subgroup_reduce(x);
  k.barrier();  // whoever reads what an earlier call left has done so
  k.if_(k.eq(k.lane(), 0), [&] { store(k.subgroup(), mine); });
  k.barrier();
  if (totals_fit_lanes()) {
    Values all;
    for (const Value& v : butterfly(total_of_lane(), log2_subgroups())) {
      all.push_back(k.shuffle(SubgroupOp::kBroadcast, v, kir::i32(0)));
    }
    return all;
  }
  const Vars acc = k.declare(load(kir::i32(0)));
  k.for_(
      kir::i32(1), k.subgroups(), kir::i32(1),
      [&](const Value& s) { k.assign(acc, combine(k.read(acc), load(s))); }, true);
  return k.read(acc);
}

Combiner::Scan Combiner::scan(const Values& x) {
  if (!t_.has_subgroups()) return tree_scan(x);
  const Values lanes = subgroup_inclusive(x);
  const Values lower = subgroup_before(lanes);
  const Scan s = scan_subgroups(lanes);
  return {combine(s.before, lower), s.total};
}

Combiner::Scan Combiner::scan_subgroups(const Values& x) {
  Builder& k = t_.k;
  k.barrier();
  k.if_(k.eq(k.lane(), k.sub(k.subgroup_size(), 1)), [&] { store(k.subgroup(), x); });
  k.barrier();
  const Value own = k.subgroup();
  if (totals_fit_lanes()) {
    const Values sums = shuffle_scan(total_of_lane(), log2_subgroups());
    const auto of = [&](const Value& lane) {
      Values out;
      for (const Value& v : sums) out.push_back(k.shuffle(SubgroupOp::kShuffle, v, lane));
      return out;
    };
    const Values before = of(k.max(k.sub(own, 1), kir::i32(0))),
                 total = of(k.sub(k.subgroups(), 1));
    return {select(k, k.eq(own, 0), op_.neutral, before), total};
  }
  const Vars before = k.declare(op_.neutral), acc = k.declare(op_.neutral);
  k.for_(
      k.subgroups(),
      [&](const Value& s) {
        const Values so_far = k.read(acc);
        k.if_(k.eq(s, own), [&] { k.assign(before, so_far); });
        k.assign(acc, combine(so_far, load(s)));
      },
      true);
  return {k.read(before), k.read(acc)};
}

Values Combiner::reduce_columns(const Values& x, const Value& width) {
  Builder& k = t_.k;
  const Value local = k.local(), rows = k.quot(t_.group_size(), width);
  const Value row = k.quot(local, width);
  k.barrier();
  store(local, x);
  // Neighbouring rows combine, then neighbouring pairs, ..: the order stays.
  const kir::Var step = k.declare(kir::i32(1));
  k.while_([&] { return k.lt(k.read(step), rows); },
           [&] {
             const Value s = k.read(step);
             k.barrier();
             const Value first = k.eq(k.and_(row, k.sub(k.mul(s, 2), 1)), 0);
             k.if_(k.and_(first, k.lt(k.add(row, s), rows)), [&] {
               store(local, combine(load(local), load(k.add(local, k.mul(s, width)))));
             });
             k.assign(step, k.mul(s, 2));
           },
           true);
  k.barrier();
  return load(k.sub(local, k.mul(row, width)));
}

Combiner::Scan Combiner::tree_scan(const Values& x) {
  Builder& k = t_.k;
  const Value local = k.local(), size = t_.group_size();
  const Vars acc = k.declare(x);
  k.barrier();
  store(local, x);
  const kir::Var step = k.declare(kir::i32(1));
  k.while_([&] { return k.lt(k.read(step), size); },
           [&] {
             const Value s = k.read(step);
             const Value has_other = k.le(s, local);
             k.barrier();
             k.if_(has_other, [&] { k.assign(acc, combine(load(k.sub(local, s)), k.read(acc))); });
             k.barrier();
             k.if_(has_other, [&] { store(local, k.read(acc)); });
             k.assign(step, k.mul(s, 2));
           },
           true);
  k.barrier();
  const Values before = k.if_values(
      k.eq(local, 0), [&] { return op_.neutral; }, [&] { return load(k.sub(local, 1)); });
  return {before, load(k.sub(size, 1))};
}

}  // namespace kenaz::primitives::blocks
