// A device that is made anew when it was lost, for all engines that run programs on it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "protocol/base/result.h"
#include "server/device/device.h"

namespace kenaz::host {

/// Used by the engines' thread, but for is_lost() and losses(), which any thread may call.
class RenewedDevice {
 public:
  using DevicePtr = std::shared_ptr<device::Device>;
  using Maker = std::function<Result<DevicePtr>()>;

  /// What holds the device, and drops it when told that it is lost.
  class User {
   public:
    virtual ~User() = default;
    virtual void device_lost() = 0;
  };

  /// `first` is the device to begin with, not null; `maker` makes those after it.
  RenewedDevice(Maker maker, DevicePtr first);

  /// The device, made anew if it was lost. kDeviceLost if that fails; for a second after an attempt
  /// that failed its error is the answer, then there is another attempt.
  Result<DevicePtr> get();
  /// Changes when the device is lost, or cannot be used after it was made anew.
  uint64_t generation() const { return generation_; }
  /// It was lost, and is not there again.
  bool is_lost() const { return is_lost_; }
  /// How many devices have been lost.
  uint64_t losses() const { return losses_; }
  /// The device of that generation is lost; users drop it. Does nothing if it has been replaced.
  void lost(uint64_t generation);
  /// What was to begin on a new device has failed: it is dropped, as if it had not been made. Gives
  /// the error as get() answers it for a second.
  Error failed(Error error);

  /// A user is told until it is removed.
  void add(User& user) { users_.insert(&user); }
  void remove(User& user) { users_.erase(&user); }

 private:
  using Clock = std::chrono::steady_clock;

  const Maker maker_;
  DevicePtr device_;  // null: it was lost
  uint64_t generation_ = 0;
  std::atomic<bool> is_lost_ = false;
  std::atomic<uint64_t> losses_ = 0;
  std::set<User*> users_;
  Clock::time_point last_attempt_;
  std::optional<Error> last_error_;
};

}  // namespace kenaz::host
