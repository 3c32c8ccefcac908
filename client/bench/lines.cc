#include "client/bench/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "client/bench/units.h"
#include "client/lib/temp_dir.h"
#include "client/testing/callee.h"

namespace kenaz::bench {
namespace {

using Json = nlohmann::json;

constexpr double kSector = 32;    // bytes
constexpr double kPatience = 60;  // seconds that the interpreter may take
constexpr int kGroups = 8;        // that run of each launch

/// The value of a path of keys; null if it is not there.
const Json& at(const Json& json, std::initializer_list<const char*> keys) {
  static const Json kNull;
  const Json* here = &json;
  for (const char* key : keys) {
    if (!here->is_object()) return kNull;
    const auto found = here->find(key);
    if (found == here->end()) return kNull;
    here = &*found;
  }
  return *here;
}

double number_at(const Json& json, std::initializer_list<const char*> keys) {
  const Json& found = at(json, keys);
  return found.is_number() ? found.get<double>() : 0;
}

std::string text_at(const Json& json, std::initializer_list<const char*> keys) {
  const Json& found = at(json, keys);
  return found.is_string() ? found.get<std::string>() : "";
}

/// How many times more workgroups there were than have run, by kernel.
std::map<std::string, double> scales(const Json& report) {
  std::map<std::string, double> out;
  for (const Json& kernel : at(report, {"kernels"})) {
    const double run = number_at(kernel, {"workgroups_run"});
    if (run > 0) out[text_at(kernel, {"name"})] = number_at(kernel, {"workgroups"}) / run;
  }
  return out;
}

void sort_lines(std::vector<LineBytes>& lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](auto& a, auto& b) { return a.touched > b.touched; });
}

/// The options of `device`; those of the same names among `given` are dropped.
std::vector<std::string> posing_arguments(const std::vector<std::string>& given,
                                          const DeviceFacts& device, const std::string& report) {
  const std::vector<std::pair<std::string, std::string>> ours = {
      {"--observe", report},
      {"--groups", std::to_string(kGroups)},
      {"--subgroup-size", std::to_string(device.subgroup_size)},
      {"--max-group-size", std::to_string(device.max_group_size)},
      {"--shared-memory", std::to_string(device.shared_bytes)},
      {"--threads", std::to_string(device.threads)},
      {"--one-pass-scans", "auto"},
  };
  std::vector<std::string> out = {"--json"};
  if (device.forward_progress) out.push_back("--forward-progress");
  for (size_t k = 0; k < given.size(); ++k) {
    const std::string name = given[k].substr(0, given[k].find('='));
    const bool replaced =
        std::any_of(ours.begin(), ours.end(), [&](const auto& o) { return o.first == name; });
    if (!replaced) {
      out.push_back(given[k]);
    } else if (name == given[k]) {
      ++k;  // its value is the next word
    }
  }
  for (const auto& [name, value] : ours) out.push_back(name + "=" + value);
  return out;
}

Status call_once(client::Connection& server, const std::string& entry, const testing::Case& c,
                 const std::string& program, const client::TempDir& scratch) {
  KENAZ_ASSIGN(const auto callee, testing::Callee::look_up(server, entry));
  KENAZ_TRY(callee.load(c.input, program, scratch));
  KENAZ_TRY(callee.call());
  return {};
}

std::string place_of(const LineBytes& l) {
  return l.file.empty() ? "?" : fmt::format("{}:{}", l.file, l.line);
}

/// Without the text of the line. `us`: the time of its kernel; 0 if that is unknown.
std::string line_row(const LineBytes& l, double us, double copy_rate, size_t width) {
  const bool known = copy_rate > 0 && us > 0;
  return fmt::format("      {:<{}} {:>10} {:>10} {:>7} {:>7} {:>10} {:>7}", place_of(l), width - 2,
                     "", bytes_text(l.accessed), rate_text(l.accessed, us),
                     known ? fmt::format("{:.1f}%", 100 * l.accessed / (copy_rate * us)) : "-",
                     bytes_text(l.touched), rate_text(l.touched, us));
}

/// What kernels have in common that are made of the same operation in the same way: the name but
/// for its number, and the place.
using Kind = std::pair<std::string, std::string>;
Kind kind_of(const std::string& name, const std::string& place) {
  return {name.substr(0, name.rfind('_')), place};
}

