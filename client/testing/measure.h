// Run times of a program's entry points on the inputs of its test block.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/lib/connection.h"

namespace kenaz::testing {

struct MeasureOptions {
  client::ServerOptions server;  // `program` is filled in
  int runs = 10;                 // per dataset, at least
  double seconds = 0.5;          // per dataset, at least
  double timeout = 300;          // for a whole program
  std::string entry;             // only this one; empty: all
};

struct Measurement {
  std::string entry, dataset;
  std::vector<int64_t> runtimes;  // microseconds, in the order of the runs
  std::string error;              // empty: it worked
  double median() const;          // of `runtimes`, which must not be empty
};

/// One measurement per entry and dataset, after a warm-up call; cases that must fail, or are tagged
/// nobench, are left out. Results are not compared: that is what tests are for.
Result<std::vector<Measurement>> measure_program(const std::string& path,
                                                 const MeasureOptions& options);

/// The format of `futhark bench --json`.
Status write_bench_json(
    const std::string& path,
    const std::vector<std::pair<std::string, std::vector<Measurement>>>& programs);

}  // namespace kenaz::testing
