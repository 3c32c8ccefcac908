// The files that a program was made from, and whether they have changed since.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "protocol/base/result.h"

namespace kenaz {

/// Used by one thread at a time.
class Sources {
 public:
  /// As SourceReader in kernels/diagnostics.
  using Read = std::function<Result<std::string>(const std::string& path)>;

  explicit Sources(Read read) : read_(std::move(read)) {}

  /// Reads a file, and notes what it held; also that it cannot be read, since it may be put there.
  /// What was noted first counts.
  Result<std::string> read(const std::string& path);
  /// A number for what the files held when they were noted. 0: none were.
  uint64_t noted() const;
  /// The same for what they hold now. Files that look as they did when they were read are not read
  /// again, unless `all` is said, or they are so young that one more change might not show.
  uint64_t now(bool all = false);

 private:
  /// What changes with a file. Tools set the time of a file's content as they like, so that one
  /// that was unpacked in place of another may have the same; the time of its change nobody sets.
  struct Stamp {
    std::chrono::nanoseconds changed{};
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t size = -1;  // there is no such file
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct File {
    Stamp stamp;
    uint64_t hash = 0;  // of what it held when it was noted; see cache::hash_of
    uint64_t seen = 0;  // of what it held at that stamp
  };
  static Stamp stamp_of(const std::string& path);

  Read read_;
  std::map<std::string, File> files_;
};

}  // namespace kenaz
