#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "server/observe/report.h"

namespace kenaz::observe {

double mean(int64_t sum, int64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

std::map<std::string, Lines> lines_of(const std::vector<Row>& rows) {
  std::map<std::string, Lines> files;
  for (const Row& row : rows) {
    if (row.place.file.empty()) continue;
    Lines& lines = files[row.place.file];
    if (row.access.requests > 0 && !row.access.shared) lines[row.place.line].add(row.access);
  }
  return files;
}

std::string quote(const Place& place, const SourceReader& read) {
  const auto source = place.file.empty() ? Result<std::string>("") : read(place.file);
  if (!source) return "";
  std::istringstream stream(*source);
  std::string line;
  for (int k = 0; k < place.line; ++k) std::getline(stream, line);
  const auto first = static_cast<size_t>(std::max(place.column - 1, 0));
  if (first >= line.size()) return "";
  if (place.end_column == 0) return line.substr(first) + " ..";
  return line.substr(first, static_cast<size_t>(place.end_column - place.column));
}

std::string launches_text(const ObservedKernel& kernel) {
  const std::string run = kernel.groups_run == kernel.groups
                              ? ""
                              : fmt::format(", of which {} have run", kernel.groups_run);
  const auto counted = [](int64_t n, const char* one, const char* more) {
    return fmt::format("{} {}", n, n == 1 ? one : more);
  };
  return fmt::format("{}, {} of {}{}", counted(kernel.launches, "launch", "launches"),
                     counted(kernel.groups, "workgroup", "workgroups"),
                     counted(kernel.group_size, "thread", "threads"), run);
}

std::string_view describe(Site::Kind kind) {
  constexpr const char* kKinds[] = {"load", "store", "atomic", "branch", "loop"};
  return kKinds[static_cast<int>(kind)];
}

}  // namespace kenaz::observe
