// A child process with pipes to its standard input and output.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/lib/stream.h"
#include "protocol/base/result.h"

namespace kenaz::client {

struct ProcessOptions {
  std::vector<std::string> argv;    // argv[0]: a path, or a name that is looked up in $PATH
  std::string stderr_path;          // where standard error goes; empty: ours
  int64_t memory_limit = 0;         // bytes of address space; 0: as ours
  bool ignores_interrupts = false;  // SIGINT does not end it
};

/// Not for use by several threads at once. The child dies with the thread that spawned it, so
/// that a killed client leaves no server behind.
class Process : public Stream {
 public:
  static Result<std::unique_ptr<Process>> spawn(const ProcessOptions& options);
  /// Kills the child if it still runs.
  ~Process() override;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Fails if the child has closed its input, or does not read it in time.
  Status write(std::string_view text, Deadline deadline) override;
  Result<size_t> read_some(std::span<char> out, Deadline deadline) override;
  /// The next line of its output without the line end; nothing at the end of the output.
  Result<std::optional<std::string>> read_line(Deadline deadline);
  void close_input() override;
  Result<ExitStatus> finish(Deadline deadline) override;
  std::string ending() override;
  bool rejected() const override { return status_ && status_->signal == 0 && status_->code == 2; }
  void abandon() override { kill(); }
  /// Nothing if it still runs at the deadline.
  std::optional<ExitStatus> wait(Deadline deadline);
  /// Kills and reaps.
  ExitStatus kill();

 private:
  Process(pid_t pid, int in, int out) : pid_(pid), in_(in), out_(out) {}
  bool reap(int flags);
  /// Adds what has come to buffer_; false if there is nothing now. At the end closes out_.
  Result<bool> take_output();

  pid_t pid_;
  int in_, out_;  // our ends; -1: closed
  std::optional<ExitStatus> status_;
  std::string buffer_;  // output read ahead, unread from begin_ on
  size_t begin_ = 0;
  size_t scanned_ = 0;  // buffer_ has no line end from begin_ to here
};

/// Runs a program without input to its end. Its output is thrown away.
Result<ExitStatus> run_to_end(const ProcessOptions& options, Deadline deadline);

}  // namespace kenaz::client
