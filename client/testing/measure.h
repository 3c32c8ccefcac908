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
  bool tuning = true;            // give the server the file PROGRAM.tuning, if there is one
};

struct Measurement {
  std::string entry, dataset;
  std::vector<int64_t> runtimes;  // microseconds, in the order of the runs
  std::string error;              // empty: it worked
  // Of `runtimes`, which must not be empty, in microseconds:
  double median() const;
  int64_t least() const;
  int64_t most() const;
};

/// One measurement per entry and dataset, after a warm-up call whose result must be the one that
/// the case states (`auto output` states none). Cases that must fail, or are tagged nobench, are
/// left out.
Result<std::vector<Measurement>> measure_program(const std::string& path,
                                                 const MeasureOptions& options);

/// The format of `futhark bench --json`.
Status write_bench_json(
    const std::string& path,
    const std::vector<std::pair<std::string, std::vector<Measurement>>>& programs);

}  // namespace kenaz::testing
