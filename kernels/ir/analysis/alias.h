// Which arrays may share memory.
#pragma once

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

/// All that a statement consumes: directly, and inside its branches and loops. Lambdas consume
/// only what they make themselves.
std::vector<VarId> consumed_in(const Program& p, const Stm& s);

}  // namespace kenaz::ir
