// What is known of the integers that code counts with: which are sizes, how long a loop is at most,
// seen from outside of the maps around it.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/ir.h"

namespace kenaz::ad {

class Counters {
 public:
  explicit Counters(const ir::Program& p) : p_(p) {}

  /// Code that may not run: what is learned in it counts there only.
  using Mark = size_t;
  Mark mark() const { return sizes_.size(); }
  void forget(Mark since);
  /// Code of a map's elements.
  void enter_map();
  void leave_map() { --depth_; }

  /// Takes in what the body's own statements bind.
  void note(const ir::Body& b);
  void note(const ir::Stm& s);
  /// A variable that is bound here, or comes from outside.
  void bind(ir::VarId v);
  /// Whether it is bound outside of the map around.
  bool is_outside_of_map(ir::VarId v) const { return depth_of(v) < depth_; }
  bool is_outside_of_all_maps(const ir::Atom& a) const {
    return a.is_const() || depth_of(a.var()) == 0;
  }
  /// 0 <= v < bound.
  void below(ir::VarId v, const ir::Atom& bound);
  /// `v` is an element of the array.
  void element(ir::VarId v, ir::VarId array);
  /// `v` is `of`, or zero if that is less.
  void clamped(const ir::Atom& v, const ir::Atom& of);

  /// n if the array is 0, 1, .., n - 1.
  std::optional<ir::Atom> length_of_iota(ir::VarId array) const;
  /// Whether it was known by then that the integer is not negative.
  bool is_size(const ir::Atom& a, Mark by) const;
  /// Whether that is known outside of all maps.
  bool is_size_everywhere(const ir::Atom& a) const {
    return is_size(a, depth_ == 0 ? mark() : outermost_);
  }
  /// A value that is never less than `a`, and known outside of more maps; `a` itself if there is
  /// none.
  ir::Atom at_most(const ir::Atom& a) const;

 private:
  void bind_place(ir::VarId v);
  int depth_of(ir::VarId v) const;
  ir::Atom bound_of(const ir::Atom& a) const;
  bool is_index(const ir::Atom& a) const { return !a.is_const() && below_.count(a.var()) != 0; }

  const ir::Program& p_;
  int depth_ = 0;
  Mark outermost_ = 0;
  std::unordered_map<ir::VarId, int> depths_;  // by variable: in how many maps; none if missing
  std::unordered_map<ir::VarId, ir::Atom> below_, iotas_;
  std::unordered_map<ir::VarId, ir::EPrim> sums_;  // sums and differences
  std::vector<ir::VarId> sizes_;                   // in the order in which they were learned
  std::unordered_map<ir::VarId, Mark> when_;       // by size
  ir::VarSet clamped_;
};

}  // namespace kenaz::ad
