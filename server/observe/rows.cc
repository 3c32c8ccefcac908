#include <map>
#include <regex>
#include <tuple>

#include "server/observe/report.h"

namespace kenaz::observe {
namespace {

constexpr std::string_view kPrelude = "/prelude/";

/// "   #1  a.fut:3:4-9" -> the place; its file is empty if the line is another.
Place place_of_frame(const std::string& frame) {
  static const std::regex kFrame(
      R"(^(?:->|  ) #[0-9]+ +((.+):([0-9]+):([0-9]+)-([0-9]+)(:[0-9]+)?)$)");
  std::smatch match;
  if (!std::regex_match(frame, match, kFrame)) return {};
  const bool one_line = !match[6].matched;
  return {match[2], std::stoi(match[3]), match[1], std::stoi(match[4]),
          one_line ? std::stoi(match[5]) : 0};
}

Unread::Bytes written_by(const Observations& seen, const std::string& kernel, int number) {
  // What has not run might have read it.
  if (seen.broken_off) return {};
  for (const auto& [name, k] : seen.kernels) {
    if (k.groups_run < k.groups) return {};
  }
  const auto writer = seen.writers.find({kernel, number});
  const bool wrote = writer != seen.writers.end() && writer->second < seen.unread.bytes().size();
  return wrote ? seen.unread.bytes()[writer->second] : Unread::Bytes{};
}

}  // namespace

Place user_place(std::string_view backtrace) {
  Place last;
  while (!backtrace.empty()) {
    const size_t end = backtrace.find('\n');
    Place place = place_of_frame(std::string(backtrace.substr(0, end)));
    backtrace = end == std::string_view::npos ? "" : backtrace.substr(end + 1);
    if (place.file.empty()) continue;
    if (!place.file.starts_with(kPrelude)) return place;
    last = std::move(place);
  }
  return last;
}

std::vector<Row> rows_of(const Observations& seen) {
  // A branch that diverges is not mixed with those around it that keep threads within bounds.
  std::map<std::tuple<Place, std::string, Site::Kind, std::string, bool, bool>, Row> rows;
  for (const auto& [name, kernel] : seen.kernels) {
    for (const auto& [number, site] : kernel.sites) {
      const Place place = user_place(site.place);
      const bool shared = site.access && site.access->shared;
      const bool diverges = site.branch && site.branch->divergent > 0;
      Row& row = rows[{place, name, site.kind, site.array, shared, diverges}];
      row.place = place;
      row.kernel = name;
      row.kind = site.kind;
      row.array = site.array;
      if (site.access) row.access.add(*site.access);
      if (site.branch) row.branch.add(*site.branch);
      const Unread::Bytes written = written_by(seen, name, number);
      row.written.stored += written.stored;
      row.written.lost += written.lost;
    }
  }
  std::vector<Row> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
}

}  // namespace kenaz::observe
