// What a test run prints and writes.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "client/testing/program_runner.h"

namespace kenaz::testing {

struct Totals {
  int programs = 0, passed = 0, failed = 0, excluded = 0;
  int runs = 0, failed_runs = 0, unchecked = 0;
  void add(const ProgramResult& result);
};

/// For text and attributes. Of what XML 1.0 cannot hold control characters are left out; bytes that
/// are no UTF-8, and U+FFFE and U+FFFF, become U+FFFD.
std::string escape_xml(const std::string& text);

/// What the server warned of in a program that it served; empty if it did not.
std::string warning_text(const ProgramResult& result, bool color);
/// The failures of one program, readable.
std::string failure_text(const ProgramResult& result, bool color);
/// A table of programs and runs by folder, and the totals.
std::string summary_text(const std::vector<ProgramResult>& results, double seconds);
/// A tab separated file, with a header: path, status, runs, failed, unchecked, seconds, and a field
/// "entry|dataset|message" per failure, in which a backslash escapes line ends and tabs. Each line
/// is in the file as soon as its program is done.
class ResultsFile {
 public:
  static Result<ResultsFile> create(const std::string& path);
  Status add(const ProgramResult& result);

 private:
  struct Closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  ResultsFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  Status write(const std::string& line);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

/// JUnit's XML, for continuous integration: a test case per run, and one for a program that has
/// none or fails as a whole.
Status write_junit(const std::string& path, const std::vector<ProgramResult>& results);

}  // namespace kenaz::testing
