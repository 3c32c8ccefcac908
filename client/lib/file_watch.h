// Waits for files to change (Linux: inotify).
#pragma once

#include <map>
#include <set>
#include <string>

#include "client/lib/stream.h"

namespace kenaz::client {

/// Watches folders, because editors put a new file in the place of the old one. Not for use by
/// several threads at once.
class FileWatch {
 public:
  static Result<FileWatch> create();
  ~FileWatch();
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&&) = delete;

  /// Watches these folders and no others. What is no folder (not yet, perhaps) is left out.
  void watch(const std::set<std::string>& folders);
  /// Waits until something in the folders has changed, then until nothing has for `quiet` seconds,
  /// two seconds at most. Gives the paths, FOLDER/NAME in normal form; none if `stop`, a file
  /// descriptor, became readable first. "" among them: more has changed than can be said.
  Result<std::set<std::string>> wait(int stop, double quiet);

 private:
  explicit FileWatch(int fd) : fd_(fd) {}
  void take(std::set<std::string>& changed);

  int fd_;
  std::map<int, std::string> folders_;  // by the descriptor of the watch
};

}  // namespace kenaz::client
