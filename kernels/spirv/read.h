// SPIR-V compute shaders as kernel IR, so that the interpreter can run them: those that glslang
// makes of our own kernels, and others that keep to the same means (README.md has the list).
#pragma once

#include <cstdint>
#include <map>
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
    kBytes,   // u64: how many bytes that buffer has
  };
  Kind kind = kPush;
  uint32_t number = 0, set = 0;
  friend bool operator==(const Input&, const Input&) = default;
};

struct ReadOptions {
  std::string name = "kernel";          // that the kernel gets
  std::span<const uint32_t> constants;  // specialisation constants 0, 1, ..; others: as they are
  ir::ProvId prov;                      // of the kernel and all its instructions; or see `places`
  std::string entry;                    // of several shaders in a module; empty: the only one
  std::map<uint32_t, uint64_t> specialised = {};  // bits of constants, by SpecId
};

/// A text that lines are of: what the module was compiled from, or, if it does not say, a listing
/// of its instructions, one in a line, of an empty name.
struct SourceFile {
  std::string name;
  std::string text;  // empty: the module does not have it
};
struct SourcePlace {
  size_t file = 0;  // index into ReadKernel::files
  uint32_t line = 0;
};

struct ReadKernel {
  kir::Kernel kernel;         // valid; functions are inlined
  std::vector<Input> inputs;  // by Kernel::args
  /// Unless ReadOptions::prov is valid: by ProvId, an instruction's line and those of the calls
  /// around it, outwards.
  std::vector<std::vector<SourcePlace>> places;
  std::vector<SourceFile> files;
  struct SpecConstant {
    std::string name;  // empty: the module does not say
    PrimType type = PrimType::kI32;
  };
  std::map<uint32_t, SpecConstant> spec_constants;  // by SpecId
};

/// The kernel, of one compute shader. Its workgroups are counted through: number x + y * width +
/// z * width * height is workgroup (x, y, z). What is not read is kBadRequest, with the
/// instruction's name; so is what is no module. `words` may hold anything.
Result<ReadKernel> read(std::span<const uint32_t> words, const ReadOptions& options = {});

}  // namespace kenaz::spirv
