#include <nlohmann/json.hpp>

#include "server/observe/report.h"

namespace kenaz::observe {

using Json = nlohmann::json;

namespace {

Json access_json(const kir::AccessFigures& f) {
  Json classes = Json::object(), strides = Json::object();
  for (int c = 0; c < kir::kAccessClasses; ++c) {
    const int64_t n = f.classes[static_cast<size_t>(c)];
    if (n > 0) classes[std::string(describe(static_cast<kir::AccessClass>(c)))] = n;
  }
  for (const auto& [stride, n] : f.strides) strides[std::to_string(stride)] = n;
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
          {"strides", strides}};
}

Json place_json(const Place& place) {
  if (place.file.empty()) return nullptr;
  return {{"file", place.file}, {"line", place.line}, {"range", place.range}};
}

Json row_json(const Row& row) {
  constexpr const char* kKinds[] = {"load", "store", "atomic", "branch", "loop"};
  Json out = {{"place", place_json(row.place)},
              {"kernel", row.kernel},
              {"kind", kKinds[static_cast<int>(row.kind)]}};
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
                              {"launches", kernel.launches},
                              {"workgroups", kernel.groups},
                              {"group_size", kernel.group_size}});
  }
  return out.dump(2) + "\n";
}

}  // namespace kenaz::observe
