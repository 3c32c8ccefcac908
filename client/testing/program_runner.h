// Runs the tests of one program against a server.
#pragma once

#include <string>
#include <vector>

#include "client/lib/connection.h"
#include "client/testing/spec.h"

namespace kenaz::testing {

struct TestOptions {
  client::ServerOptions server;      // `program` and `stderr_path` are filled in per program
  double timeout = 300;              // seconds for a whole program
  std::vector<std::string> exclude;  // tags of programs and cases that are left out
};

enum class Outcome { kPass, kFail, kExcluded };

struct Failure {
  std::string entry, dataset;  // empty: the program as a whole
  std::string message;
};

struct ProgramResult {
  std::string path;
  Outcome outcome = Outcome::kPass;
  int runs = 0;       // done or tried
  int unchecked = 0;  // of these, ran but were compared with nothing
  std::vector<Failure> failures;
  double seconds = 0;

  int failed_runs() const;
};

/// Never fails itself: whatever goes wrong is a failure of the program.
ProgramResult test_program(const std::string& path, const TestOptions& options);

}  // namespace kenaz::testing
