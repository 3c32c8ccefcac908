// What code generation knows of the device that a program is compiled for. A Program carries it:
// one out of a cache counts on a device with the same facts only.
#pragma once

#include <cstdint>

namespace kenaz::program {

/// The defaults are what Vulkan guarantees everywhere: code for them runs on any device.
struct Target {
  int subgroup_size = 1;             // 1: subgroups are not used
  bool subgroup_arithmetic = false;  // reduce and scan instructions; shuffles and votes, too
  bool fixed_subgroups = false;      // of so many threads in every kernel
  int max_group_size = 128;          // threads
  int shared_bytes = 16384;          // of a workgroup's arrays
  int64_t threads = 1024;            // that it takes to fill the device
  int64_t cache_bytes = 1 << 20;     // of the last cache level
  bool f16 = false, f64 = false;
  bool i64_atomics = false;  // on device memory
  bool shared_i64_atomics = false;
  bool f32_atomic_add = false, f64_atomic_add = false;  // on device memory
  bool shared_f32_atomic_add = false, shared_f64_atomic_add = false;
  bool forward_progress = false;  // workgroups that have started proceed
  bool starts_in_order = false;   // .. and they start in the order of their numbers
  int64_t max_turns = 0;          // of all loops of a thread together; 0: no limit
  /// A product and a sum of floats may become one operation that rounds once.
  bool contracts_floats = false;
  /// Loads before anything else, at addresses made of what the launch passes (kir's reads_ahead),
  /// cost next to nothing, and others are made thread by thread: llvmpipe.
  bool reads_ahead = false;
  bool interprets = false;  // it runs kernel IR: kernels come as its text, not as GLSL
  friend bool operator==(const Target&, const Target&) = default;
};

}  // namespace kenaz::program
