// Adjoints of the variables of one scope, as sums of contributions that are made when they are
// asked for.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "kernels/ad/activity.h"
#include "kernels/ad/counters.h"
#include "kernels/ir/builder.h"

namespace kenaz::ad {

/// A contribution to parts of an array. Either a slice (as of EIndex), or at indices: one atom per
/// leading dim of the array, which are i64 scalars if `batch` is empty, else arrays of that shape;
/// `value` then has the shape batch ++ rest. Indices outside of the array contribute nothing.
struct Part {
  std::vector<ir::Dim> slice;
  std::vector<ir::Atom> batch, index;
  ir::Atom value = PrimValue{};
  std::vector<ir::VarId> certs;  // of the slice
  /// One index of the first dim, which is inside if the array has rows at all. Something went
  /// through all of them to find it, so going through them once more costs no more than that.
  bool found = false;
  bool is_slice() const { return index.empty(); }
};

struct Adjoint {
  std::optional<ir::Atom> value;  // null: zero
  std::vector<Part> parts;        // still to be added
};

/// By variable, in a fixed order.
using Frame = std::map<uint32_t, Adjoint>;

/// The adjoints of a scope: of the variables bound in it and of those that are free.
class Adjoints {
 public:
  using Builder = ir::Builder;
  using Atom = ir::Atom;
  using VarId = ir::VarId;
  using Atoms = std::vector<Atom>;
  using Vars = std::vector<VarId>;
  using Maybe = std::optional<Atom>;

  explicit Adjoints(ir::Program& p) : p_(p), counters_(p) {}

  ir::Program& program() { return p_; }
  bool varies(const Atom& a) const { return activity_.has(a); }
  /// Adds to the adjoint of a variable; nothing if it does not vary.
  void contribute(Builder& b, const Atom& to, const Atom& value);
  void contribute(const Atom& to, Part part);
  /// The adjoint of a variable, which is complete; null if it is zero. It leaves the frame.
  Maybe take(Builder& b, VarId v);
  Atom take_or_zero(Builder& b, VarId v);

 protected:
  Adjoint& adjoint(VarId v) { return frame_[v.index]; }
  /// Runs `f` in a frame of its own and returns what is left in it: adjoints of free variables.
  Frame in_frame(const std::function<void()>& f);
  /// The sum of its parts upon `base` (null: zero).
  Atom total(Builder& b, VarId of, const Adjoint& a, const Maybe& base);
  /// Whether the part's value is for all of the array, element by element.
  bool is_in_order(const ir::Type& type, const Part& part) const;
  /// Adds what is left in a frame inside of this one, whose variables are all in scope here.
  void merge(Builder& b, const Frame& inner);

  ir::Program& p_;
  Activity activity_;
  Counters counters_;
  Frame frame_;
};

/// Adds the contribution to `base`, which it consumes.
ir::VarId add_part(ir::Builder& b, ir::VarId base, const Part& part);
/// The same contribution at indices (of `type`), which nothing needs to certify.
Part at_indices(ir::Builder& b, const ir::Type& type, const Part& part);
/// The one-dimensional array, repeated along the dims before and behind its own.
ir::VarId along(ir::Builder& b, ir::VarId array, const std::vector<ir::Atom>& before,
                const std::vector<ir::Atom>& behind);
/// Whether the slice fixes leading dims and takes all of the others.
bool is_prefix(const ir::Type& type, const std::vector<ir::Dim>& dims);
/// The dims of the part's value.
std::vector<ir::Atom> value_dims(const ir::Type& type, const Part& part);

}  // namespace kenaz::ad
