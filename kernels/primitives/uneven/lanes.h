// The threads of a subgroup; on targets whose subgroups can do nothing, each thread is one of its
// own.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::uneven {

using kir::Value;
using kir::Values;

/// All i32.
class Lanes {
 public:
  explicit Lanes(plan::Team& team) : k_(team.k), real_(team.has_subgroups()) {}

  Value size() const { return real_ ? k_.subgroup_size() : kir::i32(1); }
  Value lane() const { return real_ ? k_.lane() : kir::i32(0); }
  Value sum(const Value& x) const {
    return real_ ? k_.subgroup_combine(kir::SubgroupOp::kReduce, ScalarOp::kAdd, x) : x;
  }
  /// What this lane has.
  Value of(const Value& lane, const Value& x) const {
    return real_ ? k_.shuffle(kir::SubgroupOp::kShuffle, x, lane) : x;
  }
  Values of(const Value& lane, const Values& all) const {
    Values out;
    for (const Value& x : all) out.push_back(of(lane, x));
    return out;
  }
  bool real() const { return real_; }

 private:
  kir::Builder& k_;
  bool real_;
};

}  // namespace kenaz::primitives::uneven
