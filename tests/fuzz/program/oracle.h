// Runs a program in every way there is and compares: the reference evaluator on unoptimised array
// IR is right; the evaluator after every pass and the device must agree with it.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "server/host/engine.h"
#include "tests/fuzz/program/expr.h"
#include "tests/fuzz/program/poison.h"

namespace kenaz::fuzz {

/// What a case means without its tree: what goes to the process that runs it.
struct Job {
  std::string text;
  std::vector<Input> inputs;
  std::vector<bool> tolerant;  // per leaf of the result; missing: false
  bool slopes = false;         // the results agree with each other as in slopes.h
};

struct Verdict {
  enum Kind { kAgreed, kSkipped, kFinding };
  Kind kind = kAgreed;
  std::string stage;   // "reference", "pass 3 fuse", "device", ..
  std::string what;    // "value", "lost failure", "internal error", ..: findings alike share it
  std::string detail;  // for people
  // Calls on the reference evaluator, and how many of them failed; how many anywhere were given up
  // for a limit of time or memory.
  int calls = 0, failed = 0, limited = 0;
};

struct OracleOptions {
  std::string device = "cpu";
  int64_t device_threads = 0;  // see host::device_target
  std::set<std::string> stages = {"passes", "device", "poisoned"};
};

class Oracle {
 public:
  explicit Oracle(OracleOptions options) : options_(std::move(options)) {}
  /// Says to `progress` which stage begins, so that whoever waits knows where a crash happened.
  Verdict judge(const Job& job, const std::function<void(const std::string&)>& progress);

  /// What a call came to: values, or a failure of the program.
  struct Outcome {
    std::vector<data::Value> values;
    std::optional<std::string> failure;
    bool skipped = false;  // a limit of time or memory
  };

 private:
  class Run;
  Result<std::shared_ptr<PoisonedDevice>> device();

  OracleOptions options_;
  std::shared_ptr<PoisonedDevice> device_;
};

/// A message with all numbers replaced, to compare and to count alike.
std::string without_numbers(const std::string& text);

}  // namespace kenaz::fuzz
