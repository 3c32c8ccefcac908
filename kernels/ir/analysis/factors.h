// Reductions whose elements are made of two factors, as products of matrices are.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// The element of a reduction over [..][rows][columns][positions], taken apart: what depends on row
/// and position only, what depends on column and position only, and the arithmetic that makes the
/// element of the two. So rows and columns of factors can be loaded once for many elements.
struct Factors {
  /// Results: the scalars that `join` needs, under the names in `values`. May use the indices of
  /// the space but the other factor's.
  struct Side {
    Body body;
    std::vector<VarId> values;
    /// Neighbours in memory are the values at neighbouring positions, and not those of neighbouring
    /// rows or columns.
    bool along = false;
  };
  Side left, right;  // of (row, position), of (column, position)
  Body join;         // uses the values of both; results: those of the ESeg's body
};

/// Null: the ESeg is no such reduction, or makes its elements in another way. The bodies share
/// their names with the ESeg's. What an element reads is read by one of the factors, at places that
/// depend on the position; nothing in them can fail.
std::optional<Factors> factors_of(const Program& p, const ESeg& e);

}  // namespace kenaz::ir
