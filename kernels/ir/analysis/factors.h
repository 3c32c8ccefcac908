// Reductions whose elements are made of two factors, as products of matrices are.
#pragma once

#include <optional>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Which dims of a reduction's space are the rows and which the columns: those before the rows and
/// those between rows and columns number matrices, and the last of the space are the positions.
/// Several dims are numbered through in row-major order.
struct GridDims {
  size_t row = 0, column = 0;  // the first of each
  size_t row_end = 0;          // behind the rows
  size_t end = 0;              // behind the columns
};
/// One dim of rows, if there are two before the positions, and one of columns.
GridDims last_dims(const ESeg& e);

/// The element of a reduction over [..][rows][columns][positions], taken apart: what depends on row
/// and position only, what depends on column and position only, and the arithmetic that makes the
/// element of the two. So rows and columns of factors can be loaded once for many elements.
struct Factors {
  /// Results: the scalars that `join` needs, under the names in `values`. May use the indices of
  /// the space but the other factor's.
  struct Side {
    Body body;
    std::vector<VarId> values;
    /// It reads at places that depend on the position. At least one of the sides does.
    bool reads = false;
    /// Neighbours in memory are the values at neighbouring positions, and not those of neighbouring
    /// rows or columns.
    bool along = false;
  };
  GridDims dims;
  Side left, right;  // of (row, position), of (column, position)
  Body join;         // uses the values of both; results: those of the ESeg's body
};

/// Null: the ESeg is no such reduction, or makes its elements in another way. The bodies share
/// their names with the ESeg's. What an element reads is read by one of the factors, at places that
/// depend on the position; nothing in them can fail.
/// Of several ways to choose rows and columns it is one in which both factors read, if there is
/// one; else one in which those of a side are computed, of its indices say.
std::optional<Factors> factors_of(const Program& p, const ESeg& e);
/// Whether there are factors and both read, as those of a product of matrices do.
bool is_product(const Program& p, const ESeg& e);

}  // namespace kenaz::ir
