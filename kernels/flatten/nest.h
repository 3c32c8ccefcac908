// What a nest of maps computes for each of its points, and how another kernel gets at it.
//
// Flattening cuts the body of a nest into pieces, each an ESeg over the nest's space. A piece needs
// values of earlier ones: those are stored in arrays with the nest's dims in front, or made again
// where that is cheap.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// The dims around the code at hand, outer first. Every ESeg gets indices of its own; these name
/// the place of a level in the code that has not been moved yet.
struct Nest {
  std::vector<ir::SegDim> levels;
  size_t depth() const { return levels.size(); }
  std::vector<ir::VarId> indices() const;
  Nest with(ir::SegDim level) const {
    Nest n = *this;
    n.levels.push_back(level);
    return n;
  }
  /// The nest's sizes in front of the type's dims.
  ir::Type array_of(const ir::Type& t) const;
};

/// The values of a nest's variables at a point.
class PointValues {
 public:
  explicit PointValues(ir::Program& p) : p_(p) {}

  /// `v` is array[i_0, i_1, ..], where the i are the indices of the nest.
  void store(ir::VarId v, ir::VarId array, const Nest& nest);
  /// The array that holds `v` at all points of just this nest, if there is one.
  const ir::VarId* stored(ir::VarId v, const Nest& nest) const;
  /// The array whose rows `v` has at the points of the nest, row by row, if there is one: as
  /// stored(), or one from outside of the nest.
  std::optional<ir::VarId> whole(ir::VarId v, const Nest& nest) const {
    return whole(v, nest, nest.depth());
  }
  /// How the variable is made again, if it is.
  const ir::Stm* recipe(ir::VarId v) const;
  /// The variables of this statement are made again where they are needed. False if that would
  /// be too much code: then the statement is to be run once, and its results stored.
  bool make_again(const ir::Stm& s);
  /// However much code it is.
  void make_always(const ir::Stm& s);
  /// Adds `v`, and if it is made again what that needs.
  void add_needs(ir::VarId v, ir::VarSet& to) const;
  bool knows(ir::VarId v) const { return stored_.count(v) != 0 || recipes_.count(v) != 0; }

  /// The body of an ESeg over the nest that runs `stms` and gives `results`; `space` gets its
  /// dims. What the statements need of the nest's variables stands in front of them.
  ir::Body body_at_point(const Nest& nest, const std::vector<ir::Stm>& stms,
                         std::vector<ir::Atom> results, ir::SegSpace& space);

 private:
  struct Stored {
    ir::VarId array;
    std::vector<ir::VarId> indices;
  };
  struct Recipe {
    ir::Stm stm;
    size_t weight;  // statements to make it, those of what it needs included
  };
  std::optional<ir::VarId> whole(ir::VarId v, const Nest& nest, size_t levels) const;
  void fetch(ir::VarId v, ir::Body& to, ir::Subst& names, ir::ProvId prov);
  void copy_consumed(const ir::Stm& s, const ir::VarSet& shared, ir::Body& to, ir::Subst& names);
  /// Adds to `shared` what of the statement's results may be memory that other points share, given
  /// which of a body's variables are.
  void note_shared(const ir::Stm& s, ir::VarSet& shared) const;
  bool is_part_of_stored(ir::VarId v) const;

  ir::Program& p_;
  std::unordered_map<ir::VarId, Stored> stored_;
  std::unordered_map<ir::VarId, Recipe> recipes_;
};

}  // namespace kenaz::flatten
