// What is known about the values of integer variables: enough to see that an index that comes from
// a loop or an iota is in bounds.
//
// Only facts that hold wherever the variable is in scope: from binders and from operations that
// cannot overflow. Nothing is concluded from checks, since a check may be removed later.
#pragma once

#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/ir.h"
#include "kernels/passes/differences.h"

namespace kenaz::passes {

class Ranges {
 public:
  /// 0 <= v.
  void nonnegative(ir::VarId v);
  /// 0 <= v < bound.
  void index(ir::VarId v, const ir::Atom& bound);
  /// Draws conclusions about `result` = the operation.
  void define(ir::VarId result, const ir::EPrim& e);
  /// Whether the type has all values that the integer may have, which is seen only of integers that
  /// are not negative.
  bool fits(const ir::Atom& a, PrimType t) const;
  /// The comparison's value, if it follows from what is known.
  std::optional<bool> compare(const ir::EPrim& e) const;
  /// What is known, for who concludes more from it.
  Differences::Range known(ir::VarId v) const;

 private:
  struct Range {
    int64_t low = std::numeric_limits<int64_t>::min();
    std::vector<ir::Atom> below;  // the value is less than each of these
  };
  Range of(const ir::Atom& a) const;
  bool less(const ir::Atom& a, const ir::Atom& b) const;
  static bool const_below(const Range& r, int64_t& bound);

  std::unordered_map<ir::VarId, Range> ranges_;
  /// (variable, type) -> the variable that holds its conversion
  std::unordered_map<uint64_t, ir::VarId> converted_;
};

}  // namespace kenaz::passes
