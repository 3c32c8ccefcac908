// Tuning parameters: numbers that decide between ways to compute the same. Apart from those that a
// program names itself, no result depends on them. They are read when host code runs, so a program
// need not be compiled again for others.
#pragma once

#include <cstdint>
#include <string>

namespace kenaz::program {

/// kThreshold: compared with a size, one way is taken from it on, another below. kUser: named in
/// the program, which does with it what it likes. kNumber: of anything else.
enum class TuningClass : uint8_t { kThreshold, kNumber, kUser };

struct TuningParam {
  std::string name;
  TuningClass cls = TuningClass::kThreshold;
  int64_t fallback = 0;  // its value unless somebody sets one
};

/// What clients are told of a parameter, in Futhark's words: "threshold(1024,)". Behind the comma
/// Futhark names the comparisons on which a threshold depends; ours depend on none.
std::string class_text(const TuningParam& param);

}  // namespace kenaz::program
