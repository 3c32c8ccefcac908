// A kernel that the interpreter runs, and what a launch gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kir/kir.h"
#include "kernels/spirv/read.h"
#include "server/device/device.h"

namespace kenaz::device::interpreter {

class InterpretedKernel : public Kernel {
 public:
  kir::Kernel kernel;
  std::vector<std::string> places;
  uint32_t push_bytes = 0;
  bool of_spirv = false;
  std::vector<spirv::Input> inputs;  // of_spirv: by kernel.args
};

/// Parses and checks its kernel IR.
Result<KernelPtr> kernel_of_ir(const KernelSource& source);
/// Reads its SPIR-V.
Result<KernelPtr> kernel_of_spirv(const KernelSource& source);

/// The code of `source.code_of`, which this device has made, under another name and place.
KernelPtr kernel_of_another(const KernelSource& source);

/// What a kernel is run with.
struct LaunchArguments {
  uint64_t record = 0;  // the failure record's address
  std::vector<PrimValue> args;
  int64_t groups = 0;
};

/// `slots`: as program::Arg says, wherever they came from; `push`: the push constants that the
/// kernel sees. `x` and `y`: workgroups. kInternal if they do not fit the kernel.
Result<LaunchArguments> launch_arguments(const InterpretedKernel& kernel,
                                         std::span<const std::byte> slots,
                                         std::span<const std::byte> push, uint32_t x, uint32_t y);

}  // namespace kenaz::device::interpreter
