// Values of tuning parameters, as clients set them, and what calls do with them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/program/tuning.h"

namespace kenaz::host {

/// By name. 0, and no value: the parameter's own.
using Tuning = std::map<std::string, int64_t, std::less<>>;

/// The text of a value; nothing if it is no i64.
std::optional<int64_t> tuning_value(std::string_view text);
/// The value of a parameter under `tuning`, which may be null.
int64_t tuned_value(const program::TuningParam& param, const Tuning* tuning);

/// A call has compared a parameter with a size: whether it is at most that.
struct Comparison {
  std::string param;
  int64_t size = 0;
  bool holds = false;
  friend auto operator<=>(const Comparison&, const Comparison&) = default;
};

/// The values of a program's parameters during a call, and what it compared with them.
class CallTuning {
 public:
  /// `params` must outlive this; `tuning` may be null.
  CallTuning(const std::vector<program::TuningParam>& params, const Tuning* tuning);
  int64_t value(uint32_t param) const { return values_[param]; }
  /// Whether the parameter is at most `size`; noted.
  bool compare(uint32_t param, int64_t size);
  /// Each once, sorted.
  std::vector<Comparison> comparisons() const { return {compared_.begin(), compared_.end()}; }

 private:
  /// Loops may compare any number of sizes; so many are noted.
  static constexpr size_t kMostNoted = 1000;
  const std::vector<program::TuningParam>& params_;
  std::vector<int64_t> values_;
  std::set<Comparison> compared_;
};

}  // namespace kenaz::host
