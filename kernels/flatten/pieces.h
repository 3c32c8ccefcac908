// The pieces that a nest is cut into: ESegs over its points, and arrays of the values there. For
// the files of this folder only.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "kernels/flatten/nest.h"
#include "kernels/flatten/parallelism.h"
#include "kernels/ir/ir.h"

namespace kenaz::flatten {

using Stms = std::vector<ir::Stm>;
using Vars = std::vector<ir::VarId>;

class Pieces {
 public:
  /// How many ESegs were made.
  size_t pieces() const { return count_; }

 protected:
  Pieces(ir::Program& p, Parallelism& parallelism) : p_(p), parallelism_(parallelism), values_(p) {}

  /// `of`: what statement it is part of.
  Vars emit(ir::ESeg seg, const ir::Stm& of, Stms& out);
  /// For what a statement binds, at all points of the nest.
  Vars new_arrays(const Nest& nest, const Vars& pat);
  /// Those of a statement's certificates that differ between points: ESegs cannot wait for them as
  /// a whole.
  std::vector<ir::VarId> varying_certs(const ir::Stm& s) const;
  /// Whether the value is made by one of these variables, or made again from one.
  bool depends_on(const ir::VarSet& made, const ir::Atom& a) const;

  // ---- arrays of values at all points
  /// `group`: statements that run before, at every point.
  Vars results(const Nest& nest, Stms group, const std::vector<ir::Atom>& atoms, Stms& out);
  ir::VarId own_array(const Nest& nest, const ir::Atom& value, ir::ProvId prov, Stms& out);
  /// A concatenation, rows of a literal, or an array that is repeated: by a thread for each
  /// element.
  ir::VarId put_together(const Nest& nest, const ir::Stm& s, Stms& out);
  /// Whether there is an array, at all points, of what the statement overwrites.
  bool is_stored(const Nest& nest, const ir::Stm& update) const;
  /// That array with what was written, by a thread for each element.
  ir::VarId updated(const Nest& nest, const ir::Stm& s, Stms& out);
  /// False if there is no array of what is reshaped, at all points.
  bool reshape(const Nest& nest, const ir::Stm& s, Stms& out);

  // ---- operators, on values that can be had at every point of `in`
  Vars combined(ir::SegKind kind, const Nest& in, const ir::Monoid& m,
                const std::vector<ir::Atom>& atoms, const ir::Stm& s, Stms& out);
  Vars written(const Nest& in, ir::SegWrite w, std::vector<ir::Atom> index,
               const std::vector<ir::Atom>& values, const ir::Stm& s, Stms& out);

  ir::Program& p_;
  Parallelism& parallelism_;
  PointValues values_;
  ir::ProvId prov_;               // of ESegs that run no statements
  std::vector<ir::VarId> certs_;  // that all that is emitted waits for

 private:
  ir::VarId elementwise(const Nest& nest, Stms before, ir::VarId v, ir::ProvId prov, Stms& out);
  std::optional<ir::VarId> viewed_array(const Nest& nest, const Stms& group, ir::VarId v,
                                        Stms& out);
  std::optional<ir::VarId> whole(const Nest& nest, ir::VarId v, ir::ProvId prov, Stms& out);
  Nest with_elements(Nest nest, std::vector<ir::Atom> dims, std::vector<ir::Dim>& at);
  Stms read_elements(const std::vector<ir::Atom>& arrays, const std::vector<ir::Dim>& at,
                     ir::ProvId prov, std::vector<ir::Atom>& elements);

  std::set<ir::VarId> views_;  // arrays of values_ whose memory others have as well
  size_t count_ = 0;
};

}  // namespace kenaz::flatten
