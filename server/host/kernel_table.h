// A program's kernels on the device, each made when it is first launched.
#pragma once

#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/program/program.h"
#include "protocol/base/large_stack_thread.h"
#include "server/device/device.h"
#include "server/host/kernel_compiler.h"

namespace kenaz::host {

/// A kernel for launches of small blocks only, or for any (program::Kernel::small_bytes), and with
/// loops that look whether the call is to stop or without (program::Kernel::turns). Where that is
/// the same code, all launches are small, and look.
struct KernelVersion {
  program::KernelId id;
  bool small = true, looks = true;
};

/// Kernels are compiled, to SPIR-V and by the driver, on a thread of their own: for some programs
/// that takes minutes, and cannot be interrupted. The call that waits for it can; what was begun
/// goes on then, for whoever asks next. Kernels with the same code are made together, as one. Used
/// by one thread at a time.
class KernelTable {
 public:
  /// Kernels and device must outlive this, which waits for the driver when it goes.
  KernelTable(const std::vector<program::Kernel>& kernels,
              std::shared_ptr<const KernelCompiler> compiler, device::Device& device)
      : kernels_(kernels),
        compiler_(std::move(compiler)),
        device_(device),
        slots_(kVersions * kernels.size()) {}

  /// The kernel if it has been made, else null.
  device::KernelPtr find(KernelVersion v) const { return slot(v).kernel; }

  /// Whether a kernel is being made.
  bool is_busy() const;

  using Made = std::shared_future<Result<device::KernelPtr>>;
  /// Has the kernel made, unless that is going on already. For CPUs the driver compiles in the
  /// device's own queue, so what is there should have ended.
  Made begin(KernelVersion version);
  /// With what begin() gave, once it is there. An error is not kept: the next one tries again.
  Result<device::KernelPtr> finish(KernelVersion version, const Made& made);

 private:
  struct Making {
    std::promise<Result<device::KernelPtr>> promise;
    Made made = promise.get_future().share();
    std::unique_ptr<LargeStackThread> thread;  // goes first
  };
  struct Slot {
    device::KernelPtr kernel;
    std::unique_ptr<Making> making;  // of one that has code of its own
  };
  static constexpr size_t kVersions = 4;
  /// The same version of the kernel that has its code.
  KernelVersion code_of(KernelVersion v) const;
  static size_t place(KernelVersion v) {
    return kVersions * v.id.index + (v.small ? 0 : 1) + (v.looks ? 0 : 2);
  }
  Slot& slot(KernelVersion v) { return slots_[place(v)]; }
  const Slot& slot(KernelVersion v) const { return slots_[place(v)]; }
  Status keep(KernelVersion code, const device::KernelPtr& made);

  const std::vector<program::Kernel>& kernels_;
  const std::shared_ptr<const KernelCompiler> compiler_;
  device::Device& device_;
  std::vector<Slot> slots_;  // of each kernel so many
};

}  // namespace kenaz::host
