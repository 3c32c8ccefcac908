// The devices that a server has, each with the programs on it, and the choice of one for a session.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/host/renewed_device.h"
#include "server/metrics/metrics.h"
#include "server/programs/programs.h"

namespace kenaz {

/// What one of the devices is, as far as it never changes.
struct PooledDevice {
  std::shared_ptr<Programs> programs;                      // at least one
  std::shared_ptr<host::RenewedDevice> renewed = nullptr;  // null: it cannot be lost
  std::string selector = {};                               // as --device has it; may be empty
  host::Engine::StepAside step_aside = nullptr;            // of its thread; may be null
};

/// By any thread, unless it says otherwise.
class DevicePool {
 public:
  /// At least one. They are known to clients as #0, #1, .. in this order.
  explicit DevicePool(std::vector<PooledDevice> devices);

  size_t size() const { return devices_.size(); }
  const PooledDevice& device(size_t number) const { return devices_[number]; }
  /// Of "#1", the number; nothing: there is no such device.
  std::optional<size_t> find(const std::string& name) const;
  static std::string name_of(size_t number) { return "#" + std::to_string(number); }

  /// What a device has to do.
  struct Load {
    bool lost = false;  // and not made anew yet
    int sessions = 0;
    int calls = 0;  // on their way or running
    int64_t bytes = 0;
  };
  /// The one for the next session: one that is not lost, then one with the fewest sessions, then
  /// with the fewest calls, then with the least memory in use, then the first.
  static size_t least_loaded(std::span<const Load> loads);
  size_t least_loaded() const;

  /// For `stats` and the metrics' file, by number.
  std::vector<DeviceFigures> figures() const;

  /// Ends the calls that run now on any device, soon.
  void cancel() const;

  /// Has that device's thread do something, soon.
  using Post = std::function<void(size_t device, std::function<void()>)>;
  /// To be called every second or so, by one thread: says in the log which devices were lost since
  /// the last time and which are there again. Of several devices it has those that are lost made
  /// anew; the only one is made anew when it is used.
  void look_after(const Post& post);

 private:
  friend class Placement;
  struct Counts {
    std::atomic<int> sessions = 0, calls = 0;
    std::atomic<int64_t> calls_total = 0, nanoseconds = 0;
    bool was_lost = false;     // at the last look_after()
    uint64_t losses_seen = 0;  // then
    const std::shared_ptr<std::atomic<bool>> renewing = std::make_shared<std::atomic<bool>>(false);
  };
  const std::vector<PooledDevice> devices_;
  const std::unique_ptr<Counts[]> counts_;
};

/// A session's place on a device, which counts it there as long as it lives. One thread at a time.
class Placement {
 public:
  Placement(std::shared_ptr<DevicePool> pool, size_t device);
  ~Placement();
  Placement(Placement&& other) noexcept { swap(other); }
  Placement& operator=(Placement&& other) noexcept {
    swap(other);
    return *this;
  }

  const std::shared_ptr<DevicePool>& pool() const { return pool_; }
  size_t number() const { return number_; }
  const PooledDevice& device() const { return pool_->device(number_); }
  Programs& programs() const { return *device().programs; }
  /// See host::Engine::set_owner.
  uint64_t owner() const { return owner_; }

  /// A call of the session's is at hand, on its way to the device or there; then not any more.
  void call_begins();
  void call_ended();
  /// A call ran so long.
  void called(double seconds) const;

 private:
  void swap(Placement& other) noexcept;
  std::shared_ptr<DevicePool> pool_;  // null: it was moved from
  size_t number_ = 0;
  uint64_t owner_ = 0;
  bool has_call_ = false;
};

/// A server of these programs on one device, which cannot be lost.
std::shared_ptr<DevicePool> only_device(std::shared_ptr<Programs> programs);

}  // namespace kenaz
