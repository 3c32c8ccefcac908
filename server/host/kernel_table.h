// A program's kernels on the device, each made when it is first launched.
#pragma once

#include <future>
#include <memory>
#include <vector>

#include "kernels/program/program.h"
#include "protocol/base/large_stack_thread.h"
#include "server/device/device.h"
#include "server/host/call_stop.h"

namespace kenaz::host {

/// Drivers compile kernels on a thread of their own: for some programs that takes minutes, and
/// cannot be interrupted. The call that waits for it can.
class KernelTable {
 public:
  /// Both must outlive this, which waits for the driver when it goes.
  KernelTable(const std::vector<program::Kernel>& kernels, device::Device& device)
      : kernels_(kernels), device_(device), slots_(kernels.size()) {}

  /// The time that it takes is not the call's. Fails if the call is cancelled; what was begun goes
  /// on then, for whoever asks next.
  Result<device::KernelPtr> get(program::KernelId id, CallStop& stop);

 private:
  struct Making {
    std::promise<Result<device::KernelPtr>> promise;
    std::future<Result<device::KernelPtr>> made = promise.get_future();
    std::unique_ptr<LargeStackThread> thread;  // goes first
  };
  struct Slot {
    device::KernelPtr kernel;
    std::unique_ptr<Making> making;
  };
  void begin(const program::Kernel& source, Slot& slot);

  const std::vector<program::Kernel>& kernels_;
  device::Device& device_;
  std::vector<Slot> slots_;
};

}  // namespace kenaz::host
