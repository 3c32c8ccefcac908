#include "client/bench/results.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "client/lib/temp_dir.h"

namespace kenaz::bench {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson figures_json(const Figures& f) {
  OrderedJson json = OrderedJson::object();
  if (f.device_us > 0) json["device_us"] = f.device_us;
  if (f.kernel_bytes > 0) json["kernel_bytes"] = f.kernel_bytes;
  if (f.value_bytes > 0) json["value_bytes"] = f.value_bytes;
  return json;
}

OrderedJson dataset_json(const Dataset& d) {
  if (!d.error.empty()) return d.error;
  OrderedJson json = {{"runtimes", OrderedJson::array()}, {"bytes", OrderedJson::object()}};
  for (const double us : d.runtimes) json["runtimes"].push_back(std::llround(us));
  for (const auto& [space, bytes] : d.bytes) json["bytes"][space] = bytes;
  if (!d.report.empty()) {
    auto report = OrderedJson::parse(d.report, nullptr, false);
    if (!report.is_discarded()) json["profiling"] = std::move(report);
    json["stderr"] = d.log;
  }
  auto figures = figures_json(d.figures);
  if (!d.settled) figures["settled"] = false;
  if (!figures.empty()) json["kenaz"] = std::move(figures);
  return json;
}

Result<Dataset> parse_dataset(const std::string& name, const OrderedJson& json) {
  Dataset d;
  d.name = name;
  if (json.is_string()) {
    d.error = json.get<std::string>();
    return d;
  }
  const auto malformed = [&](const char* what) {
    return bad_request("the dataset " + name + " " + what);
  };
  if (!json.is_object() || !json.contains("runtimes") || !json["runtimes"].is_array()) {
    return malformed("has no runtimes");
  }
  for (const OrderedJson& time : json["runtimes"]) {
    if (!time.is_number()) return malformed("has a run time that is no number");
    d.runtimes.push_back(time.get<double>());
  }
  if (d.runtimes.empty()) return malformed("has no runtimes");
  if (const auto bytes = json.find("bytes"); bytes != json.end() && bytes->is_object()) {
    for (const auto& [space, number] : bytes->items()) {
      if (number.is_number()) d.bytes[space] = number.get<int64_t>();
    }
  }
  if (const auto ours = json.find("kenaz"); ours != json.end() && ours->is_object()) {
    const auto figure = [&](const char* key) {
      const auto found = ours->find(key);
      return found != ours->end() && found->is_number() ? found->get<double>() : 0.0;
    };
    d.figures = {figure("device_us"), static_cast<int64_t>(figure("kernel_bytes")),
                 static_cast<int64_t>(figure("value_bytes"))};
    const auto settled = ours->find("settled");
    d.settled = settled == ours->end() || *settled != false;
  }
  if (json.contains("profiling")) d.report = json["profiling"].dump();
  if (json.contains("stderr") && json["stderr"].is_string()) d.log = json["stderr"];
  return d;
}

}  // namespace

std::string results_json(const Results& results) {
  OrderedJson json = OrderedJson::object();
  for (const Measured& m : results) {
    OrderedJson& datasets = json[m.name()]["datasets"];
    if (datasets.is_null()) datasets = OrderedJson::object();
    for (const Dataset& d : m.datasets) datasets[d.name] = dataset_json(d);
  }
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<Results> parse_results(const std::string& text) {
  const OrderedJson json = OrderedJson::parse(text, nullptr, false);
  if (!json.is_object()) return bad_request("this is not JSON as benchmarks write it");
  Results results;
  for (const auto& [name, of_entry] : json.items()) {
    if (!of_entry.is_object() || !of_entry.contains("datasets") ||
        !of_entry["datasets"].is_object()) {
      return bad_request(name + " has no datasets");
    }
    // A program's path may have a colon, but no entry point's name has a dot or a slash.
    const size_t colon = name.find_last_of(':');
    const bool has_entry =
        colon != std::string::npos && name.find_first_of("./", colon) == std::string::npos;
    Measured m{name.substr(0, has_entry ? colon : name.size()),
               has_entry ? name.substr(colon + 1) : "main",
               {}};
    for (const auto& [dataset, value] : of_entry["datasets"].items()) {
      KENAZ_ASSIGN(auto parsed, parse_dataset(dataset, value));
      m.datasets.push_back(std::move(parsed));
    }
    results.push_back(std::move(m));
  }
  return results;
}

Result<Results> read_results(const std::string& path) {
  KENAZ_ASSIGN(const auto text, client::read_file(path));
  auto results = parse_results(text);
  if (!results) results.error().message = path + ": " + results.error().message;
  return results;
}

}  // namespace kenaz::bench
