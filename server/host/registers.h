// What host code computes with: scalars, and blocks of device memory.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/program/program.h"
#include "server/device/device.h"

namespace kenaz::host {

/// What a block register holds: a block, or a part of one. No block: nothing.
struct BlockPart {
  BlockPart() = default;
  BlockPart(device::BlockPtr all)  // NOLINT: a block is a part of itself
      : block(std::move(all)), bytes(block ? block->bytes() : 0) {}
  BlockPart(device::BlockPtr whole, int64_t from, int64_t size)
      : block(std::move(whole)), offset(from), bytes(size) {}
  uint64_t address() const { return block->address() + static_cast<uint64_t>(offset); }
  device::BlockPtr block;
  int64_t offset = 0, bytes = 0;
  bool has_cells = false;  // program::kCellBytes
};

struct Registers {
  std::vector<PrimValue> scalars;
  std::vector<BlockPart> blocks;

  PrimValue value(const program::Operand& o) const {
    if (const auto* v = std::get_if<PrimValue>(&o)) return *v;
    return scalars[std::get<program::ScalarReg>(o).index];
  }
  /// Sizes, offsets and counts.
  int64_t index(const program::Operand& o) const;
};

}  // namespace kenaz::host
