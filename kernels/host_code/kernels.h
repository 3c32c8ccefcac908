// The kernels of a program, and what their failures say.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kernels/host_code/code.h"

namespace kenaz::host_code {

class HostKernels : public HostCode {
 public:
  using HostCode::HostCode;

  /// Adds a kernel, or finds an equal one.
  KernelId add_kernel(program::Kernel k);
  int add_failure(program::KernelFailure f) override;
  /// The failure of a loop at `place` that the driver ended early.
  int cut_failure(ir::ProvId place);
  std::string kernel_name(const std::string& what);

 protected:
  /// Kernels are named after the function from here on.
  void begin_kernels(const std::string& function) { function_name_ = function; }

 private:
  std::map<std::string, KernelId> kernels_by_text_;
  std::string function_name_;
  int kernel_number_ = 0;
  std::map<uint32_t, int> cut_failures_;  // by place
};

}  // namespace kenaz::host_code
