// Segmented operations whose points are spread over the threads of a workgroup.
#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/group_code.h"

namespace kenaz::host_code {

using body::Math;
using ir::VarId;

namespace {

/// Barriers of a reduction or scan by all threads take as long as this many elements.
constexpr int64_t kTogether = 16;

kir::Values leading(const kir::Values& sizes) { return {sizes.begin(), sizes.end() - 1}; }

kir::Values with(kir::Values at, const kir::Value& position) {
  at.push_back(position);
  return at;
}

}  // namespace

void GroupCode::seg(const ir::Stm& s, const ir::ESeg& e) {
  std::vector<Array> targets;
  for (const VarId v : s.pat) {
    const auto wanted = wanted_.find(v);
    const bool scalar = t_.ir().type_of(v).is_scalar();
    targets.push_back(scalar ? Array{} : wanted != wanted_.end() ? wanted->second : new_array(v));
  }
  if (host_.failed()) return;
  before_write();
  stopping_ = stopping_ || may_stop(e.body);
  for (const ir::SegMonoid& m : e.monoids) stopping_ = stopping_ || may_stop(m.op.op.body);
  if (e.kind == ir::SegKind::kReduce) {
    reduce(s, e, targets);
  } else {
    const Values sizes = t_.env.scalars(ir::sizes_of(e.space.dims));
    points(sizes, [&](const Values& at) { store(targets, at, element(e, targets, at)); });
    after_write();
    if (e.kind == ir::SegKind::kScan) scan(e, targets);
  }
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (!t_.ir().type_of(s.pat[k]).is_scalar()) t_.env.bind(s.pat[k], targets[k]);
  }
}

// Stores the plain results, and gives the others.
kir::Values GroupCode::element(const ir::ESeg& e, const std::vector<Array>& targets,
                               const Values& at) {
  body::forget(t_, e.body);  // there may be code for it already
  for (size_t d = 0; d < at.size(); d++) t_.env.bind_param(e.space.dims[d].index, at[d]);
  const std::vector<Result> results = body::translate(t_, e.body);
  Values operands;
  for (size_t k = 0; k < results.size() && !host_.failed(); k++) {
    const Value& x = std::get<Value>(results[k]);
    if (k < ir::operands_of(e)) {
      operands.push_back(x);
    } else {
      Math math{t_.k};
      body::store(t_, targets[k], body::LayoutMath(math).element(targets[k].layout, at), x);
    }
  }
  return operands;
}

void GroupCode::segments(const Values& sizes, const Part& part, const std::function<void()>& apart,
                         const AtIndex& together) {
  kir::Builder& k = t_.k;
  const Values outer = leading(sizes);
  const Value all = count(outer), length = sizes.back();
  // What the slowest thread has to do.
  const Value width = k.to_i64(part.width);
  const Value turn = k.add(k.div_up(length, width), k.to_i64(k.mul(part.log2_width, 2)));
  const Value alone = k.mul(k.div_up(k.mul(all, width), group_size_), turn);
  const Value shared = k.mul(all, k.add(k.div_up(length, group_size_), kTogether));
  const auto group = [&] {
    k.for_(
        all, [&](const Value& linear) { together(indices(outer, linear)); }, true);
  };
  const Value cond = k.le(alone, shared);
  if (cond.is_const()) {
    cond.is_bool(true) ? apart() : group();
  } else {
    k.if_(cond, apart, group);
  }
}

// As many lanes for each segment as there are threads for, and elements.
GroupCode::Part GroupCode::part_of(const Values& sizes) {
  kir::Builder& k = t_.k;
  if (!has_subgroups_) return {kir::i32(0), kir::i32(1)};
  const Value all = k.max(count(leading(sizes)), kir::i64(1));
  const Value most = k.max(k.min(k.quot(group_size_, all), sizes.back()), kir::i64(1));
  const Value zeros = k.op(ScalarOp::kClz, PrimType::kI32, PrimType::kI32, {k.to_i32(most)});
  const Value subgroup = primitives::blocks::log2_of(k, k.subgroup_size());
  const Value log2_width = k.min(k.sub(kir::i32(31), zeros), subgroup);
  return {log2_width, k.shl(kir::i32(1), log2_width)};
}

void GroupCode::reduce(const ir::Stm& s, const ir::ESeg& e, const std::vector<Array>& targets) {
  const Values sizes = t_.env.scalars(ir::sizes_of(e.space.dims));
  const size_t values = ir::operands_of(e);
  if (sizes.size() == 1) {
    const Values made = reduce_together(e, targets, {}, sizes[0]);
    for (size_t n = 0; n < values && !host_.failed(); n++) t_.env.bind(s.pat[n], made[n]);
    // Plain results are there for all behind it; neighbours have met before they combined.
    after_write();
    return;
  }
  const Part part = part_of(sizes);
  segments(
      sizes, part, [&] { reduce_apart(e, targets, sizes, part); },
      [&](const Values& at) {
        const Values made = reduce_together(e, targets, at, sizes.back());
        by_one([&] { store(targets, at, made); });
      });
  after_write();
}

void GroupCode::store(const std::vector<Array>& targets, const Values& at, const Values& made) {
  Math math{t_.k};
  for (size_t n = 0; n < made.size() && !host_.failed(); n++) {
    body::store(t_, targets[n], body::LayoutMath(math).element(targets[n].layout, at), made[n]);
  }
}

