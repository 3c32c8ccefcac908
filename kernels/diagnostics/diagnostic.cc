#include "kernels/diagnostics/diagnostic.h"

#include <fmt/format.h>

#include "kernels/diagnostics/excerpt.h"

namespace kenaz {

std::string Diagnostic::str() const {
  const char* what = severity == Severity::kError ? "Error" : "Warning";
  std::string s =
      range.file ? fmt::format("{} at {}:\n", what, range.str()) : fmt::format("{}:\n", what);
  s += message;
  if (s.back() != '\n') s += '\n';
  if (const std::string text = excerpt(range); !text.empty()) s += '\n' + text;
  for (const auto& note : notes) {
    s += fmt::format("\n{}:\n", note.message);
    if (const std::string text = excerpt(note.range); !text.empty()) s += '\n' + text;
  }
  if (!anchor.empty()) {
    s += fmt::format(
        "\nFor more information, see:\n"
        "  https://futhark.readthedocs.io/en/latest/error-index.html#{}\n",
        anchor);
  }
  return s;
}

Error compile_error(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const auto& d : diagnostics) {
    if (!text.empty()) text += '\n';
    text += d.str();
  }
  return Error{ErrorKind::kCompile, std::move(text), {}};
}

}  // namespace kenaz
