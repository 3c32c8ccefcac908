// Compiled programs, kept between runs. An entry belongs to a source file and to what compiled it;
// it is good as long as every file that went into it still reads the same.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/program/program.h"
#include "protocol/base/result.h"
#include "server/cache/file_store.h"

namespace kenaz::cache {

/// As SourceReader in kernels/diagnostics.
using Read = std::function<Result<std::string>(const std::string& path)>;

uint64_t hash_text(const std::string& text);

/// Of what a file has been read as: the hash of its contents, or one of these. What is there and
/// cannot be read is not as good as absent: an import of what is absent may be found elsewhere.
inline constexpr uint64_t kAbsent = 0, kUnreadable = 1;
uint64_t hash_of(const Result<std::string>& text);

struct CachedProgram {
  program::Program program;
  std::vector<std::string> warnings;
};

/// Remembers what was read through it: a program's sources are known only when it is compiled.
class RecordingReader {
 public:
  explicit RecordingReader(Read read) : read_(std::move(read)) {}
  Result<std::string> operator()(const std::string& path);
  /// Path and hash_of the contents.
  const std::map<std::string, uint64_t>& seen() const { return seen_; }
  /// 16 digits: the same if what was read is the same, wherever it stands.
  std::string version() const;

 private:
  Read read_;
  std::map<std::string, uint64_t> seen_;
};

class ProgramCache {
 public:
  /// `folder` empty: finds nothing, keeps nothing. `compiler` stands for everything but the sources
  /// that a program is made from: the compiler's build, options.
  ProgramCache(std::string folder, std::string compiler)
      : store_(std::move(folder), ".program", ".pipelines"), compiler_(std::move(compiler)) {}

  std::optional<CachedProgram> find(const std::string& path, const Read& read) const;
  void keep(const std::string& path, const RecordingReader& sources,
            const CachedProgram& program) const;
  /// A file for what the device compiles for the program at `path`; empty if nothing is kept.
  std::string pipelines(const std::string& path) const {
    return compiler_.empty() ? "" : store_.companion(key(path));
  }

 private:
  std::string key(const std::string& path) const;

  FileStore store_;
  std::string compiler_;
};

/// Tells one build of this executable from another; empty if it cannot be told.
std::string build_id();

}  // namespace kenaz::cache
