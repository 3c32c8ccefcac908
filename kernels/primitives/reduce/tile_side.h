// The factors of a block's rows or columns, in shared memory.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/primitives/reduce/fold.h"

namespace kenaz::primitives::reduce {

inline constexpr int kLanes = 4;
// Positions at a time.
inline constexpr int kLogSteps = 4, kSteps = 1 << kLogSteps;

// Vectors are for scalars of which they have 16 bytes.
inline int lanes_of(PrimType t) { return t != PrimType::kBool && prim_size(t) == 4 ? kLanes : 1; }

/// How many threads stand side by side in one direction, and with how many vectors of elements
/// each. `threads` is the shape's unless a workgroup has fewer: a value (i32) in kernels, and the
/// host's expression of it.
struct Direction {
  int most_threads, per_thread;
  HostExpr on_host;
  Value threads;
  int vectors_per_thread() const { return per_thread / kLanes; }
  /// Of a step in shared memory. One more than there are: neither way of access then meets few
  /// banks only.
  int stride() const { return most_threads * vectors_per_thread() + 1; }
};

/// A factor of the block: what its threads load, keep and find again.
class Side {
 public:
  using Load = std::function<Values(const Value& place, const Value& position)>;

  /// `first` is the block's first row (or column), `count` how many the matrix has; i64.
  Side(Team& t, const Direction& d, const std::vector<PrimType>& types, bool along, Value first,
       Value count, int group, Load load)
      : t_(t), d_(d), types_(types), along_(along), first_(first), load_(std::move(load)) {
    Builder& k = t.k;
    last_ = k.sub(count, 1);
    vectors_ = k.mul(d.threads, d.vectors_per_thread());
    units_ = k.mul(vectors_, kSteps);
    for (const PrimType type : types) {
      const int lanes = lanes_of(type);
      held_.push_back(
          k.shared("factor", type, {kSteps * d.stride() * (kLanes / lanes), -1}, lanes));
    }
    const int units = kSteps * d.most_threads * d.vectors_per_thread() / group;
    for (int n = 0; n < std::max(units, 1); n++) {
      std::vector<kir::Vars> unit;
      for (int lane = 0; lane < kLanes; lane++) {
        unit.emplace_back();
        for (const PrimType type : types) unit.back().push_back(k.declare(kir::Type{type}));
      }
      fetched_.push_back(std::move(unit));
    }
  }

  /// Begins to load the factors at kSteps positions from `position` (i64) on.
  void fetch(const Value& position) {
    for (size_t n = 0; n < fetched_.size(); n++) {
      const Value u = t_.k.min(unit(static_cast<int>(n)), t_.k.sub(units_, 1));
      for (int lane = 0; lane < kLanes; lane++) {
        t_.k.assign(fetched_[n][static_cast<size_t>(lane)], loaded(u, lane, position));
      }
    }
  }

  /// What was fetched goes to shared memory. What a workgroup of fewer threads than the shape's did
  /// not fetch is loaded now.
  void keep(const Value& position) {
    Builder& k = t_.k;
    for (size_t n = 0; n < fetched_.size(); n++) {
      const Value u = unit(static_cast<int>(n));
      k.if_(k.lt(u, units_), [&] {
        std::vector<Values> lanes;
        for (const kir::Vars& v : fetched_[n]) lanes.push_back(k.read(v));
        store(u, lanes);
      });
    }
    k.for_(
        kir::i32(static_cast<int>(fetched_.size())), k.div_up(units_, t_.group_size()), kir::i32(1),
        [&](const Value& n) {
          const Value u = k.add(k.local(), k.mul(n, t_.group_size()));
          k.if_(k.lt(u, units_), [&] {
            std::vector<Values> lanes;
            for (int lane = 0; lane < kLanes; lane++) lanes.push_back(loaded(u, lane, position));
            store(u, lanes);
          });
        },
        true);
  }

  /// The factors of one step for the thread that stands at `place` in this direction, by element.
  std::vector<Values> found(const Value& step, const Value& place) {
    Builder& k = t_.k;
    std::vector<Values> out(static_cast<size_t>(d_.per_thread));
    for (int v = 0; v < d_.vectors_per_thread(); v++) {
      const Value slot = k.add(k.mul(step, d_.stride()), vector(place, v));
      for (size_t n = 0; n < held_.size(); n++) {
        const bool whole = lanes_of(types_[n]) == kLanes;
        const Value all = whole ? k.load(held_[n], slot) : Value();
        for (int lane = 0; lane < kLanes; lane++) {
          out[static_cast<size_t>(v * kLanes + lane)].push_back(
              whole ? k.extract(all, lane) : k.load(held_[n], k.add(k.mul(slot, kLanes), lane)));
        }
      }
    }
    return out;
  }

  /// The row (or column) of the thread's n-th element in this direction; i64. Beyond the end of the
  /// matrix there may be some.
  Value place_of(const Value& place, int n) { return at(vector(place, n / kLanes), n % kLanes); }

 private:
  Value vector(const Value& place, int v) { return t_.k.add(place, t_.k.mul(d_.threads, v)); }
  // Neighbouring vectors are of neighbouring rows (or columns), in each lane: so neighbouring
  // threads load, and store results, side by side.
  Value at(const Value& vector, int lane) {
    return t_.k.add(first_, t_.k.to_i64(t_.k.add(vector, t_.k.mul(vectors_, lane))));
  }

  Value unit(int n) { return t_.k.add(t_.k.local(), t_.k.mul(t_.group_size(), n)); }
  /// The step and the vector of a unit: neighbours take what is side by side in memory.
  std::pair<Value, Value> step_and_vector(const Value& unit) {
    Builder& k = t_.k;
    if (along_) return {k.and_(unit, kir::i32(kSteps - 1)), k.lshr(unit, kir::i32(kLogSteps))};
    const Value step = k.quot(unit, vectors_);
    return {step, k.sub(unit, k.mul(step, vectors_))};
  }

  // Beyond the end the last one is taken once more: that needs no condition around loads.
  Values loaded(const Value& unit, int lane, const Value& position) {
    Builder& k = t_.k;
    const auto [step, vector] = step_and_vector(unit);
    const Value last = k.sub(t_.host(t_.facts.length), 1);
    return load_(k.min(at(vector, lane), last_), k.min(k.add(position, k.to_i64(step)), last));
  }

  void store(const Value& unit, const std::vector<Values>& lanes) {
    Builder& k = t_.k;
    const auto [step, vector] = step_and_vector(unit);
    const Value slot = k.add(k.mul(step, d_.stride()), vector);
    for (size_t n = 0; n < held_.size(); n++) {
      Values all;
      for (const Values& lane : lanes) all.push_back(lane[n]);
      if (lanes_of(types_[n]) == kLanes) {
        k.store(held_[n], slot, k.compose(all));
        continue;
      }
      for (int lane = 0; lane < kLanes; lane++) {
        k.store(held_[n], k.add(k.mul(slot, kLanes), lane), all[static_cast<size_t>(lane)]);
      }
    }
  }

  Team& t_;
  const Direction& d_;
  const std::vector<PrimType>& types_;
  const bool along_;
  const Value first_;
  const Load load_;
  Value last_, vectors_, units_;  // vectors of a step, of all steps of a block
  std::vector<kir::SharedId> held_;
  std::vector<std::vector<kir::Vars>> fetched_;  // by unit, lane and scalar
};

}  // namespace kenaz::primitives::reduce
