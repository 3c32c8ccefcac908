#include "server/host/renewed_device.h"

#include <utility>

#include "protocol/base/check.h"

namespace kenaz::host {

namespace {
constexpr std::chrono::seconds kBetweenAttempts{1};
}

RenewedDevice::RenewedDevice(Maker maker, DevicePtr first)
    : maker_(std::move(maker)), device_(std::move(first)) {
  CHECK(device_ != nullptr);
}

Result<RenewedDevice::DevicePtr> RenewedDevice::get() {
  if (device_) return device_;
  const auto now = Clock::now();
  if (last_error_ && now - last_attempt_ < kBetweenAttempts) {
    return tl::make_unexpected(*last_error_);
  }
  last_attempt_ = now;
  auto made = maker_();
  if (!made) return tl::make_unexpected(failed(std::move(made).error()));
  last_error_.reset();
  device_ = std::move(*made);
  is_lost_ = false;
  return device_;
}

void RenewedDevice::lost(uint64_t generation) {
  if (generation != generation_) return;
  ++generation_;
  if (device_) ++losses_;
  is_lost_ = true;
  device_.reset();
  for (User* user : users_) user->device_lost();
}

Error RenewedDevice::failed(Error error) {
  error.kind = ErrorKind::kDeviceLost;
  error.context.push_back("while making the device anew, which was lost");
  last_error_ = error;
  lost(generation_);
  return error;
}

}  // namespace kenaz::host
