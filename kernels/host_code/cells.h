// Cells: where kernels leave scalars that the host is likely to read (program::kCellBytes). Kernels
// that need them as well find them in device memory: each access to the host's takes a microsecond.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// `told`: the host reads one of them at least.
Cells allocate_cells(HostArrays& host, size_t n, bool told);

/// Stores to cells by one kernel, whose thread `t` is.
class CellStores {
 public:
  /// `tells`: what the kernel tells by them.
  CellStores(body::Thread& t, const Cells& cells, program::Kernel::Tells tells);
  /// To the n-th, once.
  void store(kir::Builder& k, size_t n, const kir::Value& value) const;

 private:
  kir::Value words_;
  std::optional<kir::Value> told_;
};

}  // namespace kenaz::host_code
