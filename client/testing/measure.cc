#include "client/testing/measure.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/lib/temp_dir.h"
#include "client/lib/values.h"
#include "client/testing/callee.h"
#include "client/testing/spec.h"
#include "protocol/data/compare.h"

namespace kenaz::testing {
namespace {

bool measured(const std::vector<std::string>& tags) {
  return std::none_of(tags.begin(), tags.end(), [](const std::string& tag) {
    return tag == "nobench" || tag == "disable" || tag == "no_kenaz";
  });
}

/// Frees the variable `out` in any case that leaves the server usable.
Status check_result(client::Connection& server, const std::string& path, const Case& c,
                    const std::string& type, const client::TempDir& scratch) {
  if (!std::holds_alternative<Literal>(c.expected) &&
      !std::holds_alternative<DataFile>(c.expected)) {
    KENAZ_TRY(server.request({"free", "out"}));
    return {};
  }
  KENAZ_ASSIGN(const auto got, client::take_results(server, scratch, "out", type));
  KENAZ_ASSIGN(const auto wanted, stated_results(c.expected, path));
  if (const auto difference = data::mismatch(wanted, got)) {
    return bad_request("a wrong result: " + *difference);
  }
  return {};
}

Status measure_case(client::Connection& server, const std::string& path, const Case& c,
                    const client::TempDir& scratch, const MeasureOptions& options, Measurement& m) {
  KENAZ_TRY(server.request({"clear"}));
  KENAZ_ASSIGN(const auto callee, Callee::look_up(server, m.entry));
  KENAZ_TRY(callee.load(c.input, path, scratch));
  KENAZ_TRY(callee.call());
  KENAZ_TRY(check_result(server, path, c, callee.output().type, scratch));
  const auto begin = client::Clock::now();
  const auto enough = begin + std::chrono::duration<double>(options.seconds);
  while (static_cast<int>(m.runtimes.size()) < options.runs || client::Clock::now() < enough) {
    if (callee.consumes()) {
      KENAZ_TRY(callee.free_inputs());
      KENAZ_TRY(callee.load(c.input, path, scratch));
    }
    KENAZ_ASSIGN(const int64_t microseconds, callee.call());
    m.runtimes.push_back(microseconds);
    KENAZ_TRY(server.request({"free", "out"}));
  }
  return {};
}

}  // namespace

double Measurement::median() const {
  std::vector<int64_t> sorted = runtimes;
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  return static_cast<double>(sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

int64_t Measurement::least() const { return *std::min_element(runtimes.begin(), runtimes.end()); }
int64_t Measurement::most() const { return *std::max_element(runtimes.begin(), runtimes.end()); }

Result<std::vector<Measurement>> measure_program(const std::string& path,
                                                 const MeasureOptions& options) {
  KENAZ_ASSIGN(const auto source, client::read_file(path));
  KENAZ_ASSIGN(const auto spec, parse_spec(source, spec_language(path)));
  std::vector<Measurement> all;
  if (spec.groups.empty() || !measured(spec.tags)) return all;
  KENAZ_ASSIGN(const auto scratch, client::TempDir::make());
  client::ServerOptions start = options.server;
  start.program = path;
  start.stderr_path = scratch.file("server.stderr");
  if (options.tuning) add_tuning_file(start);
  KENAZ_ASSIGN(auto server, client::Connection::start(start, client::deadline_in(options.timeout)));
  for (const auto& group : spec.groups) {
    for (const auto& entry : group.entries) {
      if (!options.entry.empty() && entry != options.entry) continue;
      for (const auto& c : group.cases) {
        if (!measured(c.tags) || std::holds_alternative<RuntimeError>(c.expected)) continue;
        Measurement m{entry, c.name, {}, ""};
        const auto status = measure_case(*server, path, c, scratch, options, m);
        if (!status) m.error = status.error().text();
        all.push_back(std::move(m));
      }
    }
  }
  return all;
}

Status write_bench_json(
    const std::string& path,
    const std::vector<std::pair<std::string, std::vector<Measurement>>>& programs) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [program, measurements] : programs) {
    for (const auto& m : measurements) {
      auto& datasets = json[m.entry == "main" ? program : program + ":" + m.entry]["datasets"];
      if (m.error.empty()) {
        datasets[m.dataset] = {{"runtimes", m.runtimes}, {"bytes", nlohmann::json::object()}};
      } else {
        datasets[m.dataset] = m.error;
      }
    }
  }
  return client::write_file(
      path, json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace kenaz::testing
