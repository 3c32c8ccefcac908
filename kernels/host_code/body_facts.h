// What the code of an element costs and may do, as far as plans must know.
#pragma once

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

}  // namespace kenaz::host_code
