#include "client/cli/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kenaz::cli {
namespace {

double number(const data::Value& value, int64_t i) {
  const PrimValue v = value.at(i);
  if (is_float(v.type)) return v.as_double();
  if (v.type == PrimType::kU64) return static_cast<double>(v.bits);
  return static_cast<double>(v.as_i64());
}

/// Of the finite ones among some elements.
struct Range {
  double least = 0, greatest = 0;
  int64_t count = 0;

  void add(double x) {
    if (!std::isfinite(x)) return;
    least = count == 0 ? x : std::min(least, x);
    greatest = count == 0 ? x : std::max(greatest, x);
    ++count;
  }
};

}  // namespace

std::string statistics(const data::Value& value) {
  const int64_t n = value.count();
  std::string text = fmt::format("{}{}", data::shape_text(value.shape), prim_name(value.type));
  if (value.type == PrimType::kBool) {
    const auto set = std::count(value.bytes.begin(), value.bytes.end(), std::byte{1});
    return text + fmt::format(": {} of {} are true", set, n);
  }
  Range range;
  double mean = 0, squares = 0;  // of the differences from the mean, by Welford's method
  for (int64_t i = 0; i < n; ++i) {
    const double x = number(value, i);
    range.add(x);
    if (!std::isfinite(x)) continue;
    const double difference = x - mean;
    mean += difference / static_cast<double>(range.count);
    squares += difference * (x - mean);
  }
  if (range.count > 0) {
    text +=
        fmt::format(": {:.6g} .. {:.6g}, mean {:.6g}, standard deviation {:.6g}", range.least,
                    range.greatest, mean, std::sqrt(squares / static_cast<double>(range.count)));
  }
  if (range.count < n) text += fmt::format(", {} not finite", n - range.count);
  return text;
}

Result<std::string> plot(const data::Value& value, int width, int height) {
  if (value.shape.size() != 1 || value.type == PrimType::kBool) {
    return bad_request("a plot is of a one-dimensional array of numbers; this is " +
                       value.type_name());
  }
  const int64_t n = value.count();
  const int64_t columns = std::min<int64_t>(n, width);
  std::vector<Range> ranges(static_cast<size_t>(columns));
  Range all;
  for (int64_t i = 0; i < n; ++i) {
    const double x = number(value, i);
    ranges[static_cast<size_t>(i * columns / n)].add(x);
    all.add(x);
  }
  if (all.count == 0) return bad_request("there is nothing finite to plot");
  const double span = all.greatest - all.least;
  const auto line_of = [&](double x) {
    const double share = span > 0 ? (x - all.least) / span : 0;
    return static_cast<int>(std::lround(share * (height - 1)));
  };
  const std::string top = fmt::format("{:.6g}", all.greatest);
  const std::string bottom = fmt::format("{:.6g}", all.least);
  const size_t margin = std::max(top.size(), bottom.size());
  std::string text;
  for (int line = height - 1; line >= 0; --line) {
    std::string row;
    for (const Range& r : ranges) {
      const bool hit = r.count > 0 && line_of(r.least) <= line && line <= line_of(r.greatest);
      row += hit ? '*' : ' ';
    }
    row.erase(row.find_last_not_of(' ') + 1);
    const std::string label = line == height - 1 ? top : line == 0 ? bottom : "";
    text += fmt::format("{:>{}} |{}\n", label, margin, row);
  }
  return text + fmt::format("{:>{}} +{}\n", "", margin, std::string(columns, '-'));
}

}  // namespace kenaz::cli
