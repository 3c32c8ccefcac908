// The process that runs programs. A crash or an endless loop there ends it, not the fuzzer.
#pragma once

#include <sys/types.h>

#include "tests/fuzz/program/oracle.h"

namespace kenaz::fuzz {

class Worker {
 public:
  Worker(OracleOptions options, int seconds) : options_(std::move(options)), seconds_(seconds) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The oracle's verdict; a crash and a time-out are findings too.
  Verdict judge(const Job& job);

 private:
  void start();
  void stop();
  [[noreturn]] void serve(int in, int out);
  Verdict ended(const std::string& stage, bool late);

  OracleOptions options_;
  int seconds_;  // that one program may take
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
};

}  // namespace kenaz::fuzz
