// SPIR-V compute shaders as kernel IR, so that the interpreter can run them: those that glslang
// makes of our own kernels, and others that keep to the same means (README.md has the list).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kir/kir.h"
#include "protocol/base/result.h"

namespace kenaz::spirv {

/// Where a kernel's argument comes from.
struct Input {
  enum Kind : uint8_t {
    kPush,    // push constants, from byte `number` on
    kGroups,  // u32: how many workgroups there are in dimension `number`
    kBuffer,  // u64: the address of a storage buffer; `number` is its binding, `set` its set
  };
  Kind kind = kPush;
  uint32_t number = 0, set = 0;
  friend bool operator==(const Input&, const Input&) = default;
};

struct ReadOptions {
  std::string name = "kernel";          // that the kernel gets
  std::span<const uint32_t> constants;  // specialisation constants 0, 1, ..; others: as they are
  ir::ProvId prov;                      // of the kernel and all its instructions
};

struct ReadKernel {
  kir::Kernel kernel;         // valid; functions are inlined
  std::vector<Input> inputs;  // by Kernel::args
};

/// The kernel, of one compute shader. Its workgroups are counted through: number x + y * width +
/// z * width * height is workgroup (x, y, z). What is not read is kBadRequest, with the
/// instruction's name; so is what is no module. `words` may hold anything.
Result<ReadKernel> read(std::span<const uint32_t> words, const ReadOptions& options = {});

}  // namespace kenaz::spirv
