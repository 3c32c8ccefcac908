// Combining one value of each thread, over a subgroup or the workgroup, in the threads' order:
// by the subgroup's own instructions where the operator and the target have them, else by
// shuffles, else through shared memory.
#pragma once

#include <vector>

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Team;

/// An operator in one kernel, for the lanes of a subgroup.
class SubgroupCombiner {
 public:
  SubgroupCombiner(Team& team, const plan::Operator& op);

  const plan::Operator& op() const { return op_; }
  Values combine(const Values& a, const Values& b) const { return op_.combine(t_.k, a, b); }

  /// Of all lanes of the subgroup; every lane gets it. Only on targets with subgroups, as are the
  /// others of their kind.
  Values subgroup_reduce(const Values& x);
  /// Of the `width` lanes (i32, a power of two, equal for the workgroup, at most the subgroup's
  /// size) around this lane; log2_width is its logarithm.
  Values part_reduce(const Values& x, const Value& log2_width);
  Values subgroup_inclusive(const Values& x);
  /// The lanes before this one, of what all lanes got of subgroup_inclusive; neutral in lane 0.
  Values subgroup_before(const Values& inclusive);
  /// Inclusive within each part of `width` lanes.
  Values part_inclusive(const Values& x, const Value& log2_width);
  /// As subgroup_before, within parts; `lane` (i32) is this one's number in its part.
  Values part_before(const Values& inclusive, const Value& lane);

 protected:
  Team& t_;
  plan::Operator op_;

 private:
  /// By the subgroup operation that every scalar has.
  Values native(kir::SubgroupOp op, const Values& x);
  Value log2_subgroup();

 protected:
  Values butterfly(const Values& x, const Value& log2_width);
  Values shuffle_scan(const Values& x, const Value& log2_width);

  bool native_;  // every scalar has a subgroup operation
};

/// .. for a workgroup, with the shared memory that it takes: one value per thread. A thread that
/// has stopped stores nothing, so what it would have is neutral, or left from an earlier call.
class Combiner : public SubgroupCombiner {
 public:
  /// At the start of the kernel.
  Combiner(Team& team, const plan::Operator& op);

  /// Of all values of the workgroup; every thread gets it. Contains barriers, may stand in a
  /// uniform loop. `of_subgroup`: all lanes of a subgroup have its result already.
  Values reduce(const Values& x, bool of_subgroup = false);

  /// The workgroup as rows of `width` threads (i32, equal for the workgroup, a divisor of its
  /// size): each thread gets the combination of its column, from the first row on. As reduce.
  Values reduce_columns(const Values& x, const Value& width);

  struct Scan {
    Values before;  // the threads before this one; neutral in thread 0
    Values total;   // all of the workgroup
  };
  /// As reduce.
  Scan scan(const Values& x);
  /// The same of one value of each subgroup, that of its last lane. Only on targets with subgroups.
  Scan scan_subgroups(const Values& x);

 private:
  bool totals_fit_lanes() const;
  Values total_of_lane();
  Value log2_subgroups();
  Scan tree_scan(const Values& x);
  void store(const Value& index, const Values& x);
  Values load(const Value& index);

  std::vector<kir::SharedId> shared_;
};

/// cond ? a : b, for each scalar.
Values select(Builder& k, const Value& cond, const Values& a, const Values& b);

/// The logarithm of a power of two; i32.
Value log2_of(Builder& k, const Value& power);

}  // namespace kenaz::primitives::blocks
