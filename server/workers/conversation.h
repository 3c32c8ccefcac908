// What is said with a worker. Whatever comes from there is a stranger's: nothing is believed, and
// nothing waited for without an end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/reply.h"
#include "server/workers/workers.h"

namespace kenaz {

/// By one thread at a time, unless it says otherwise. After a failure all that follows fails in the
/// same way, and the process ends.
class Conversation {
 public:
  /// `name` of the program, for messages.
  Conversation(std::unique_ptr<Worker> worker, std::string name);

  /// From now on, what is waited for must come in so many seconds, or the process ends; 0: any.
  void set_time(double seconds);

  /// Sends it, soon: few bytes wait for what follows.
  Status send(std::string_view bytes);
  /// Sends what waits.
  Status flush();

  /// The next line without its newline.
  Result<std::string> line();
  /// The next reply of the protocol's.
  Result<protocol::Reply> reply();
  /// Some of the next bytes, at least one if `to` is not empty. Waits only if none `are_there`.
  Result<size_t> read_some(std::span<std::byte> to);
  Result<std::string> read_all(size_t bytes);
  bool are_there() const { return begin_ < end_; }

  // ---- calls, which others may cancel
  void begin_call(double seconds);
  /// Fails if a call was cancelled and the process says nothing after that.
  Status end_call();
  /// By any thread: the call that runs, if any, ends soon, or the process does.
  void cancel();

  /// By any thread.
  void kill(const std::string& why) { worker_->process().kill(why); }
  bool has_ended() const { return worker_->process().has_ended(); }
  const std::shared_ptr<WorkerProcess>& process() const { return worker_->shared_process(); }
  /// Whether something has failed here.
  bool is_over() const { return over_; }
  /// The process has said something that it must not, or nothing: ends it.
  tl::unexpected<Error> broken(const std::string& why);

 private:
  using Clock = std::chrono::steady_clock;

  Status wait(int socket, short events);
  Status fill();
  Status write(std::string_view bytes);
  tl::unexpected<Error> ended();

  const std::unique_ptr<Worker> worker_;
  const std::string name_;
  std::string out_;  // not yet sent
  std::vector<char> in_;
  size_t begin_ = 0, end_ = 0;  // of what is in in_
  bool over_ = false;
  std::atomic<Clock::time_point> until_{Clock::time_point::max()};
  std::mutex mutex_;  // for these:
  bool calling_ = false, cancelled_ = false;
};

}  // namespace kenaz
