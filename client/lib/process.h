// A child process with pipes to its standard input and output.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::client {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

inline Deadline deadline_in(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0]: a path, or a name that is looked up in $PATH
  std::string stderr_path;        // where standard error goes; empty: ours
  int64_t memory_limit = 0;       // bytes of address space; 0: as ours
};

struct ExitStatus {
  int code = 0;    // exit code, if signal is 0
  int signal = 0;  // what killed it
  bool success() const { return code == 0 && signal == 0; }
  /// "exited with code 1", "was killed by signal 11 (Segmentation fault)".
  std::string text() const;
};

/// Not for use by several threads at once. The child dies with the thread that spawned it, so
/// that a killed client leaves no server behind.
class Process {
 public:
  static Result<std::unique_ptr<Process>> spawn(const ProcessOptions& options);
  /// Kills the child if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Fails if the child has closed its input, or does not read it in time.
  Status write(std::string_view text, Deadline deadline);
  /// The next line of its output without the line end; nothing at the end of the output.
  Result<std::optional<std::string>> read_line(Deadline deadline);
  void close_input();
  /// Nothing if it still runs at the deadline.
  std::optional<ExitStatus> wait(Deadline deadline);
  /// Kills and reaps.
  ExitStatus kill();

 private:
  Process(pid_t pid, int in, int out) : pid_(pid), in_(in), out_(out) {}
  bool reap(int flags);

  pid_t pid_;
  int in_, out_;  // our ends; -1: closed
  std::optional<ExitStatus> status_;
  std::string buffer_;  // output read ahead
  size_t scanned_ = 0;  // buffer_ has no line end before this
};

/// Runs a program without input to its end. Its output is thrown away.
Result<ExitStatus> run_to_end(const ProcessOptions& options, Deadline deadline);

}  // namespace kenaz::client
