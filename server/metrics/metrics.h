// What the server counts, for `stats` and for Prometheus. All functions may be called by any
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/base/result.h"
#include "server/client_memory.h"
#include "server/device/device.h"

namespace kenaz {

/// Of one of the server's devices.
struct DeviceFigures {
  std::string number;                       // "#0"
  std::string name;                         // as its driver calls it
  bool lost = false;                        // and not there again
  int64_t sessions = 0, calls_at_hand = 0;  // now
  int64_t calls = 0;                        // so far
  double seconds = 0;                       // that they ran
  int64_t losses = 0;
  device::MemoryStats memory;
};

/// Of a program that a client has loaded.
struct LoadedFigures {
  int64_t number = 0;               // no other program of this server has had it
  std::string name;                 // the client's own
  int64_t calls = 0, failures = 0;  // so far
  double seconds = 0;               // that they ran
  int64_t memory = 0;               // bytes in RAM that its process has now
};

class Metrics {
 public:
  /// `memory`: whose use is shown; may be null.
  explicit Metrics(std::shared_ptr<const ClientMemory> memory = nullptr)
      : client_memory_(std::move(memory)) {}

  /// A program's entry point ran, or failed while running.
  void called(const std::string& program, const std::string& entry, double seconds, bool failed);
  /// A command failed.
  void failed(ErrorKind kind);
  void received(int64_t bytes) { bytes_in_ += bytes; }
  void sent(int64_t bytes) { bytes_out_ += bytes; }
  void commanded(int64_t commands) { commands_ += commands; }
  void connected(int change) {
    connections_ += change;
    if (change > 0) connections_total_ += change;
  }
  void refused() { ++refused_; }
  void sessions(int change) { sessions_ += change; }
  void program_cache(bool hit) { ++(hit ? cache_hits_ : cache_misses_); }
  void kernel_wanted(bool kept) { ++(kept ? kernels_kept_ : kernels_compiled_); }

  /// "NAME VALUE", in a fixed order; where there are several devices with their figures at the end,
  /// and behind them those of `loaded`.
  std::vector<std::string> lines(std::span<const DeviceFigures> devices,
                                 std::span<const LoadedFigures> loaded = {}) const;
  /// The same, the histogram of run times, and the figures of each entry point that was called, of
  /// each device and of each program of `loaded`, in Prometheus' text format.
  std::string prometheus(std::span<const DeviceFigures> devices,
                         std::span<const LoadedFigures> loaded = {}) const;

  /// Upper bounds of the histogram's buckets, in seconds; one more for what is above.
  static constexpr std::array<double, 12> kBounds = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3,
                                                     1e-2, 3e-2, 1e-1, 1,    10,   100};

 private:
  using Counter = std::atomic<int64_t>;
  struct Row {
    const char *name, *type, *help;
    int64_t value;
  };
  std::vector<Row> rows(std::span<const DeviceFigures> devices) const;
  std::string entry_figures() const;

  const std::shared_ptr<const ClientMemory> client_memory_;
  Counter commands_{0}, calls_{0}, call_nanoseconds_{0};
  Counter bytes_in_{0}, bytes_out_{0};
  Counter connections_{0}, connections_total_{0}, refused_{0}, sessions_{0};
  Counter cache_hits_{0}, cache_misses_{0};
  Counter kernels_kept_{0}, kernels_compiled_{0};
  std::array<Counter, 6> failures_{};  // by row_of()
  std::array<Counter, kBounds.size() + 1> buckets_{};
  struct Entry {
    int64_t calls = 0, failures = 0;
    double seconds = 0;
  };
  mutable std::mutex entries_mutex_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;  // by program and name
};

/// Writes `text` to `path` so that readers see the old file or the new one, never a part. Only
/// plain files: a pipe that nobody reads would hold up the server.
Status write_figures(const std::string& path, const std::string& text);

}  // namespace kenaz
