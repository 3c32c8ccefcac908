#include "client/cli/check_json.h"

#include <algorithm>

#include "client/lib/process.h"

namespace kenaz::cli {

using nlohmann::json;

namespace {

constexpr double kDocumentTimeout = 600;  // seconds per program

bool is_document(const json& document) {
  return document.is_object() && document.value("version", 0) == 1 &&
         document.contains("programs") && document["programs"].is_array() &&
         document.contains("diagnostics") && document["diagnostics"].is_array();
}

}  // namespace

Result<json> check_document(const CheckOptions& options, const std::string& program) {
  client::ProcessOptions child;
  child.argv = check_command(options, program);
  child.argv.insert(child.argv.end() - 1, "--json");
  const client::Deadline deadline = client::deadline_in(kDocumentTimeout);
  KENAZ_ASSIGN(const auto process, client::Process::spawn(child));
  process->close_input();
  KENAZ_ASSIGN(const auto line, process->read_line(deadline));
  KENAZ_ASSIGN(const auto status, process->finish(deadline));
  json document = json::parse(line.value_or(""), nullptr, false);
  if (!is_document(document)) return internal_error("the check " + status.text());
  return document;
}

json empty_document() {
  return {{"version", 1}, {"programs", json::array()}, {"diagnostics", json::array()}};
}

void add_document(json& to, const json& more) {
  for (const json& program : more["programs"]) to["programs"].push_back(program);
  json& all = to["diagnostics"];
  for (const json& d : more["diagnostics"]) {
    if (std::find(all.begin(), all.end(), d) == all.end()) all.push_back(d);
  }
}

void add_problem(json& to, const std::string& message) {
  to["diagnostics"].push_back({{"severity", "error"},
                               {"code", "import"},
                               {"message", message},
                               {"hints", json::array()},
                               {"related", json::array()},
                               {"rendered", "Error:\n" + message + "\n"}});
}

size_t rejected_programs(const json& document) {
  const json& programs = document["programs"];
  return static_cast<size_t>(std::count_if(
      programs.begin(), programs.end(), [](const json& p) { return !p.value("accepted", false); }));
}

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace kenaz::cli
