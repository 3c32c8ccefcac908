// A running program's failures, from kernels and host code, as the text that clients get.
#pragma once

#include <array>
#include <string>

#include "kernels/program/program.h"
#include "protocol/base/result.h"
#include "server/device/device.h"
#include "server/host/registers.h"

namespace kenaz::host {

/// "Error: MESSAGE\n\nBacktrace:\nBACKTRACE", of kind kProgramFailure.
tl::unexpected<Error> program_failure(const std::string& message, const std::string& backtrace);

/// A scalar as messages show it: without suffix.
std::string value_text(PrimValue value);

/// The block that kernels report failures to (see program::KernelFailure). All zero between calls.
class FailureRecord {
 public:
  static Result<FailureRecord> create(device::Device& device);

  const device::BlockPtr& block() const { return block_; }
  /// The cell to which a call's last launch says its end, if the device has such memory.
  const BlockPart& cell() const { return cell_; }
  bool can_say_end() const { return cell_.block != nullptr; }
  /// Makes kernels that run, and those after them, end as if one had failed.
  void stop(device::Device& device) const { device.poke(block_, program::kStoppedWord); }
  /// To be read together with something else: its first word, to be handed to check().
  device::ReadBack first_word() {
    return {block_, 0, std::as_writable_bytes(std::span(&word_, 1))};
  }
  /// Forgets what kernels of a call that broke off may have left.
  Status clear(device::Device& device);
  /// With the first word read: the failure's text if there is one, and the record is cleared.
  Status check(device::Device& device, const program::Program& program);

 private:
  explicit FailureRecord(device::BlockPtr block) : block_(std::move(block)) {}
  device::BlockPtr block_;
  BlockPart cell_;
  int64_t word_ = 0;
};

}  // namespace kenaz::host
