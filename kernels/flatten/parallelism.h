// What in a nest is worth more threads, and may have them.
#pragma once

#include <utility>

#include "kernels/flatten/distribute.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::flatten {

/// Knows which variables differ between the points of a nest.
class Parallelism {
 public:
  /// Everything that `nest` binds inside varies, until told otherwise.
  Parallelism(const ir::Program& p, const ProgramFacts& facts, const ir::Stm& nest, Depth depth);

  bool varies(ir::VarId v) const { return varying_.contains(v); }
  bool varies(const ir::Atom& a) const { return !a.is_const() && varies(a.var()); }
  bool varies(const ir::Type& t) const;
  void is_uniform(ir::VarId v) { varying_.erase(v); }
  void is_varying(ir::VarId v) { varying_.insert(v); }

  /// From now on nothing is worth spreading, or what is. Gives what was.
  bool set_stays(bool stays) { return std::exchange(stays_, stays); }
  /// Whether the statement, inside of the nest, should become ESegs of its own.
  bool worth_spreading(const ir::Stm& s) const { return !stay(s); }
  /// Why not; null if it should.
  using Stay = std::optional<ir::Stays>;
  Stay stay(const ir::Stm& s) const;
  bool any_worth_spreading(const ir::Body& b) const;
  /// Whether an array that is put together of others is better made by elements. By itself it is no
  /// reason to spread what is around it.
  bool makes_by_elements(const ir::Stm& s) const;
  /// Whether an array that is overwritten in part is better written where it is, if it is in memory
  /// at all points: a thread would make its copy of it. No reason to spread what is around it
  /// either.
  bool writes_by_elements(const ir::Stm& s) const;
  /// Scalars that a loop carries and that are the same for all points in each of its turns, as they
  /// begin so and are made of such by what can move out.
  ir::VarSet uniform_params(const ir::ELoop& e) const;
  /// Cheap arithmetic on what is the same for all points: it can be done once, by the host.
  bool can_move_out(const ir::Stm& s) const;
  /// Cheap enough to be done again wherever its value is needed, and safe: it reads nothing that
  /// the nest writes in place.
  bool can_make_again(const ir::Stm& s) const;
  /// The operator as one on scalars, where it has such a form.
  std::optional<Lifted> lifted(const ir::Monoid& m) const { return lift(p_, facts_.replicates, m); }
  /// Whether an array at every point may be passed on: that takes memory.
  bool passes_arrays() const { return depth_ == Depth::kAll; }

 private:
  /// An operator on arrays cannot be spread, nor one that differs between points.
  bool is_spreadable(const std::vector<ir::Monoid>& monoids) const;
  bool is_spreadable(const ir::Monoid& m) const;
  Stay stay(const ir::Atom& width, const std::vector<ir::VarId>& inputs,
            const ir::Lambda& map) const;
  Stay stay(const ir::ELoop& e) const;
  bool is_tiny(const ir::Atom& width) const;
  bool is_tiny(const ir::Type& t) const;
  /// Whether pieces may be made by a thread for each element of an array.
  bool works_on_elements(const ir::Stm& s) const;

  const ir::Program& p_;
  Depth depth_;
  bool stays_ = false;
  ir::VarSet varying_;
  const ProgramFacts& facts_;
  std::unordered_set<uint32_t> consumed_;  // classes of aliases
};

}  // namespace kenaz::flatten
