#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "protocol/base/utf8.h"
#include "server/observe/report.h"

namespace kenaz::observe {
namespace {

/// Of a longer file only lines with figures are shown, and what is beside them.
constexpr size_t kShownWhole = 200;

std::string figures(const kir::AccessFigures& f) {
  return fmt::format("{:>10} {:>12} {:>10} {:>10} {:>7.1f}", f.requests, f.bytes, f.sectors,
                     f.least_sectors,
                     static_cast<double>(f.lanes) / static_cast<double>(f.requests));
}

std::string file_text(const std::string& file, const Lines& lines, const SourceReader& read) {
  const auto source = read(file);
  if (!source) return file + ": cannot be read\n";
  const std::vector<std::string> all = split_lines(*source);
  std::string out = file + "\n\n";
  out += fmt::format("{:>10} {:>12} {:>10} {:>10} {:>7}\n", "requests", "bytes", "sectors", "least",
                     "threads");
  bool gap = false;
  for (size_t k = 0; k < all.size(); ++k) {
    const int number = static_cast<int>(k) + 1;
    const auto found = lines.find(number);
    const auto near = lines.lower_bound(number - 1);
    const bool shown =
        all.size() <= kShownWhole || (near != lines.end() && near->first <= number + 1);
    if (!shown) {
      gap = true;
      continue;
    }
    if (std::exchange(gap, false)) out += fmt::format("{:>61}\n", "...");
    out += fmt::format("{:>53} {:>5} | {}\n", found == lines.end() ? "" : figures(found->second),
                       number, all[k]);
  }
  return out;
}

std::string kernels_text(const Observations& seen) {
  std::string out = "Kernels:\n";
  for (const auto& [name, kernel] : seen.kernels) {
    out += fmt::format("  {}: {}\n", name, launches_text(kernel));
  }
  return out;
}

}  // namespace

std::string text(const Observations& seen, const SourceReader& read) {
  const std::vector<Row> rows = rows_of(seen);
  std::string out = fmt::format(
      "Accesses of device memory, by subgroups of {} threads. A request is one instruction of a "
      "subgroup;\nsectors of 32 bytes that requests touch, and the least that could hold their "
      "bytes; threads that\ntake part in a request.\n\n",
      seen.subgroup_size);
  for (const auto& [file, lines] : lines_of(rows)) out += file_text(file, lines, read) + "\n";
  const std::vector<Finding> findings = findings_of(rows, seen.subgroup_size);
  out += findings.empty() ? "Nothing in it is worth changing for the sake of memory or branches.\n"
                          : "Worth changing, the dearest first:\n";
  for (const Finding& f : findings) {
    out += fmt::format("  {}  {}\n      {}\n", f.place.range.empty() ? "?" : f.place.range,
                       quote(f.place, read), f.text);
  }
  return out + "\n" + kernels_text(seen);
}

}  // namespace kenaz::observe
