// Programs on their way to a server that compiles them: their files, as `load` takes them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::client {

struct SourceFile {
  std::string path;  // relative; imports are looked for from there
  std::string text;
};

/// A program's file, and those that it imports, by paths from the folder that has all; the program
/// comes first. What cannot be found is left out: the compiler says so, and where it is imported.
/// kBadRequest if a file cannot be read.
Result<std::vector<SourceFile>> read_program(const std::string& path);

/// What follows the line `load NAME BYTES`. kBadRequest for a path that cannot be sent.
Result<std::string> source_archive(std::span<const SourceFile> files);

}  // namespace kenaz::client
