// The Vulkan device's factory and options. Includes no Vulkan header.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/base/result.h"
#include "server/device/device.h"

namespace kenaz::device {

/// What the validation layer said. Shared with the driver's threads; outlives the device, so that a
/// main can look at count() last and end with a status that shows it.
class ValidationLog {
 public:
  static constexpr size_t kKept = 1000;
  void add(std::string message);
  int64_t count() const { return count_.load(); }
  std::vector<std::string> messages() const;  // the first kKept

 private:
  std::atomic<int64_t> count_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// Makes one Vulkan call fail as if the machine had, for tests: calls that can fail are counted
/// from 0, and the `fail_at`-th returns running out of device memory (or what is said below)
/// without being made.
struct VulkanFaults {
  std::atomic<int64_t> calls = 0;
  std::atomic<int64_t> fail_at = -1;  // negative: none
  bool lose_device = false, host_memory = false;
};

struct VulkanOptions {
  /// A part of the device's name (case does not matter), "#k" for the k-th device of the driver's
  /// list (from 0), "cpu", or empty: discrete before integrated before virtual before CPU.
  std::string device;
  /// Not null: the validation layer is switched on and its warnings and errors go here; an error if
  /// the layer is not installed.
  std::shared_ptr<ValidationLog> validation;
  /// File of compiled pipelines; empty: none. Read when the device is made, written when
  /// the device goes. Trouble with it is never an error.
  std::string pipeline_cache;
  /// Bytes of device memory that may be held at a time; 0: what the device has.
  int64_t memory_limit = 0;
  /// Asks what the driver's compiler makes of kernels (KernelCode), where it can be asked.
  bool kernel_code = false;
  /// Goes through staging buffers even where the host could reach the device's memory (for tests).
  bool force_staging = false;
  /// Drivers for CPUs compile a kernel in the device's queue, where everything waits for it. With
  /// this, another device of the driver's compiles it first; the driver keeps what it compiles
  /// (Mesa on disk), so that in the queue there is hardly anything left to do.
  bool compile_apart = false;
  /// Sees to it that a GPU whose driver lowers its clock in pauses is at full clock when there is
  /// work (see vulkan/waker.h). Takes a tenth of a processor core meanwhile.
  bool wake = true;
  /// The command line of a process that makes devices for that, and does what answer_waker does
  /// with its standard input. Empty: this process makes them, while calls wait.
  std::vector<std::string> wake_command;
  std::shared_ptr<VulkanFaults> faults;  // may be null
};

/// Makes the device once for each byte from `requests`, until that ends.
Status answer_waker(const VulkanOptions& options, int requests);

Result<std::shared_ptr<Device>> make_vulkan_device(const VulkanOptions& options);

/// Makes the same device again and again (after it was lost), with the driver loaded only once:
/// some cannot be loaded dozens of times in one process. One thread at a time.
std::function<Result<std::shared_ptr<Device>>()> vulkan_device_maker(const VulkanOptions& options);

/// "#0 NAME (discrete GPU, driver ...)", one per device, whether usable or not.
Result<std::vector<std::string>> list_vulkan_devices();

/// "#k" for each GPU that can be used, or where there is none for each other device that can.
Result<std::vector<std::string>> usable_vulkan_devices();

}  // namespace kenaz::device
