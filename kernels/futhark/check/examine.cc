#include "kernels/futhark/check/examine.h"

#include "kernels/futhark/check/checker.h"

namespace kenaz::check {

Examined examine_program(const std::string& path, const SourceReader& read, std::stop_token stop) {
  Examined out;
  Record record;
  Checker checker(read);
  checker.observe(record, std::move(stop));
  const Result<core::Checked> checked = checker.run(path);
  out.accepted = checked.has_value();
  out.files = checker.files();
  out.index = std::move(record.index);
  out.diagnostics = checker.reports().errors();
  if (checked) {
    out.diagnostics = checked->warnings;
  } else if (out.diagnostics.empty()) {
    out.diagnostics.push_back({Severity::kError, {}, checked.error().text(), ""});
  }
  return out;
}

}  // namespace kenaz::check
