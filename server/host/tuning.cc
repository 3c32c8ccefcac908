#include "server/host/tuning.h"

#include "protocol/base/whole_number.h"

namespace kenaz::host {

std::optional<int64_t> tuning_value(std::string_view text) { return whole_number<int64_t>(text); }

int64_t tuned_value(const program::TuningParam& param, const Tuning* tuning) {
  if (tuning == nullptr) return param.fallback;
  const auto set = tuning->find(param.name);
  return set == tuning->end() || set->second == 0 ? param.fallback : set->second;
}

CallTuning::CallTuning(const std::vector<program::TuningParam>& params, const Tuning* tuning)
    : params_(params) {
  for (const auto& p : params) values_.push_back(tuned_value(p, tuning));
}

bool CallTuning::compare(uint32_t param, int64_t size) {
  const bool holds = values_[param] <= size;
  if (compared_.size() < kMostNoted) compared_.insert({params_[param].name, size, holds});
  return holds;
}

}  // namespace kenaz::host
