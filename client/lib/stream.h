// Bytes to and from a server: the pipes of a subprocess, or a socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace kenaz::client {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// Returns Deadline::max() where that is later than the clock can count, and for NaN; now, if
/// `seconds` is negative.
inline Deadline deadline_in(double seconds) {
  constexpr double kLongest = 1e9;  // 31 years; the clock's nanoseconds overflow after 292
  if (!(seconds < kLongest)) return Deadline::max();
  const std::chrono::duration<double> wait(seconds > 0 ? seconds : 0);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

struct ExitStatus {
  int code = 0;    // exit code, if signal is 0
  int signal = 0;  // what killed it
  bool success() const { return code == 0 && signal == 0; }
  /// "exited with code 1", "was killed by signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Not for use by several threads at once. Error messages have the peer as their subject: "it does
/// not read its input".
class Stream {
 public:
  virtual ~Stream() = default;
  /// All of `bytes`. While the peer does not take them, what it sends is taken in: two that both
  /// write would otherwise wait for each other.
  virtual Status write(std::string_view bytes, Deadline deadline) = 0;
  /// At least one byte; 0 at the end.
  virtual Result<size_t> read_some(std::span<char> out, Deadline deadline) = 0;
  /// Tells the peer that nothing more will come.
  virtual void close_input() = 0;
  /// After close_input: waits for the peer's end. Fails at the deadline.
  virtual Result<ExitStatus> finish(Deadline deadline) = 0;
  /// How a peer whose output has ended is doing: "exited with code 1", "closed the connection".
  virtual std::string ending() = 0;
  /// After `ending`: did it end as kenaz-server does with a program that is not a good one?
  virtual bool rejected() const { return false; }
  /// Gives the peer up at once.
  virtual void abandon() = 0;
};

}  // namespace kenaz::client
