// Runs a kernel on the device and in the interpreter, which must leave the same memory behind.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kir/eval/testing.h"
#include "server/device/device.h"
#include "server/device/vulkan/vulkan_device.h"

namespace kenaz {

/// Of a workgroup, in most tests.
inline constexpr int kThreads = 64;

/// A kernel with its memory; `specs` of its options hold for the device, too.
struct DeviceTest : kir::KernelTest {
  std::vector<uint64_t> record = std::vector<uint64_t>(16);  // the failure record, before and after
  bool cuts = false;  // loops that the driver ends are failures with number kCutFailure
  static constexpr int kCutFailure = 77;
  bool quick_divisions = false;  // see glsl::PrintOptions
  bool contract = false;         // likewise; through SPIR-V only, for the interpreter does not
};

/// Values of the specialisation constants of the test's kernel in GLSL.
std::vector<uint32_t> constants_of(const DeviceTest& t, bool loops_look);

/// What the launch passes behind the arguments, as the server does: how many workgroups there are,
/// and digits for a kernel whose text has `slots` slots.
void push_launch(const DeviceTest& t, int slots, std::vector<uint64_t>& push);

/// The device, with the validation layer on, for all tests of a suite.
class OnDevice : public testing::Test {
 public:
  /// What the command line named.
  static inline std::string device_name = "cpu";

  /// Runs the kernel on the device only: t.memory has the blocks, t.record the failure record.
  static void run_on_device(DeviceTest& t);
  /// Runs it in both and compares the failure and all bytes that the interpreter knows, unless the
  /// driver ended a loop. `t.memory` is what the interpreter left. What it makes of the kernel's
  /// SPIR-V must be the same.
  static void run_on_both(DeviceTest& t);

 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  static device::Device& device() { return *device_; }

 private:
  static inline std::shared_ptr<device::ValidationLog> log_;
  static inline std::shared_ptr<device::Device> device_;
};

}  // namespace kenaz
