// What a kernel needs of a device, and whether a target has it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/kir/kir.h"
#include "kernels/program/target.h"

namespace kenaz::kir {

struct Needs {
  bool full_subgroups = false;  // it uses a subgroup's facts or operations
  bool subgroup_arithmetic = false, shuffle = false, vote = false;
  bool f16 = false, f64 = false;     // values of that type
  bool int8 = false, int16 = false;  // arithmetic on integers of that width
  bool i64_atomics = false;          // on device memory
  bool shared_i64_atomics = false;
  bool f32_atomic_add = false, f64_atomic_add = false;  // on device memory
  bool shared_f32_atomic_add = false, shared_f64_atomic_add = false;
  bool forward_progress = false;
  int64_t group_size = 1;    // threads
  int64_t shared_bytes = 0;  // at most: every array rounded up to 16 bytes, and 16 if threads meet
  friend bool operator==(const Needs&, const Needs&) = default;
};

/// `specs`: by Kernel::specs; empty: their fallbacks. The kernel must be valid.
Needs needs_of(const Kernel& kernel, std::span<const PrimValue> specs = {});

/// What the target lacks, for people, or nullopt. Integers of 8 and 16 bits are not looked at:
/// every device that the server takes has them.
std::optional<std::string> unmet(const Needs& needs, const program::Target& target);

/// The number that a size of the kernel stands for.
int64_t value_of(const Kernel& kernel, const StaticSize& size,
                 std::span<const PrimValue> specs = {});

}  // namespace kenaz::kir
