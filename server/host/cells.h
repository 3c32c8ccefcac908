// The cells that kernels tell scalars by (program::kCellBytes), while they may be running.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/program/program.h"
#include "server/device/device.h"
#include "server/host/registers.h"

namespace kenaz::host {

/// Blocks of cells that have been given to launches since the device was last known to be quiet.
/// The host may set a cell to zero, for the next launch to tell, only if nothing that was launched
/// before will store to it or read it: not what was freed and allocated again meanwhile either.
class Cells {
 public:
  explicit Cells(device::Device& device) : device_(device) {}

  /// A launch is recorded next that tells by these cells.
  void note_told(const BlockPart& cells);
  /// Something is recorded next that reads them, or stores to them and does not tell.
  void note_used(const BlockPart& cells, bool stores);
  /// A launch tells by them, and nobody has seen yet that it has.
  bool are_awaited(const BlockPart& cells) const;
  /// All that a launch tells by them is there.
  bool are_there(const BlockPart& cells) const;
  /// The host has seen that.
  void note_seen(const BlockPart& cells);
  /// The scalar at a byte of cells that are there.
  uint64_t at(const BlockPart& cells, int64_t offset, PrimType type) const;
  /// The device is quiet.
  void note_quiet() { given_.clear(); }
  /// No launch is known that may still use any.
  bool all_seen() const { return given_.empty(); }

 private:
  struct Given {
    uint64_t address = 0;
    bool awaited = false;  // it is told by one launch, which stores to it once
    bool busy = false;     // others use it as well
  };
  Given* find(const BlockPart& cells);
  const Given* find(const BlockPart& cells) const;

  device::Device& device_;
  std::vector<Given> given_;  // a few
};

}  // namespace kenaz::host
