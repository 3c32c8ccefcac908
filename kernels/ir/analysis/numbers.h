// Equal numbers for values that are certainly equal, also at another point of a space: the next one
// along a dim, say, or in the next iteration of a loop.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Numbers of values at several points, which are said by what their indices are there. Scalars
/// only: operations, and elements of arrays from outside of what is numbered. Equal numbers mean
/// that the same checks are made for both, too.
class Numbers {
 public:
  using Id = uint32_t;
  /// The numbers of variables at one point.
  using Point = std::unordered_map<VarId, Id>;

  /// A value that equals no other.
  Id fresh() { return next_++; }
  /// What an integer (the same everywhere) and a constant add up to.
  Id plus(Id value, PrimType type, uint64_t offset);
  /// Notes that an integer and its successor are numbers of its type.
  void has_successor(Id value) { have_successors_.insert(value); }
  /// Of a variable that `at` does not have: that of a variable which is the same everywhere.
  Id of(const Atom& a, const Point& at);
  /// Numbers what the statement binds. What is not known to equal anything gets a fresh number, and
  /// so does all that nested bodies compute.
  void bind(const Program& p, const Stm& s, Point& at);

 private:
  struct Sum {
    Id value;
    uint64_t offset;
  };
  using Key = std::vector<uint64_t>;
  Id find(Key key);
  Sum parts(Id id) const;
  bool converts_parts(const EPrim& e, Id a) const;
  Id prim(const EPrim& e, const Point& at);
  Id sum(const EPrim& e, Id a, Id b);
  Id checked(Id id, const std::vector<VarId>& certs, const Point& at);

  std::map<Key, Id> ids_;
  std::unordered_map<Id, Sum> sums_;
  std::unordered_map<Id, uint64_t> constants_;  // integers
  std::unordered_set<Id> have_successors_;
  Id next_ = 0;
};

}  // namespace kenaz::ir
