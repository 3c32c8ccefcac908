#include "kernels/diagnostics/source.h"

#include <fmt/format.h>

namespace kenaz {

std::string SourceRange::str() const {
  if (!file) return "unknown location";
  // A range always shows where it ends, even on a single character, as users' tools expect.
  if (begin.line == end.line) {
    return fmt::format("{}:{}:{}-{}", file->name, begin.line, begin.column, end.column);
  }
  return fmt::format("{}:{}:{}-{}:{}", file->name, begin.line, begin.column, end.line, end.column);
}

}  // namespace kenaz
