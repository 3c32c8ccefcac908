// Kernel IR as the text of a GLSL compute shader.
#pragma once

#include <functional>
#include <string>

#include "kernels/kir/kir.h"

namespace kenaz::glsl {

struct PrintOptions {
  /// The number of the failure that a loop at this place reports where the device's driver ended
  /// it early (llvmpipe does). None: such loops are not looked for.
  std::function<int(ir::ProvId)> cut_failure;
  /// Products and sums of floats may be contracted (compile.h), and functions of floats are those
  /// for that (LibraryOptions::fused_floats).
  bool contract = false;
  /// 64-bit integers that have 32 bits are divided as such. Devices divide 32 bits several times as
  /// fast, and indices and sizes rarely have more; but the branch costs what runs both sides of it.
  bool quick_divisions = false;
  bool skips_look = false;  // program::Kernel has it
  /// The kernel, which skips looks, is to say its end (program::Kernel has it) if it cannot fail,
  /// all of its loops end by themselves, and its slots are push constants then.
  bool says_end = false;
};

struct PrintedKernel {
  std::string text;
  int nesting = 0;  // of conditions and loops, at most
  bool may_fail = false, says_end = false;
  /// Of the launch: the failure record, the arguments, the number of workgroups;
  /// program::kDigitSlots more of a kernel that reads ahead, if they are push constants then.
  int slots = 0;
};

/// Arguments travel as program::Arg says. Specialisation constant 0 is `loops_look` (see
/// program::KernelFailure); Kernel::specs have the numbers from 1 on. The kernel must be valid, and
/// its group's size a number or a specialisation constant: GLSL has no product of both. A kernel
/// whose threads meet takes one word of shared memory more than its arrays.
PrintedKernel print_kernel(const kir::Kernel& kernel, const PrintOptions& options);
}  // namespace kenaz::glsl