// All segments, each by a part of a subgroup, or a thread.
void GroupCode::reduce_apart(const ir::ESeg& e, const std::vector<Array>& targets,
                             const Values& sizes, const Part& part) {
  kir::Builder& k = t_.k;
  primitives::blocks::Combiner& combiner = *combiners_.at(&e);
  const plan::Operator& op = combiner.op();
  const Values outer = leading(sizes);
  const auto fold = [&](const Values& at, const Value& from, const Value& to, const Value& step) {
    const kir::Vars acc = k.declare(op.neutral);
    k.for_(from, to, step, [&](const Value& j) {
      const Values x = element(e, targets, with(at, j));
      if (!host_.failed()) k.assign(acc, op.combine(k, k.read(acc), x));
    });
    return k.read(acc);
  };
  if (!has_subgroups_) {
    points(outer, [&](const Values& at) {
      store(targets, at, fold(at, kir::i64(0), sizes.back(), kir::i64(1)));
    });
    return;
  }
  const Value all = count(outer), width = k.to_i64(part.width);
  const Value lane = k.to_i64(k.and_(k.lane(), k.sub(part.width, 1)));
  const Value first = k.to_i64(k.lshr(k.local(), part.log2_width));
  const Value share = k.div_up(sizes.back(), width);
  // Lanes meet where they combine, so all parts make as many turns.
  k.for_(
      kir::i64(0), all, k.lshr(group_size_, k.to_i64(part.log2_width)),
      [&](const Value& before) {
        const Value segment = k.add(before, first);
        const Value live = k.lt(segment, all);
        const Value end = k.select(live, sizes.back(), kir::i64(0));
        const Values at = indices(outer, segment);
        Values mine;
        if (op.facts.commutative) {
          mine = fold(at, lane, end, width);
        } else {
          const Value from = k.mul(lane, share);
          mine = fold(at, from, k.min(k.add(from, share), end), kir::i64(1));
        }
        const Values made = combiner.part_reduce(mine, part.log2_width);
        k.if_(k.and_(live, k.eq(lane, 0)), [&] { store(targets, at, made); });
      },
      true);
}

// One segment, by all threads; each gets what it comes to.
kir::Values GroupCode::reduce_together(const ir::ESeg& e, const std::vector<Array>& targets,
                                       const Values& at, const Value& length) {
  kir::Builder& k = t_.k;
  primitives::blocks::Combiner& combiner = *combiners_.at(&e);
  const plan::Operator& op = combiner.op();
  const kir::Vars acc = k.declare(op.neutral);
  const auto add = [&](const Value& j) {
    const Values x = element(e, targets, with(at, j));
    if (!host_.failed()) k.assign(acc, op.combine(k, k.read(acc), x));
  };
  if (op.facts.commutative) {
    strided(length, add);
  } else {
    const Value share = k.div_up(length, group_size_);
    const Value from = k.mul(k.to_i64(k.local()), share);
    k.for_(from, k.min(k.add(from, share), length), kir::i64(1), add);
  }
  return combiner.reduce(k.read(acc));
}

// The operands are there, and become what the scan of them is.
void GroupCode::scan(const ir::ESeg& e, const std::vector<Array>& targets) {
  const Values sizes = t_.env.scalars(ir::sizes_of(e.space.dims));
  for (const ir::SegMonoid& m : e.monoids) stopping_ = stopping_ || may_stop(m.op.op.body);
  const auto by_thread = [&](const Values& at) {
    fold(e, targets, at, {kir::i64(0), sizes.back()}, combiners_.at(&e)->op().neutral, true);
  };
  segments(
      sizes, {kir::i32(0), kir::i32(1)}, [&] { points(leading(sizes), by_thread); },
      [&](const Values& at) { scan_together(e, targets, at, sizes.back()); });
  after_write();
}

kir::Values GroupCode::fold(const ir::ESeg& e, const std::vector<Array>& targets, const Values& at,
                            const Range& range, const Values& before, bool store) {
  kir::Builder& k = t_.k;
  const plan::Operator& op = combiners_.at(&e)->op();
  const kir::Vars acc = k.declare(before);
  k.for_(range.from, range.to, kir::i64(1), [&](const Value& j) {
    Math math{k};
    Values places, x;
    for (size_t n = 0; n < op.neutral.size(); n++) {
      places.push_back(body::LayoutMath(math).element(targets[n].layout, with(at, j)));
      x.push_back(body::load(t_, targets[n], places[n]));
    }
    k.assign(acc, op.combine(k, k.read(acc), x));
    const Values now = k.read(acc);
    for (size_t n = 0; n < now.size() && store; n++) {
      body::store(t_, targets[n], places[n], now[n]);
    }
  });
  return k.read(acc);
}

// Each thread has a run of neighbours, which no other one touches.
void GroupCode::scan_together(const ir::ESeg& e, const std::vector<Array>& targets,
                              const Values& at, const Value& length) {
  kir::Builder& k = t_.k;
  primitives::blocks::Combiner& combiner = *combiners_.at(&e);
  const Value share = k.div_up(length, group_size_);
  const Value from = k.mul(k.to_i64(k.local()), share);
  const Range own{from, k.min(k.add(from, share), length)};
  const Values mine = fold(e, targets, at, own, combiner.op().neutral, false);
  fold(e, targets, at, own, combiner.scan(mine).before, true);
}

}  // namespace kenaz::host_code
