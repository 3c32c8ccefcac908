// Checking for people: everything that the checker has found, as data.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/diagnostics/source_reader.h"
#include "kernels/futhark/check/index.h"

namespace kenaz::check {

struct Examined {
  bool accepted = false;                // there is no error
  std::vector<Diagnostic> diagnostics;  // errors, then warnings
  std::vector<std::string> files;       // that were read, or would have been, sorted
  Index index;
};

/// Checks the program whose root file is `path` as `check_program` does. When `stop` is requested,
/// it ends soon, with an error that means nothing.
Examined examine_program(const std::string& path, const SourceReader& read,
                         std::stop_token stop = {});

}  // namespace kenaz::check
