// A directory that goes away with its owner, and whole files as strings.
#pragma once

#include <string>

#include "protocol/base/result.h"

namespace kenaz::client {

class TempDir {
 public:
  /// In $TMPDIR or /tmp, as the C++ library finds it.
  static Result<TempDir> make();
  TempDir(TempDir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempDir& operator=(TempDir&&) = delete;
  ~TempDir();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit TempDir(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// From now on SIGINT, SIGTERM and SIGHUP, unless they are ignored, remove the directories of this
/// process before they end it. To be called once, by a program that has one thread so far and no
/// handlers of its own: they are blocked in all threads but one that waits for them.
void remove_temp_dirs_when_killed();

Result<std::string> read_file(const std::string& path);
Status write_file(const std::string& path, const std::string& contents);
/// The contents of a file, unpacked if its name ends in .gz.
Result<std::string> read_maybe_gz(const std::string& path);
/// The end of a text, at most `limit` bytes, from a line's start if that is possible.
std::string tail(const std::string& text, size_t limit);

}  // namespace kenaz::client
