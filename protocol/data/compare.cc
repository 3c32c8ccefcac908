#include "protocol/data/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "protocol/data/text_format.h"

namespace kenaz::data {
namespace {

/// Returns "element [3][1]: " for the i-th element of an array, an empty text for a scalar.
std::string place(const Value& value, int64_t i) {
  if (value.shape.empty()) return "";
  std::vector<int64_t> index(value.shape.size());
  for (size_t d = index.size(); d-- > 0;) {
    index[d] = i % value.shape[d];
    i /= value.shape[d];
  }
  return fmt::format("element {}: ", shape_text(index));
}

/// The greatest difference that is none.
double allowed_error(const Value& expected, double tolerance) {
  double largest = 0;
  const int64_t n = expected.count();
  for (int64_t i = 0; i < n; ++i) {
    const double x = expected.at(i).as_double();
    if (std::isfinite(x) && x > largest) largest = x;
  }
  return std::max(tolerance, tolerance * largest);
}

bool close(double expected, double got, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  return expected == got || std::fabs(got - expected) <= tolerance;
}

}  // namespace

std::optional<std::string> mismatch(const Value& expected, const Value& got, double tolerance) {
  if (expected.type != got.type || expected.shape != got.shape) {
    return fmt::format("expected {}{}, got {}{}", shape_text(expected.shape),
                       prim_name(expected.type), shape_text(got.shape), prim_name(got.type));
  }
  if (expected.bytes == got.bytes) return std::nullopt;
  const bool approximate = is_float(expected.type);
  const double allowed = approximate ? allowed_error(expected, tolerance) : 0;
  const int64_t n = expected.count();
  std::optional<int64_t> first;
  int64_t wrong = 0;
  double greatest = 0;  // error; that of an infinity or NaN is left out
  for (int64_t i = 0; i < n; ++i) {
    const PrimValue e = expected.at(i), g = got.at(i);
    if (approximate ? close(e.as_double(), g.as_double(), allowed) : e == g) continue;
    if (!first) first = i;
    ++wrong;
    const double error = std::fabs(g.as_double() - e.as_double());
    if (std::isfinite(error)) greatest = std::max(greatest, error);
  }
  if (!first) return std::nullopt;
  std::string text = fmt::format("{}expected {}, got {}", place(expected, *first),
                                 scalar_text(expected.at(*first)), scalar_text(got.at(*first)));
  if (wrong > 1) {
    text += fmt::format(" ({} of {} elements differ", wrong, n);
    if (greatest > 0 && expected.type != PrimType::kBool) {
      text += fmt::format("; greatest error {:.6g}", greatest);
    }
    text += ")";
  }
  return text;
}

std::optional<std::string> mismatch(std::span<const Value> expected, std::span<const Value> got,
                                    double tolerance) {
  if (expected.size() != got.size()) {
    return fmt::format("expected {} values, got {}", expected.size(), got.size());
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (auto text = mismatch(expected[i], got[i], tolerance)) {
      return expected.size() == 1 ? *text : fmt::format("value #{}: {}", i, *text);
    }
  }
  return std::nullopt;
}

}  // namespace kenaz::data