bool has_lower_number(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

/// The names that kernels of the device have on the interpreter: of as many kernels of a kind the
/// first is the first, and so on. Else only equal names are the same kernel.
std::map<std::string, std::string> names_on_interpreter(const std::vector<KernelRow>& rows,
                                                        const KernelLines& lines) {
  std::map<Kind, std::pair<std::vector<std::string>, std::vector<std::string>>> kinds;
  for (const KernelRow& row : rows) kinds[kind_of(row.name, row.place)].first.push_back(row.name);
  for (const auto& [name, kernel] : lines)
    kinds[kind_of(name, kernel.place)].second.push_back(name);
  std::map<std::string, std::string> out;
  for (auto& [kind, names] : kinds) {
    auto& [device, interpreter] = names;
    std::sort(device.begin(), device.end(), has_lower_number);
    std::sort(interpreter.begin(), interpreter.end(), has_lower_number);
    for (size_t k = 0; k < device.size(); ++k) {
      const bool as_many = device.size() == interpreter.size();
      const auto same = std::find(interpreter.begin(), interpreter.end(), device[k]);
      if (as_many || same != interpreter.end()) out[device[k]] = as_many ? interpreter[k] : *same;
    }
  }
  return out;
}

}  // namespace

Result<KernelLines> parse_observed(const std::string& text) {
  const Json report = Json::parse(text, nullptr, false);
  if (!at(report, {"rows"}).is_array() || !at(report, {"kernels"}).is_array()) {
    return internal_error("what the interpreter observed is not what reports are");
  }
  const auto scale = scales(report);
  KernelLines kernels;
  for (const Json& kernel : report["kernels"]) {
    const std::string name = text_at(kernel, {"name"});
    if (scale.count(name) != 0) kernels[name].place = text_at(kernel, {"place", "range"});
  }
  for (const Json& row : report["rows"]) {
    const auto factor = scale.find(text_at(row, {"kernel"}));
    if (factor == scale.end() || text_at(row, {"access", "memory"}) != "device") continue;
    auto& lines = kernels[factor->first].lines;
    const std::string file = text_at(row, {"place", "file"});
    const auto line = static_cast<int64_t>(number_at(row, {"place", "line"}));
    auto found = std::find_if(lines.begin(), lines.end(),
                              [&](const LineBytes& l) { return l.file == file && l.line == line; });
    if (found == lines.end()) found = lines.insert(found, {file, line, 0, 0});
    found->accessed += factor->second * number_at(row, {"access", "bytes"});
    found->touched += factor->second * number_at(row, {"access", "sectors"}) * kSector;
  }
  for (auto& [name, kernel] : kernels) sort_lines(kernel.lines);
  return kernels;
}

Result<KernelLines> observe_lines(client::ServerOptions server, const DeviceFacts& device,
                                  const std::string& entry, const testing::Case& c) {
  KENAZ_ASSIGN(const auto scratch, client::TempDir::make());
  const std::string report = scratch.file("observed");
  server.device = "interpreter";
  server.stderr_path = scratch.file("server.stderr");
  server.arguments = posing_arguments(server.arguments, device, report);
  const auto deadline = client::deadline_in(kPatience);
  KENAZ_ASSIGN(const auto connection, client::Connection::start(server, deadline));
  connection->set_deadline(deadline);
  // What has not run may be needed: the report is of what did.
  const Status called = call_once(*connection, entry, c, server.program, scratch);
  if (connection->broken()) return tl::unexpected(called.error());
  KENAZ_TRY(connection->finish());
  KENAZ_ASSIGN(const auto json, client::read_file(report));
  return parse_observed(json);
}

std::string lines_text(const ProfiledCall& call, const KernelLines& lines, double copy_rate,
                       const std::function<std::string(const LineBytes&)>& line_text) {
  const auto kernels = kernel_rows(call, copy_rate);
  size_t width = 18;
  for (const KernelRow& kernel : kernels) width = std::max(width, kernel.name.size());
  for (const auto& [name, kernel] : lines) {
    width = std::max(width, name.size());
    for (const LineBytes& l : kernel.lines) width = std::max(width, place_of(l).size() + 2);
  }
  std::string out = fmt::format("    {:<{}} {:>10} {:>10} {:>7} {:>7} {:>10} {:>7}\n", "line",
                                width, "time", "accessed", "GB/s", "of copy", "touched", "GB/s");
  const auto add_lines = [&](const ObservedKernel& kernel, double us) {
    for (const LineBytes& l : kernel.lines) {
      const std::string row = line_row(l, us, copy_rate, width) + "  " + line_text(l);
      out += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    }
  };
  const auto names = names_on_interpreter(kernels, lines);
  std::set<std::string> measured;
  for (const KernelRow& kernel : kernels) {
    const auto name = names.find(kernel.name);
    out += fmt::format("    {:<{}} {:>10}{}\n", kernel.name, width,
                       fmt::format("{:.1f} us", kernel.us),
                       name == names.end() ? "  not on the interpreter" : "");
    if (name == names.end()) continue;
    measured.insert(name->second);
    add_lines(lines.at(name->second), kernel.us);
  }
  for (const auto& [name, kernel] : lines) {
    if (measured.count(name) != 0) continue;
    out += fmt::format("    {:<{}} {:>10}  on the interpreter only\n", name, width, "-");
    add_lines(kernel, 0);
  }
  return out;
}

}  // namespace kenaz::bench
