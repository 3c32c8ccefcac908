// What was measured, and the files that it is kept in: JSON as `futhark bench` writes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::bench {

/// Of one call. 0: not known.
struct Figures {
  double device_us = 0;      // that the device worked, by its time stamps, in microseconds
  int64_t kernel_bytes = 0;  // of the arrays that kernels read and write, once for each launch
  int64_t value_bytes = 0;   // of the arguments and the result
};

struct Dataset {
  std::string name;
  std::vector<double> runtimes;          // microseconds, in the order of the runs
  std::map<std::string, int64_t> bytes;  // the most memory in use, by the server's name for it
  Figures figures;
  std::string report;   // what the server answers to `report`, JSON; empty: it was not profiled
  std::string log;      // with a report: the end of the server's standard error
  std::string error;    // empty: it worked
  bool settled = true;  // false: run times still differed too much when the time was over
};

/// The datasets of one entry point.
struct Measured {
  std::string program, entry;
  std::vector<Dataset> datasets;
  /// The program's path for `main`, else PATH:ENTRY, as in the files.
  std::string name() const { return entry == "main" ? program : program + ":" + entry; }
};
using Results = std::vector<Measured>;

/// An object by Measured::name of {"datasets": {NAME: {"runtimes": [..], "bytes": {..}}}}, or the
/// error's text for a dataset that failed. `profiling` is the server's report, with `stderr`,
/// without which `futhark profile` does not look at it, and `kenaz` has the figures that are known:
/// `device_us`, `kernel_bytes`, `value_bytes`, and whether run times have `settled` if not.
std::string results_json(const Results& results);

/// Reads what results_json or `futhark bench` has written; what else is in it is ignored. Fails
/// with kind kBadRequest, naming what is wrong.
Result<Results> parse_results(const std::string& json);
/// The same of a file. Errors name it.
Result<Results> read_results(const std::string& path);

}  // namespace kenaz::bench
