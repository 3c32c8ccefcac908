// The files that `restore` and `store` may open.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "protocol/base/result.h"

namespace kenaz {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Opened by paths as they are, below one folder, or not at all.
class FileAccess {
 public:
  /// Any file that the process may open: for a client that started the server itself.
  FileAccess() = default;
  static FileAccess none();
  /// Regular files below `folder`, by paths relative to it. Neither `..` nor links lead out of it.
  static Result<FileAccess> below(const std::string& folder);

  /// "rb" or "wb". The error's message says what the system says, or what is allowed.
  Result<File> open(const std::string& path, bool write) const;
  /// A descriptor of a file that exists, for reading and writing, where any may be opened.
  Result<int> open_shared(const std::string& path) const;

 private:
  enum class Policy { kAny, kNone, kBelow };
  Policy policy_ = Policy::kAny;
  std::shared_ptr<const int> folder_;  // an open descriptor
};

}  // namespace kenaz
