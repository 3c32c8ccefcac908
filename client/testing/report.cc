#include "client/testing/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "client/lib/temp_dir.h"

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

/// Escapes, and drops what XML 1.0 cannot hold at all.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
      out += c;
    }
  }
  return out;
}

}  // namespace

void Totals::add(const ProgramResult& r) {
  ++programs;
  if (r.outcome == Outcome::kPass) ++passed;
  if (r.outcome == Outcome::kFail) ++failed;
  if (r.outcome == Outcome::kExcluded) ++excluded;
  runs += r.runs;
  failed_runs += r.failed_runs();
  unchecked += r.unchecked;
}

std::string failure_text(const ProgramResult& result, bool color) {
  const char* red = color ? "\x1b[31m" : "";
  const char* plain = color ? "\x1b[0m" : "";
  std::string text = fmt::format("{}FAIL{} {}\n", red, plain, result.path);
  for (const auto& f : result.failures) {
    if (!f.entry.empty()) text += fmt::format("  {}:\n", where(f));
    text += indent(f.message, f.entry.empty() ? "  " : "    ") + "\n";
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
  Totals all;
  double seconds = 0;
  for (const auto& r : results) {
    all.add(r);
    seconds += r.seconds;
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format(
      "<testsuite name=\"kenaz\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
      all.programs, all.failed, all.excluded, seconds);
  for (const auto& r : results) {
    const std::filesystem::path file(r.path);
    text += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">",
                        xml(file.parent_path().string()), xml(file.filename().string()), r.seconds);
    if (r.outcome == Outcome::kExcluded) text += "<skipped/>";
    if (!r.failures.empty()) {
      std::string body;
      for (const auto& f : r.failures) body += where(f) + "\n" + f.message + "\n";
      text += fmt::format("<failure message=\"{}\">{}</failure>",
                          xml(one_line(r.failures[0].message)), xml(body));
    }
    text += "</testcase>\n";
  }
  return client::write_file(path, text + "</testsuite>\n");
}

}  // namespace kenaz::testing
