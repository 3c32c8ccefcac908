// A device that interprets kernel IR on the CPU, exactly, and takes nothing on trust: a race, a
// barrier that not all threads reach, the use of undefined memory and an access outside of a block
// are failures of the call, with the place in the program. It can be given the facts of any GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "protocol/base/result.h"
#include "server/device/device.h"

namespace kenaz::device {

namespace interpreter {
struct Observations;
}

struct InterpreterOptions {
  int subgroup_size = 32;     // 1: kernels use no subgroups
  int max_group_size = 1024;  // threads of a workgroup, at most 1024
  int64_t shared_bytes = 48 << 10;
  int64_t memory_limit = 0;  // bytes of all blocks; 0: a quarter of this machine's memory
  uint64_t seed = 1;         // of the interleaving of threads; 0: each runs as far as it can
  int concurrent_groups = 4;
  bool forward_progress = false;
  bool starts_in_order = false;  // workgroups, by their numbers; else by chance
  /// Of every launch, run so many workgroups at most, chosen by `seed`; 0: all of them. What the
  /// others would have computed is undefined. Not with `through_spirv`: such kernels do not say
  /// which of their arguments are blocks.
  int64_t groups = 0;
  /// Whether the host may read what nobody has written: zeros. Else that is a failure, too.
  bool undefined_reads = false;
  /// Kernels come as SPIR-V, as for any other device, and are read back into kernel IR.
  bool through_spirv = false;
  /// Gets what kernels do; null: nobody looks. To be read while the device is idle.
  std::shared_ptr<interpreter::Observations> observations;
};

std::shared_ptr<Device> make_interpreter_device(const InterpreterOptions& options);

}  // namespace kenaz::device
