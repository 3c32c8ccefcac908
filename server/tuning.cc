#include "server/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/base/read_file.h"
#include "protocol/base/trimmed.h"
#include "server/console.h"

namespace kenaz {
namespace {

using Params = std::vector<program::TuningParam>;

bool has(const Params& params, std::string_view name) {
  return std::any_of(params.begin(), params.end(), [&](const auto& p) { return p.name == name; });
}

void warn_of(const std::string& file, std::vector<std::string> names) {
  constexpr size_t kNamed = 3;
  if (names.empty()) return;
  const size_t more = names.size() - std::min(names.size(), kNamed);
  names.resize(names.size() - more);
  complain(fmt::format(
      "kenaz-server: Warning: {} sets parameters that the program does not have: {}{}\n", file,
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

Result<host::Tuning> read_file(const std::string& file) {
  constexpr int64_t kLongest = int64_t{1} << 20;
  KENAZ_ASSIGN(const std::string text, read_regular_file(file, kLongest));
  return parse_tuning(text);
}

}  // namespace

Result<host::Tuning> parse_tuning(const std::string& text) {
  host::Tuning tuning;
  int number = 0;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++number;
    line = trimmed(line.substr(0, line.find("--")));
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    const auto value = equals == std::string_view::npos
                           ? std::nullopt
                           : host::tuning_value(trimmed(line.substr(equals + 1)));
    if (!value) return bad_request(fmt::format("Invalid line {} (must be NAME=INT).", number));
    tuning[std::string(trimmed(line.substr(0, equals)))] = *value;
  }
  return tuning;
}

Result<host::Tuning> read_tuning(const Options& options, const Params& params) {
  host::Tuning tuning;
  if (options.default_threshold != 0) {
    for (const auto& p : params) {
      if (p.cls == program::TuningClass::kThreshold) tuning[p.name] = options.default_threshold;
    }
  }
  if (!options.tuning_file.empty()) {
    const auto set = read_file(options.tuning_file);
    if (!set) {
      return bad_request(fmt::format("When loading tuning file '{}': {}", options.tuning_file,
                                     set.error().text()));
    }
    std::vector<std::string> unknown;
    for (const auto& [name, value] : *set) {
      if (has(params, name)) {
        tuning[name] = value;
      } else {
        unknown.push_back(name);
      }
    }
    if (!options.no_warnings) warn_of(options.tuning_file, std::move(unknown));
  }
  for (const std::string& param : options.params) {
    const size_t equals = std::min(param.find('='), param.size());
    const std::string name = param.substr(0, equals);
    if (!has(params, name)) return bad_request("Unknown parameter: " + name);
    const auto value =
        host::tuning_value(std::string_view(param).substr(std::min(equals + 1, param.size())));
    if (!value) return bad_request(fmt::format("--param {}: must be NAME=INT", param));
    tuning[name] = *value;
  }
  return tuning;
}

}  // namespace kenaz
