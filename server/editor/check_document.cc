#include "server/editor/check_document.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "kernels/futhark/check/examine.h"
#include "server/editor/diagnostics_json.h"

namespace kenaz::editor {

CheckDocument check_document(const CheckDocumentOptions& options, const SourceReader& read) {
  check::Examined examined = check::examine_program(options.program, read);
  bool accepted = examined.accepted;
  if (accepted && options.warnings_are_errors) accepted = examined.diagnostics.empty();
  if (examined.accepted && options.compile) {
    if (const Status compiled = options.compile(); !compiled) {
      Diagnostic d = diagnostic_of(compiled.error().text());
      d.code = "unsupported";
      examined.diagnostics.insert(examined.diagnostics.begin(), std::move(d));
      accepted = false;
    }
  }
  nlohmann::json diagnostics = nlohmann::json::array();
  for (const Diagnostic& d : examined.diagnostics) {
    if (d.severity == Severity::kError || options.warnings) diagnostics.push_back(to_json(d));
  }
  const nlohmann::json program = {
      {"file", options.program}, {"accepted", accepted}, {"files", examined.files}};
  nlohmann::json document = {{"version", 1}, {"diagnostics", std::move(diagnostics)}};
  document["programs"] = nlohmann::json::array({program});
  return {text_of(document), accepted};
}

}  // namespace kenaz::editor
