// Processes that run what clients load: this executable, started again with --worker. Each has a
// socket for what is said with it, and one for what must be heard while it computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz {

/// One process. All functions may be called by any thread.
class WorkerProcess {
 public:
  explicit WorkerProcess(int64_t pid) : pid_(pid) {}

  /// Ends it, soon. `why` is what how_it_ended() says, unless it has ended, or is ending, already.
  void kill(const std::string& why);
  /// Why it has ended: "signal 11 (Segmentation fault)". Waits for that a while: to be called when
  /// it does not answer any more.
  std::string how_it_ended();
  bool has_ended() const;
  int64_t pid() const { return pid_; }

 private:
  friend class Workers;
  /// By the one who waits for processes.
  bool reap();
  /// Where nobody has ended it.
  void log_end() const;

  const int64_t pid_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<int> status_;  // as waitpid says
  std::string why_;
};

/// A process and the sockets to it, which end it when they go.
class Worker {
 public:
  Worker(std::shared_ptr<WorkerProcess> process, int talk, int control)
      : process_(std::move(process)), talk_(talk), control_(control) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  WorkerProcess& process() const { return *process_; }
  /// Also when the worker has gone.
  const std::shared_ptr<WorkerProcess>& shared_process() const { return process_; }
  int talk() const { return talk_; }
  int control() const { return control_; }

 private:
  const std::shared_ptr<WorkerProcess> process_;
  const int talk_, control_;
};

/// Descriptors of a worker's.
inline constexpr int kWorkerTalk = 3, kWorkerControl = 4;

class Workers {
 public:
  struct What {
    std::vector<std::string> command;  // what this process was started with
    int64_t memory = 0;                // bytes that one may have in RAM beyond `spare`; 0: any
    int64_t spare = 0;                 // what it has before it does anything
  };
  explicit Workers(What what);
  /// Ends all that are left.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// A new process, for that device; empty: that of the command. Fails if the system has none.
  Result<std::unique_ptr<Worker>> start(const std::string& device);
  /// Ends all, soon; more are started after that.
  void end_all(const std::string& why);

 private:
  struct Order {
    int talk, control;  // the process's ends
    std::string device;
    std::optional<Result<std::shared_ptr<WorkerProcess>>> outcome;
  };
  void run();
  Result<std::shared_ptr<WorkerProcess>> spawn(const Order& order) const;
  void look_after();

  const What what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Order*> orders_;
  std::list<std::shared_ptr<WorkerProcess>> processes_;  // not yet waited for
  bool stopped_ = false;
  std::thread thread_;  // starts processes, which end with it
};

}  // namespace kenaz
