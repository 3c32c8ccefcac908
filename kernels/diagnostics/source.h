// Where program text came from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/base/ids.h"

namespace kenaz {

struct SourcePos {
  int line = 0;    // 1-based
  int column = 0;  // 1-based, counted in characters
  friend auto operator<=>(const SourcePos&, const SourcePos&) = default;
};

/// A file of program text, as far as it is known.
struct SourceFile {
  std::string name;  // as the user named it
  std::string text;  // empty: not known
};

/// A range of program text. `file` is shared so that a range stays printable for as long as it is
/// held (run-time errors print it). The end is the position behind the last character: Futhark
/// prints `4:26-36` for ten characters that start in column 26.
struct SourceRange {
  std::shared_ptr<const SourceFile> file;  // null: no location
  SourcePos begin, end;
  /// "a.fut:3:5-9", or "a.fut:3:5-4:2" across lines.
  std::string str() const;
};

}  // namespace kenaz
