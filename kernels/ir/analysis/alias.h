// Which arrays may share memory.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Classes of array variables of a whole program: two variables of different classes never share
/// memory. Conservative: views, updates, branches, loops and calls join what they may pass on.
class Aliases {
 public:
  explicit Aliases(const Program& p);

  /// The class of an array variable (of a scalar: a class of its own). Variables made after the
  /// analysis are in classes of their own.
  uint32_t of(VarId v) const;

 private:
  void body(const Program& p, const Body& b);
  void join(VarId a, const Atom& b);

  const Program& program_;
  mutable std::vector<uint32_t> parent_;
};

/// What the result of an expression is, or is a part or another order of; null: it is none of
/// these.
std::optional<Atom> viewed(const Exp& e);

/// All that a statement consumes: directly, and inside its branches and loops. Lambdas consume
/// only what they make themselves.
std::vector<VarId> consumed_in(const Program& p, const Stm& s);

}  // namespace kenaz::ir
