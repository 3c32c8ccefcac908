// Cells: where kernels leave scalars for the host (program::kCellBytes).
#pragma once

#include <cstddef>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// The scalar of the block's n-th cell.
HostScalar cell(PrimType type, BlockReg block, size_t n);

/// Stores to cells by one kernel, whose thread `t` is.
class CellStores {
 public:
  /// `tells`: what the kernel tells by them.
  CellStores(HostArrays& host, body::Thread& t, BlockReg block, program::Kernel::Tells tells);
  /// To the n-th cell, once.
  void store(kir::Builder& k, size_t n, const kir::Value& value) const;

 private:
  kir::Value base_;
  bool marks_;
};

}  // namespace kenaz::host_code
