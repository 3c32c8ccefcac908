// Differences between integer variables that are known where some conditions hold: enough to see
// that `if 0 < i && i < n - 1 then a[i - 1] + a[i + 1] else ..` reads what there is.
//
// Values are taken as numbers that do not wrap: a sum counts as one only if what is known shows
// that it does not. Code that never runs may be under conditions that contradict each other; then
// anything may be concluded.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

class Differences {
 public:
  /// What holds of a variable wherever it is in scope: it is not less than `low`, if that is known,
  /// and less than each of `below`.
  struct Range {
    std::optional<int64_t> low;
    const std::vector<ir::Atom>* below = nullptr;
  };
  using RangeOf = std::function<Range(ir::VarId)>;
  Differences(const ir::Program& p, RangeOf range_of) : p_(p), range_of_(std::move(range_of)) {}

  /// Draws conclusions about `result` = the operation.
  void define(ir::VarId result, const ir::EPrim& e);
  /// The comparison's value, if it follows from what is known.
  std::optional<bool> compare(const ir::EPrim& e) const;

  /// The comparison has this value, until back_to(mark() of before).
  void assume(const ir::EPrim& e, bool holds);
  /// 0 < v, likewise.
  void assume_positive(ir::VarId v);
  size_t mark() const { return order_.size(); }
  void back_to(size_t mark);

 private:
  using MaybeVar = std::optional<ir::VarId>;
  /// plus - minus + by, where what is missing is 0.
  struct Sum {
    MaybeVar plus, minus;
    int64_t by = 0;
  };
  /// How a variable was made: plus - minus + by, unless that wrapped at `type`.
  struct Step {
    ir::Atom plus;
    std::optional<ir::Atom> minus;
    int64_t by = 0;
    PrimType type = PrimType::kI64;
  };
  /// A variable times a constant, or divided by it and rounded down; the constant is above 0.
  struct Scaled {
    ir::Atom of;
    int64_t by = 1;
  };
  /// left <= right + by, each a sum of variables.
  struct AtMost {
    std::vector<ir::VarId> left, right;
    int64_t by = 0;
  };
  /// A variable is at most other + by.
  struct Bound {
    MaybeVar other;
    int64_t by = 0;
  };

  std::optional<Sum> sum_of(const ir::Atom& a, int depth) const;
  std::optional<Sum> sum_of(const Step& s, int depth) const;
  /// a <= b + by.
  static AtMost at_most(const Sum& a, const Sum& b, int64_t by);
  bool holds(AtMost x, int depth) const;
  bool fits(const Sum& s, PrimType t, int depth) const;
  std::optional<int64_t> low(ir::VarId v, int depth) const;
  /// Whether `good(bound)` of a bound of v, of which v itself is one; with `depth` others in
  /// between.
  bool any_bound(ir::VarId v, int64_t by, int depth,
                 const std::function<bool(const Bound&)>& good) const;
  /// Whether a <= b + by.
  bool follows(const ir::Atom& a, const ir::Atom& b, int64_t by) const;
  void learn(const ir::Atom& a, const ir::Atom& b, int64_t by);

  const ir::Program& p_;
  RangeOf range_of_;
  /// Whether v is what is left of a division by something above 0, rounded down.
  bool is_remainder(ir::VarId v, int depth) const;
  const Scaled* quotient(const MaybeVar& v) const;
  /// Whether good(bound) of a bound of v, if v is the multiple of something.
  bool any_bound_of_product(ir::VarId v, int depth,
                            const std::function<bool(const Bound&)>& good) const;

  std::unordered_map<ir::VarId, Step> steps_;
  std::unordered_map<ir::VarId, Scaled> products_, quotients_;
  std::unordered_map<ir::VarId, ir::VarId> remainders_;  // by what
  std::unordered_map<ir::VarId, std::vector<Bound>> above_;
  std::unordered_map<ir::VarId, std::vector<int64_t>> lows_;
  struct Learnt {
    ir::VarId v;
    bool is_low;
  };
  std::vector<Learnt> order_;
};

}  // namespace kenaz::passes
