#include "kernels/program/tuning.h"

#include <fmt/format.h>

namespace kenaz::program {

std::string class_text(const TuningParam& param) {
  switch (param.cls) {
    case TuningClass::kThreshold: return fmt::format("threshold({},)", param.fallback);
    case TuningClass::kUser: return "user";
    case TuningClass::kNumber: return fmt::format("number({})", param.fallback);
  }
  return {};
}

}  // namespace kenaz::program
