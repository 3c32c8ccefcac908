// A source file that has been met.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/futhark/check/env.h"
#include "kernels/futhark/syntax/ast.h"

namespace kenaz::check {

struct FileState {
  Env* env = nullptr;  // null: it could not be read, or does not parse
  bool busy = false;
  syntax::Program program;
  std::string dir;       // of the file, with a trailing slash, or empty
  bool prelude = false;  // postpone, and allow constraints on abstract types
  bool root = false;
};

/// By path, or "/prelude/NAME".
using FileStates = std::map<std::string, std::unique_ptr<FileState>>;

}  // namespace kenaz::check
