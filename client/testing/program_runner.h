// Runs the tests of one program against a server.
#pragma once

#include <string>
#include <vector>

#include "client/lib/connection.h"
#include "client/testing/property.h"
#include "client/testing/spec.h"

namespace kenaz::testing {

struct TestOptions {
  client::ServerOptions server;  // `program` and `stderr_path` are filled in per program
  std::string expect_from;  // the device that automatic outputs come from; empty: the reference
  double timeout = 300;     // seconds for a whole program
  std::vector<std::string> exclude;  // tags of programs and cases that are left out
  std::string entry;                 // only its cases, or this property; empty: all
  PropertyOptions properties;
  bool tuning = true;  // give the server the file PROGRAM.tuning, if there is one
};

enum class Outcome { kPass, kFail, kExcluded };

struct Failure {
  std::string entry, dataset;  // empty: the program as a whole
  std::string message;
  int line = 0;  // of the case; 0: none
};

/// A run that was done or tried, and how it went.
struct Run {
  std::string entry, dataset;
  int line = 0;
  double seconds = 0;
  std::string failure;  // empty: it passed
};

struct ProgramResult {
  std::string path;
  Outcome outcome = Outcome::kPass;
  int runs = 0;       // done or tried
  int unchecked = 0;  // of these, ran but were compared with nothing
  std::vector<Failure> failures;
  std::vector<Run> cases;  // empty if the program could not be loaded
  std::string warnings;    // what the server said of a program that it served
  double seconds = 0;

  int failed_runs() const;
};

/// Never fails itself: whatever goes wrong is a failure of the program.
ProgramResult test_program(const std::string& path, const TestOptions& options);

}  // namespace kenaz::testing
