#include <nlohmann/json.hpp>

#include <map>

#include "server/observe/report.h"

namespace kenaz::observe {

using Json = nlohmann::json;

namespace {

Json access_json(const kir::AccessFigures& f) {
  const auto by_number = [](const std::map<int64_t, int64_t>& counts) {
    Json out = Json::object();
    for (const auto& [number, n] : counts) out[std::to_string(number)] = n;
    return out;
  };
  Json classes = Json::object();
  for (int c = 0; c < kir::kAccessClasses; ++c) {
    const int64_t n = f.classes[static_cast<size_t>(c)];
    if (n > 0) classes[std::string(describe(static_cast<kir::AccessClass>(c)))] = n;
  }
  return {{"memory", f.shared ? "shared" : "device"},
          {"bytes_each", f.bytes_each},
          {"requests", f.requests},
          {"threads", f.lanes},
          {"bytes", f.bytes},
          {"sectors", f.sectors},
          {"least_sectors", f.least_sectors},
          {"lines", f.lines},
          {"least_lines", f.least_lines},
          {"bank_turns", f.bank_turns},
          {"least_bank_turns", f.least_bank_turns},
          {"threads_at_one_place", f.same_place},
          {"classes", classes},
          {"strides", by_number(f.strides)},
          {"requests_by_sectors", by_number(f.by_sectors)},
          {"requests_by_threads", by_number(f.by_lanes)}};
}

Json place_json(const Place& place) {
  if (place.file.empty()) return nullptr;
  return {{"file", place.file}, {"line", place.line}, {"range", place.range}};
}

Json row_json(const Row& row) {
  Json out = {
      {"place", place_json(row.place)}, {"kernel", row.kernel}, {"kind", describe(row.kind)}};
  if (!row.array.empty()) out["array"] = row.array;
  if (row.access.requests > 0) out["access"] = access_json(row.access);
  if (row.written.stored > 0) {
    out["written"] = {{"bytes", row.written.stored}, {"never_read", row.written.lost}};
  }
  if (row.branch.requests > 0) {
    out["branch"] = {{"requests", row.branch.requests},
                     {"threads", row.branch.lanes},
                     {"taken", row.branch.taken},
                     {"divergent", row.branch.divergent}};
  }
  return out;
}

}  // namespace

std::string json(const Observations& seen) {
  const std::vector<Row> rows = rows_of(seen);
  Json out = {{"subgroup_size", seen.subgroup_size},
              {"rows", Json::array()},
              {"findings", Json::array()},
              {"kernels", Json::array()}};
  for (const Row& row : rows) out["rows"].push_back(row_json(row));
  for (const Finding& f : findings_of(rows, seen.subgroup_size)) {
    out["findings"].push_back({{"place", place_json(f.place)}, {"text", f.text}, {"cost", f.cost}});
  }
  for (const auto& [name, kernel] : seen.kernels) {
    out["kernels"].push_back({{"name", name},
                              {"place", place_json(user_place(kernel.place))},
                              {"launches", kernel.launches},
                              {"workgroups", kernel.groups},
                              {"workgroups_run", kernel.groups_run},
                              {"group_size", kernel.group_size}});
  }
  // File names may hold anything.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kenaz::observe
