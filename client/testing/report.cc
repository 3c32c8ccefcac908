#include "client/testing/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "client/lib/temp_dir.h"
#include "protocol/base/diagnostic_text.h"
#include "protocol/base/utf8.h"

namespace kenaz::testing {
namespace {

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass: return "pass";
    case Outcome::kFail: return "fail";
    case Outcome::kExcluded: return "excluded";
  }
  return "";
}

std::string indent(const std::string& text, std::string_view by) {
  std::string out(by);
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) out += by;
  }
  return out;
}

std::string one_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

/// One field of a tab separated file: cut, and free of tabs and line ends.
std::string tsv_field(const std::string& text) {
  constexpr size_t kLength = 600;
  std::string out;
  for (const char c : text.substr(0, kLength)) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\\') {
      out += "\\\\";
    } else if (c == '\0') {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::string where(const Failure& f) {
  if (f.entry.empty()) return "";
  return fmt::format("{} {}", f.entry, f.dataset);
}

/// A server's or a test's words, its diagnostics coloured.
std::string message_text(std::string text, std::string_view by, bool color) {
  while (text.ends_with('\n')) text.pop_back();
  return indent(color ? colour_diagnostics(text) : text, by);
}

std::string junit_case(const std::string& program, const Run& run, std::string_view inside) {
  const std::string name = run.dataset.empty() ? run.entry : run.entry + " " + run.dataset;
  std::string text = fmt::format("<testcase classname=\"{}\" name=\"{}\" file=\"{}\"",
                                 escape_xml(program), escape_xml(name), escape_xml(program));
  if (run.line > 0) text += fmt::format(" line=\"{}\"", run.line);
  text += fmt::format(" time=\"{:.3f}\">{}", run.seconds, inside);
  if (!run.failure.empty()) {
    text += fmt::format("<failure message=\"{}\">{}</failure>", escape_xml(one_line(run.failure)),
                        escape_xml(run.failure));
  }
  return text + "</testcase>\n";
}

}  // namespace

std::string escape_xml(const std::string& text) {
  constexpr uint32_t kFirstNoCharacter = 0xfffe, kLastNoCharacter = 0xffff;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view from = rest;
    const auto code = take_code_point(rest);
    if (!code) rest.remove_prefix(1);
    const auto letter = from.substr(0, from.size() - rest.size());
    if (!code || (*code >= kFirstNoCharacter && *code <= kLastNoCharacter)) {
      out += "\ufffd";
    } else if (letter == "&") {
      out += "&amp;";
    } else if (letter == "<") {
      out += "&lt;";
    } else if (letter == ">") {
      out += "&gt;";
    } else if (letter == "\"") {
      out += "&quot;";
    } else if (*code >= 0x20 || letter == "\n" || letter == "\t") {
      out += letter;
    }
  }
  return out;
}

void Totals::add(const ProgramResult& r) {
  ++programs;
  if (r.outcome == Outcome::kPass) ++passed;
  if (r.outcome == Outcome::kFail) ++failed;
  if (r.outcome == Outcome::kExcluded) ++excluded;
  runs += r.runs;
  failed_runs += r.failed_runs();
  unchecked += r.unchecked;
}

std::string warning_text(const ProgramResult& result, bool color) {
  if (result.warnings.empty()) return "";
  const char* yellow = color ? "\x1b[33m" : "";
  const char* plain = color ? "\x1b[0m" : "";
  return fmt::format("{}WARNING{} {}\n{}\n", yellow, plain, result.path,
                     message_text(result.warnings, "  ", color));
}

std::string failure_text(const ProgramResult& result, bool color) {
  const char* red = color ? "\x1b[31m" : "";
  const char* plain = color ? "\x1b[0m" : "";
  std::string text = fmt::format("{}FAIL{} {}\n", red, plain, result.path);
  for (const auto& f : result.failures) {
    if (!f.entry.empty()) text += fmt::format("  {}:{}: {}:\n", result.path, f.line, where(f));
    text += message_text(f.message, f.entry.empty() ? "  " : "    ", color) + "\n";
  }
  return text;
}

std::string summary_text(const std::vector<ProgramResult>& results, double seconds) {
  std::map<std::string, Totals> folders;
  Totals all;
  for (const auto& r : results) {
    folders[std::filesystem::path(r.path).parent_path().string()].add(r);
    all.add(r);
  }
  std::string text;
  if (folders.size() > 1) {
    text += fmt::format("{:>16} {:>16}  folder\n", "programs", "runs");
    for (const auto& [folder, t] : folders) {
      text += fmt::format("{:>8}/{:<7} {:>8}/{:<7}  {}\n", t.passed, t.programs - t.excluded,
                          t.runs - t.failed_runs, t.runs, folder.empty() ? "." : folder);
    }
  }
  text += fmt::format("{} of {} programs passed, {} of {} runs", all.passed,
                      all.programs - all.excluded, all.runs - all.failed_runs, all.runs);
  if (all.unchecked > 0)
    text += fmt::format(" ({} without anything to compare with)", all.unchecked);
  if (all.excluded > 0) text += fmt::format("; {} programs excluded", all.excluded);
  return text + fmt::format("; {:.1f} s\n", seconds);
}

Result<ResultsFile> ResultsFile::create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return bad_request(fmt::format("{}: {}", path, std::strerror(errno)));
  ResultsFile results(path, file);
  KENAZ_TRY(results.write("path\tstatus\truns\tfailed\tunchecked\tseconds\tfailures\n"));
  return results;
}

Status ResultsFile::write(const std::string& line) {
  if (std::fputs(line.c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0) return {};
  return internal_error(fmt::format("{}: {}", path_, std::strerror(errno)));
}

Status ResultsFile::add(const ProgramResult& r) {
  // The bar separates the parts of a failure.
  auto bare = [](std::string name) {
    std::replace(name.begin(), name.end(), '|', '/');
    return one_line(name);
  };
  std::string line = fmt::format("{}\t{}\t{}\t{}\t{}\t{:.3f}", r.path, outcome_name(r.outcome),
                                 r.runs, r.failed_runs(), r.unchecked, r.seconds);
  for (const auto& f : r.failures) {
    line += fmt::format("\t{}|{}|{}", bare(f.entry), bare(f.dataset), tsv_field(f.message));
  }
  return write(line + "\n");
}

Status write_junit(const std::string& path, const std::vector<ProgramResult>& results) {
  size_t tests = 0, failed = 0, skipped = 0;
  double seconds = 0;
  std::string cases;
  for (const auto& r : results) {
    seconds += r.seconds;
    const auto whole = std::find_if(r.failures.begin(), r.failures.end(),
                                    [](const Failure& f) { return f.entry.empty(); });
    for (const Run& run : r.cases) {
      ++tests;
      if (!run.failure.empty()) ++failed;
      cases += junit_case(r.path, run, "");
    }
    if (!r.cases.empty() && whole == r.failures.end()) continue;
    ++tests;
    Run all{"program", "", 0, r.cases.empty() ? r.seconds : 0, ""};
    if (whole != r.failures.end()) {
      ++failed;
      all.failure = whole->message;
    }
    const bool excluded = r.outcome == Outcome::kExcluded;
    if (excluded) ++skipped;
    cases += junit_case(r.path, all, excluded ? "<skipped/>" : "");
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format(
      "<testsuite name=\"kenaz\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      tests, failed, skipped, seconds);
  return client::write_file(path, text + cases + "</testsuite>\n");
}

}  // namespace kenaz::testing
