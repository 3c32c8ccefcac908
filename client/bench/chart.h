// Run times over sizes, as a picture: SVG for browsers and for print, black on white.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/bench/results.h"

namespace kenaz::bench {

/// Times in microseconds: the median, and where it lies with a probability of 95%.
struct Point {
  double size = 0, time = 0, low = 0, high = 0;
};
struct Series {
  std::string name;
  std::vector<Point> points;  // by size
};

/// A series for each entry point of each of some results, whose labels are in the names if there
/// are several. Datasets without a size in their names (size_in_name) are left out.
std::vector<Series> series_of(const std::vector<std::pair<std::string, Results>>& results);

/// Both axes are logarithmic. Series differ by marker and dashes, not by colour. Fails with kind
/// kBadRequest if there is nothing to draw.
Result<std::string> chart_svg(const std::vector<Series>& series);

}  // namespace kenaz::bench
