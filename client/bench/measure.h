// Run times of a program's entry points on the inputs of its test blocks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/bench/lines.h"
#include "client/bench/profile.h"
#include "client/bench/results.h"
#include "client/bench/sampling.h"
#include "client/lib/connection.h"
#include "client/lib/temp_dir.h"
#include "client/testing/spec.h"

namespace kenaz::bench {

struct MeasureOptions {
  client::ServerOptions server;      // `program` is filled in
  bool compiled = false;             // the server is PROGRAM without its extension
  std::string spec_file;             // whose test blocks; empty: the program's own
  std::string entry;                 // only this one; empty: all
  std::vector<std::string> exclude;  // tags of programs and cases to leave out
  std::string tuning = ".tuning";    // files PROGRAM.tuning are given to servers; empty: none are
  Sampling sampling;
  double timeout = -1;       // seconds for a dataset; negative: any time
  double copy_rate = 0;      // bytes that a copy moves in a microsecond; 0 if unknown
  bool keep_report = false;  // the server's report of profiled calls becomes part of results
  bool observe = false;      // run each dataset on the interpreter, too, to know what lines access
};

/// What hears of a program's measurements while they are made. Any may be null.
struct Listener {
  std::function<void(const std::string& name, size_t runs, double done)> progress;
  /// The profile is of one more call than those measured; it has no calls where the server does not
  /// profile.
  std::function<void(const std::string& entry, const Dataset&, const Profile&)> measured;
  /// After it, if lines are observed: the last profiled call, and what its lines access.
  std::function<void(const ProfiledCall&, const Result<KernelLines>&)> observed;
};

/// A program with inputs that count, and its server, which starts before it is needed.
class Benchmark {
 public:
  /// Fails if the program cannot be read. It may have nothing to measure.
  static Result<Benchmark> prepare(const std::string& path, const MeasureOptions& options);

  bool empty() const { return groups_.empty(); }
  const std::string& path() const { return path_; }
  /// "ENTRY DATASET" of everything that will be measured.
  std::vector<std::string> names() const;

  /// Begins to start the server, which compiles the program, and does not wait for it.
  Status launch();
  /// One Measured for each entry point. Datasets that fail have errors; this fails only if the
  /// server does not start.
  Result<Results> measure(const Listener& listener);

 private:
  Benchmark(std::string path, const MeasureOptions& options)
      : path_(std::move(path)), options_(&options) {}
  client::ServerOptions server_options() const;
  Result<KernelLines> observe(const Profile& profile, const std::string& entry,
                              const testing::Case& c) const;
  /// The server, started again if the last dataset was its end.
  Status ready();

  std::string path_;
  const MeasureOptions* options_;
  std::vector<testing::CaseGroup> groups_;  // cases that count
  std::shared_ptr<client::TempDir> scratch_;
  std::unique_ptr<client::Connection> server_;
  bool greeted_ = false;
};

}  // namespace kenaz::bench
