// Two sets of results beside each other.
#pragma once

#include <string>
#include <vector>

#include "client/bench/results.h"

namespace kenaz::bench {

enum class Verdict { kSame, kFaster, kSlower };

/// One dataset that both have.
struct Comparison {
  std::string name, dataset;     // Measured::name, Dataset::name
  double before = 0, after = 0;  // medians, microseconds
  double speedup = 1;            // before by after
  double chance = 1;             // that runs differ so much by chance (chance_of_difference)
  Verdict verdict = Verdict::kSame;
  double memory = 1;  // after by before, of the most memory in use; 1 if a file does not say
};

struct Compared {
  std::vector<Comparison> both;
  std::vector<std::string> only_before, only_after;  // names with datasets; failed ones count not
};

/// A difference counts if it is so large by chance less than once in a hundred times, and medians
/// differ by more than 1%: of many runs, the least drift of a clock is no chance.
Compared compare(const Results& before, const Results& after);

/// A line for each dataset.
std::string comparison_text(const Compared& compared);

}  // namespace kenaz::bench
