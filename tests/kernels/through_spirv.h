// Runs a kernel as the SPIR-V that glslang makes of it, read back and interpreted.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "tests/kernels/device_run.h"

namespace kenaz {

class ThroughSpirv {
 public:
  /// With the test's memory as it is now.
  explicit ThroughSpirv(const DeviceTest& test);
  /// Expects the memory and the failure record that the test's kernel left: all bytes that are
  /// known there must be known and the same here.
  void run_and_compare(const DeviceTest& after, const kir::RunResult& result);
  /// The bytes that the test's kernel leaves in the block at this address of the test's memory.
  Result<std::vector<std::byte>> block_after(const DeviceTest& test, uint64_t address);

 private:
  Result<kir::RunResult> run(const DeviceTest& test);
  std::vector<uint64_t> slots(const DeviceTest& test) const;

  kir::Memory memory_;
  std::map<uint64_t, uint64_t> blocks_;  // by their address in the test's memory
  uint64_t record_ = 0;
};

}  // namespace kenaz
