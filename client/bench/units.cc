#include "client/bench/units.h"

#include <fmt/format.h>

namespace kenaz::bench {

std::string duration_text(double microseconds) {
  if (microseconds < 1) return "< 1 us";
  if (microseconds < 1e4) return fmt::format("{:.0f} us", microseconds);
  if (microseconds < 1e7) return fmt::format("{:.1f} ms", microseconds / 1e3);
  return fmt::format("{:.2f} s", microseconds / 1e6);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string rate_text(double bytes, double microseconds) {
  if (bytes <= 0 || microseconds <= 0) return "-";
  const double rate = bytes / microseconds / 1e3;
  return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : rate < 100 ? 1 : 0);
}

}  // namespace kenaz::bench
