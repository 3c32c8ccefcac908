#include "server/programs/device_pool.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "protocol/base/check.h"

namespace kenaz {

DevicePool::DevicePool(std::vector<PooledDevice> devices)
    : devices_(std::move(devices)), counts_(std::make_unique<Counts[]>(devices_.size())) {
  CHECK(!devices_.empty());
}

std::optional<size_t> DevicePool::find(const std::string& name) const {
  for (size_t k = 0; k < size(); ++k) {
    if (name == name_of(k)) return k;
  }
  return std::nullopt;
}

size_t DevicePool::least_loaded(std::span<const Load> loads) {
  const auto key = [](const Load& l) { return std::tuple(l.lost, l.sessions, l.calls, l.bytes); };
  const auto least = std::min_element(
      loads.begin(), loads.end(), [&](const Load& a, const Load& b) { return key(a) < key(b); });
  return static_cast<size_t>(least - loads.begin());
}

size_t DevicePool::least_loaded() const {
  if (size() == 1) return 0;
  std::vector<Load> loads;
  for (size_t k = 0; k < size(); ++k) {
    const PooledDevice& d = devices_[k];
    loads.push_back({d.renewed && d.renewed->is_lost(), counts_[k].sessions, counts_[k].calls,
                     d.programs->memory().used});
  }
  return least_loaded(loads);
}

std::vector<DeviceFigures> DevicePool::figures() const {
  std::vector<DeviceFigures> all;
  for (size_t k = 0; k < size(); ++k) {
    const PooledDevice& d = devices_[k];
    const Counts& counts = counts_[k];
    all.push_back({name_of(k), d.programs->any()->engine->name(), d.renewed && d.renewed->is_lost(),
                   counts.sessions, counts.calls, counts.calls_total,
                   static_cast<double>(counts.nanoseconds) / 1e9,
                   d.renewed ? static_cast<int64_t>(d.renewed->losses()) : 0,
                   d.programs->memory()});
  }
  return all;
}

void DevicePool::cancel() const {
  for (const auto& d : devices_) d.programs->cancel();
}

void DevicePool::look_after(const Post& post) {
  for (size_t k = 0; k < size(); ++k) {
    const auto& renewed = devices_[k].renewed;
    if (!renewed) continue;
    Counts& seen = counts_[k];
    const bool lost = renewed->is_lost();
    const uint64_t losses = renewed->losses();
    if (losses != seen.losses_seen) {
      spdlog::warn("the device {} was lost, and the values on it", name_of(k));
    }
    if (!lost && (seen.was_lost || losses != seen.losses_seen)) {
      spdlog::info("the device {} is there again", name_of(k));
    }
    seen.was_lost = lost;
    seen.losses_seen = losses;
    // What fails is tried again, and said to those who use it.
    if (!lost || size() == 1 || seen.renewing->exchange(true)) continue;
    post(k, [renewed, renewing = seen.renewing] {
      (void)renewed->get();
      *renewing = false;
    });
  }
}

// ---- placements

Placement::Placement(std::shared_ptr<DevicePool> pool, size_t device)
    : pool_(std::move(pool)), number_(device), owner_(programs().new_owner()) {
  ++pool_->counts_[number_].sessions;
}

Placement::~Placement() {
  if (!pool_) return;
  call_ended();
  --pool_->counts_[number_].sessions;
}

void Placement::swap(Placement& other) noexcept {
  pool_.swap(other.pool_);
  std::swap(number_, other.number_);
  std::swap(owner_, other.owner_);
  std::swap(has_call_, other.has_call_);
}

void Placement::call_begins() {
  if (!std::exchange(has_call_, true)) ++pool_->counts_[number_].calls;
}

void Placement::call_ended() {
  if (std::exchange(has_call_, false)) --pool_->counts_[number_].calls;
}

void Placement::called(double seconds) const {
  DevicePool::Counts& counts = pool_->counts_[number_];
  ++counts.calls_total;
  counts.nanoseconds += static_cast<int64_t>(seconds * 1e9);
}

std::shared_ptr<DevicePool> only_device(std::shared_ptr<Programs> programs) {
  std::vector<PooledDevice> one(1);
  one[0].programs = std::move(programs);
  return std::make_shared<DevicePool>(std::move(one));
}

}  // namespace kenaz
