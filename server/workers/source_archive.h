// A program's sources as one sequence of bytes.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace kenaz {

struct SourceArchive {
  std::string main;                          // the program's own file
  std::map<std::string, std::string> files;  // by path
};

/// Lines `file PATH BYTES`, each followed by so many bytes; the first is the program's own file.
/// Fails where anything else stands, and for paths that are absolute, lead upwards, are written
/// with detours, or come twice.
Result<SourceArchive> read_source_archive(std::string_view bytes);

}  // namespace kenaz
