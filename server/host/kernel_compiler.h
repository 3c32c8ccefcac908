// SPIR-V of kernels: compiled from their GLSL when it is wanted, and kept between runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/program/program.h"
#include "protocol/base/result.h"
#include "server/cache/file_store.h"

namespace kenaz::host {

/// Used by any number of threads at a time.
class KernelCompiler {
 public:
  /// Told of each kernel, by the thread that wanted it: whether it was kept from another run or was
  /// compiled now. May be null.
  using Note = std::function<void(bool kept)>;

  /// Keeps nothing.
  KernelCompiler() : KernelCompiler("", "") {}
  /// Keeps SPIR-V in files of `folder`, each good for one kernel's text and one `build` of this
  /// executable. Either empty: keeps nothing.
  KernelCompiler(std::string folder, std::string build, Note note = {});

  /// The kernel's own SPIR-V if it has any. kInternal, with the kernel's name, if its GLSL does not
  /// compile. May take long. `small`: for small launches (program::Kernel::small_bytes).
  Result<std::vector<uint32_t>> spirv(const program::Kernel& kernel, bool small = true) const;

 private:
  const cache::FileStore store_;
  const std::string build_;
  const Note note_;
};

}  // namespace kenaz::host
