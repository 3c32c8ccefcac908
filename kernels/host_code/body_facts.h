// What the code of an element costs and may do, as far as plans must know.
#pragma once

#include "kernels/ir/analysis/factors.h"
#include "kernels/ir/ir.h"

namespace kenaz::host_code {

/// Large, or with loops: not to be repeated.
bool is_slow(const ir::Body& b);
/// Whether a thread that runs it may stop: at a check, or in a loop that ends with the call.
bool may_stop(const ir::Body& b);

/// What an element reads of arrays.
struct Reads {
  int bytes = 0;
  /// Somewhere: at an index that is computed for it.
  bool gathers = false;
};
Reads reads_of(const ir::Program& p, const ir::Body& b);

/// Whether neighbouring threads had better take neighbouring segments than neighbouring elements of
/// one: so that fewer of the body's reads are of memory far apart. An index that is the same for
/// neighbours is a read of one place. Where nothing is read along segments, a thread for each has
/// the least to combine; but what a scan stores lies along them.
bool reads_across(const ir::Program& p, const ir::ESeg& e);

/// Of a reduction of `grid`: whether neighbouring rows, or columns, had better be reduced by one
/// thread, because what their elements read does not depend on all indices.
struct SharedReads {
  bool by_rows = false, by_columns = false;
};
SharedReads shared_reads(const ir::Program& p, const ir::ESeg& e, const ir::GridDims& grid);

}  // namespace kenaz::host_code
