// kenaz-server --check --json.
#pragma once

#include <functional>
#include <string>

#include "kernels/diagnostics/source_reader.h"
#include "protocol/base/result.h"

namespace kenaz::editor {

struct CheckDocumentOptions {
  std::string program;  // its path
  bool warnings = true, warnings_are_errors = false;
  /// Called if the types are right: an error of kind kCompile is another reason to reject the
  /// program. May be null.
  std::function<Status()> compile;
};

struct CheckDocument {
  std::string text;  // a line of JSON: {version, programs: [{file, accepted, files}], diagnostics}
  bool accepted = false;
};
CheckDocument check_document(const CheckDocumentOptions& options, const SourceReader& read);

}  // namespace kenaz::editor
