// A block of device memory, as the interpreter sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "kernels/kir/eval/races.h"

namespace kenaz::kir {

struct Memory::Block {
  uint64_t address = 0;
  std::vector<std::byte> data;
  std::vector<uint8_t> known;            // by byte: 0xff if it is defined, else 0
  std::unique_ptr<eval::Shadow> shadow;  // of the current run; made at the first access
};

}  // namespace kenaz::kir
