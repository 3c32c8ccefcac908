// What is known of the programs that are open, found out on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/futhark/check/examine.h"
#include "protocol/base/large_stack_thread.h"

namespace kenaz::editor {

/// The texts of open files, by path, at one moment.
using Texts = std::map<std::string, std::shared_ptr<const std::string>>;

/// Reads open files as they are in the editor, others from the disk.
SourceReader reader_of(std::shared_ptr<const Texts> texts);

/// Jobs, run one after the other on a thread with a large stack. What takes too long is told to
/// stop.
class Worker {
 public:
  static constexpr std::chrono::seconds kLongest{5};
  using Job = std::function<void(std::stop_token)>;

  Worker();
  /// Stops the job that runs, and runs no other.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Jobs with a key take the place of one with the same key that waits, and stop one that runs.
  void add(Job job, const std::string& key = "");
  /// Waits until no job waits or runs.
  void finish();

 private:
  struct Waiting {
    std::string key;
    Job job;
  };
  void run();
  void watch(const std::stop_token& end);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_;
  bool ending_ = false, running_ = false;
  std::string running_key_;
  std::stop_source stop_;  // of the job that runs
  std::chrono::steady_clock::time_point since_;
  std::jthread watch_;
  LargeStackThread thread_;  // last: it uses all others
};

/// The last analysis of each program, and the one before where a text has become unreadable. For
/// the worker's thread only.
class Analyses {
 public:
  /// Of the file as it is in `texts`: made anew unless nothing that it read has changed. Nothing if
  /// it was stopped.
  const check::Examined* of(const std::string& path, const std::shared_ptr<const Texts>& texts,
                            const std::stop_token& stop);
  void forget(const std::string& path) { known_.erase(path); }

 private:
  struct Known {
    check::Examined examined;
    std::map<std::string, std::optional<std::string>> sources;  // as they were; nullopt: unreadable
  };
  std::map<std::string, Known> known_;
};

}  // namespace kenaz::editor
