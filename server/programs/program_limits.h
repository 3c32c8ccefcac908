// What one program may use, beside the limits that all have.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace kenaz {

/// 0: any number.
struct ProgramLimits {
  std::optional<double> call_seconds;  // of each; null: as for all programs
  int64_t call_bytes = 0;              // of device memory that a call may take
  int calls = 0;                       // at a time, waiting or running
  int sessions = 0;                    // at a time that have chosen it
};

/// By the programs' names.
using LimitsByProgram = std::map<std::string, ProgramLimits, std::less<>>;

/// Counts the calls and sessions of a program, in all its versions and on all devices. By any
/// thread.
class ProgramUse {
 public:
  ProgramUse(std::string name, ProgramLimits limits)
      : name_(std::move(name)), limits_(std::move(limits)) {}

  /// Not null; counts until it goes.
  using Place = std::shared_ptr<void>;
  /// Fails with kOutOfMemory where there are as many already as there may be.
  static Result<Place> begin_call(const std::shared_ptr<ProgramUse>& use);
  static Result<Place> begin_session(const std::shared_ptr<ProgramUse>& use);

  const ProgramLimits& limits() const { return limits_; }

 private:
  static Result<Place> take(const std::shared_ptr<ProgramUse>& use, int most,
                            int ProgramUse::*count, const char* things, const char* limit);

  const std::string name_;
  const ProgramLimits limits_;
  std::mutex mutex_;  // for these:
  int calls_ = 0, sessions_ = 0;
};

}  // namespace kenaz
