// Measurements for people: a line for each dataset.
#pragma once

#include <string>
#include <vector>

#include "client/bench/results.h"

namespace kenaz::bench {

class Table {
 public:
  /// `names`: of all lines that will come. `copy_rate`: bytes that a copy moves in a microsecond,
  /// to compare with; 0 if unknown.
  Table(const std::vector<std::string>& names, double copy_rate);
  std::string header() const;
  /// The name, then what was measured, or the error.
  std::string row(const std::string& name, const Dataset& dataset);
  /// What the rows so far have that needs to be said; may be empty.
  std::string notes() const;

 private:
  size_t width_ = 0;
  double copy_rate_;
  bool has_kernels_ = false, has_values_ = false, unsettled_ = false;
};

}  // namespace kenaz::bench
