#include "client/bench/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/bench/statistics.h"
#include "client/bench/units.h"

namespace kenaz::bench {

namespace {

constexpr size_t kWidest = 60;
constexpr const char* kColumns = "  {:<{}} {:>10} {:>10} {:>10} {:>7} {:>10} {:>8} {:>8}\n";

}  // namespace

Table::Table(const std::vector<std::string>& names, double copy_rate) : copy_rate_(copy_rate) {
  for (const auto& name : names) width_ = std::max(width_, std::min(kWidest, name.size()));
}

std::string Table::header() const {
  return fmt::format(kColumns, "", width_, "median", "least", "most", "runs", "device", "GB/s",
                     "of copy");
}

std::string Table::row(const std::string& name, const Dataset& d) {
  if (!d.error.empty()) return fmt::format("  {:<{}} {}\n", name, width_, d.error);
  const auto [least, most] = std::minmax_element(d.runtimes.begin(), d.runtimes.end());
  const double typical = median(d.runtimes);
  const Figures& f = d.figures;
  std::string rate = "-", share = "-";
  if (f.kernel_bytes > 0 && f.device_us > 0) {
    has_kernels_ = true;
    const auto bytes = static_cast<double>(f.kernel_bytes);
    rate = rate_text(bytes, f.device_us);
    if (copy_rate_ > 0) share = fmt::format("{:.1f}%", 100 * bytes / (f.device_us * copy_rate_));
  } else if (f.value_bytes > 0 && typical > 0) {
    has_values_ = true;
    rate = rate_text(static_cast<double>(f.value_bytes), typical) + "*";
  }
  unsettled_ = unsettled_ || !d.settled;
  const std::string runs = fmt::format("{}{}", d.runtimes.size(), d.settled ? "" : "!");
  return fmt::format(kColumns, name, width_, duration_text(typical), duration_text(*least),
                     duration_text(*most), runs, f.device_us > 0 ? duration_text(f.device_us) : "-",
                     rate, share);
}

std::string Table::notes() const {
  std::string text;
  if (has_kernels_) {
    text +=
        "GB/s: the arrays that kernels read and write, each once for a kernel, by the time on "
        "the device\n";
  }
  if (has_values_) text += "* arguments and results, by the time of the call\n";
  if (unsettled_) text += "! run times that had not settled\n";
  return text;
}

}  // namespace kenaz::bench
