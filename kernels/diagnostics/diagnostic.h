// Diagnostics: what the front end has to say about program text.
#pragma once

#include <string>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "protocol/base/result.h"

namespace kenaz {

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  SourceRange range;
  std::string message;  // may have several lines
  std::string anchor;   // of Futhark's error index, or empty

  /// "Error at FILE:L:C-C:\nMESSAGE\n" with the pointer to the error index if there is an anchor.
  std::string str() const;
};

/// An Error of kind kCompile that renders the diagnostics.
Error compile_error(const std::vector<Diagnostic>& diagnostics);

}  // namespace kenaz
