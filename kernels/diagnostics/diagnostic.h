// Diagnostics: what the front end has to say about program text.
#pragma once

#include <string>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "protocol/base/result.h"

namespace kenaz {

enum class Severity { kError, kWarning };

/// Another place that has to do with it: a bracket that is still open, say.
struct Note {
  SourceRange range;
  std::string message;  // one line, without a place
};

struct Diagnostic {
  Severity severity = Severity::kError;
  SourceRange range;
  std::string message;  // may have several lines
  std::string anchor;   // of Futhark's error index, or empty
  std::vector<Note> notes;
  std::string code = {};  // of codes.def; empty: `code_of` tells it by the message

  /// "Error at FILE:L:C-C:\nMESSAGE\n", the text that it is about as `excerpt` shows it, the notes,
  /// and the pointer to the error index if there is an anchor. Tools parse the first two lines.
  std::string str() const;
};

/// An Error of kind kCompile that renders the diagnostics.
Error compile_error(const std::vector<Diagnostic>& diagnostics);

}  // namespace kenaz
