#include "kernels/host_code/kernels.h"

#include <fmt/format.h>

namespace kenaz::host_code {

KernelId HostKernels::add_kernel(program::Kernel k) {
  const KernelId id{static_cast<uint32_t>(out_.kernels.size())};
  const auto [it, fresh] = kernels_by_text_.emplace(k.glsl + k.kir, id);
  if (!fresh) {
    k.code_of = it->second;
    k.glsl.clear();
    k.kir.clear();
  }
  out_.kernels.push_back(std::move(k));
  return id;
}

int HostKernels::add_failure(program::KernelFailure f) {
  out_.kernel_failures.push_back(std::move(f));
  return static_cast<int>(out_.kernel_failures.size()) - 1;
}

int HostKernels::cut_failure(ir::ProvId place) {
  const auto [it, fresh] = cut_failures_.emplace(place.valid() ? place.index : UINT32_MAX, 0);
  if (fresh) {
    it->second = add_failure(
        {{"The device's driver ended a sequential loop early: llvmpipe allows 65535 iterations in "
          "one thread, those of all its loops together. Run the program on a GPU, with "
          "--reference, or on less data."},
         {},
         place.valid() ? ir_.backtrace(place) : ""});
  }
  return it->second;
}

std::string HostKernels::kernel_name(const std::string& what) {
  return fmt::format("{}_{}_{}", function_name_, what, kernel_number_++);
}

}  // namespace kenaz::host_code
