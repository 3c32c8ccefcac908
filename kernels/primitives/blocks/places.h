// Elements of several segments in one row: which segment and position the i-th of them has.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

class Places {
 public:
  /// `length`: of the segments, i64; not 0 where places are asked for.
  explicit Places(const kir::Value& length) : length_(length) {}

  /// Before `at`, in the same block or around: elements from `from` on are asked for next. The one
  /// division here saves one per element.
  void begin(kir::Builder& k, const kir::Value& from);
  plan::Place at(kir::Builder& k, const kir::Value& flat) const;

 private:
  kir::Value length_, from_, segment_, position_;  // i64
};

}  // namespace kenaz::primitives::blocks
