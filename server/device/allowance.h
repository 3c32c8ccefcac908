// Bytes that may be taken of a device's memory from some time on.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "protocol/base/result.h"
#include "server/device/device.h"

namespace kenaz::device {

/// See Device::set_allowance. `used` is what blocks have now.
class Allowance {
 public:
  void set(int64_t bytes, int64_t used) {
    most_ = bytes < 0 || bytes > kAny - used ? kAny : used + bytes;
  }
  /// Negative: there is no limit.
  int64_t left(int64_t used) const {
    return most_ == kAny ? -1 : std::max<int64_t>(most_ - used, 0);
  }
  /// Whether a block of `bytes` may be had.
  Status check(int64_t bytes, int64_t used) const {
    if (most_ == kAny || bytes <= most_ - used) return {};
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of memory: {} bytes are wanted of the {} that are left of what "
                            "the call may take",
                            bytes, left(used)));
  }

 private:
  static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  int64_t most_ = kAny;
};

/// Gives a device an allowance, while it lives, of so many bytes; 0: none.
class WithAllowance {
 public:
  WithAllowance(Device& device, int64_t bytes) : device_(device) {
    if (bytes > 0) device_.set_allowance(bytes);
  }
  ~WithAllowance() { device_.set_allowance(-1); }
  WithAllowance(const WithAllowance&) = delete;
  WithAllowance& operator=(const WithAllowance&) = delete;

 private:
  Device& device_;
};

/// The reverse: leaves what is left of it to when this goes.
class WithoutAllowance {
 public:
  explicit WithoutAllowance(Device& device) : device_(device), left_(device.allowance()) {
    device_.set_allowance(-1);
  }
  ~WithoutAllowance() { device_.set_allowance(left_); }
  WithoutAllowance(const WithoutAllowance&) = delete;
  WithoutAllowance& operator=(const WithoutAllowance&) = delete;

 private:
  Device& device_;
  const int64_t left_;
};

}  // namespace kenaz::device
