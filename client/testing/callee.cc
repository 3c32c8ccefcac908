#include "client/testing/callee.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "client/lib/values.h"
#include "client/script/interpreter.h"
#include "client/testing/random_data.h"
#include "protocol/base/overloaded.h"

namespace kenaz::testing {

std::string beside(const std::string& program, const std::string& file) {
  return (std::filesystem::path(program).parent_path() / file).string();
}

Result<std::vector<data::Value>> stated_results(const Expected& expected,
                                                const std::string& program) {
  if (const auto* literal = std::get_if<Literal>(&expected)) return *literal;
  return client::read_value_file(beside(program, std::get<DataFile>(expected).path));
}

void add_tuning_file(client::ServerOptions& server) {
  const std::string tuning = server.program + ".tuning";
  if (!std::filesystem::exists(tuning)) return;
  server.arguments.insert(server.arguments.end(), {"--tuning", tuning});
}

Result<Callee> Callee::look_up(client::Connection& server, const std::string& entry) {
  Callee callee(server, entry);
  KENAZ_ASSIGN(callee.inputs_, server.inputs(entry));
  KENAZ_ASSIGN(callee.output_, server.output(entry));
  return callee;
}

bool Callee::consumes() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [](const auto& p) { return p.consumed; });
}

std::vector<std::string> Callee::input_names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < inputs_.size(); ++i) names.push_back(fmt::format("in{}", i));
  return names;
}

Status Callee::check_types(const std::vector<std::string>& given) const {
  std::vector<std::string> wanted;
  for (const auto& p : inputs_) wanted.push_back(p.type);
  if (given == wanted) return {};
  return bad_request(fmt::format("the entry takes inputs of types {}, but the test gives {}",
                                 fmt::join(wanted, " "), fmt::join(given, " ")));
}

Status Callee::load_random(const RandomInput& input, const client::TempDir& scratch) const {
  std::vector<std::string> types;
  for (const auto& value : input.values) {
    types.push_back(std::visit(Overloaded{[](const RandomType& t) {
                                            return data::Value{t.prim, t.shape, {}}.type_name();
                                          },
                                          [](const data::Value& v) { return v.type_name(); }},
                               value));
  }
  KENAZ_TRY(check_types(types));
  const auto names = input_names();
  // One at a time: together they may be too large for the client's memory.
  for (size_t i = 0; i < input.values.size(); ++i) {
    data::Value value;
    if (const auto* type = std::get_if<RandomType>(&input.values[i])) {
      KENAZ_ASSIGN(value, random_value(*type));
    } else {
      value = std::get<data::Value>(input.values[i]);
    }
    KENAZ_TRY(client::put_values(*server_, scratch, {names[i]}, {value}));
  }
  return {};
}

Status Callee::load_file(std::string file, const client::TempDir& scratch) const {
  const std::string unpacked = scratch.file("unpacked.data");
  if (file.ends_with(".gz")) {
    KENAZ_ASSIGN(const auto bytes, client::read_maybe_gz(file));
    KENAZ_TRY(client::write_file(unpacked, bytes));
    file = unpacked;
  }
  std::vector<std::string> words = {"restore", file};
  const auto names = input_names();
  for (size_t i = 0; i < names.size(); ++i) words.insert(words.end(), {names[i], inputs_[i].type});
  const auto restored = server_->request(words);
  ::unlink(unpacked.c_str());
  KENAZ_TRY(restored);
  return {};
}

Status Callee::load_script(const Script& input, const std::string& program,
                           const client::TempDir& scratch) const {
  std::string text = input.text;
  if (!input.file.empty()) {
    KENAZ_ASSIGN(text, client::read_file(beside(program, input.file)));
  }
  KENAZ_ASSIGN(const auto parsed, script::parse(text));
  std::vector<std::string> types;
  for (const auto& p : inputs_) types.push_back(p.type);
  return script::Interpreter(*server_, scratch, beside(program, ""))
      .run(*parsed, input_names(), types);
}

Status Callee::load(const Input& input, const std::string& program,
                    const client::TempDir& scratch) const {
  return std::visit(
      Overloaded{
          [&](const Literal& literal) -> Status {
            std::vector<std::string> given;
            for (const auto& value : literal) given.push_back(value.type_name());
            KENAZ_TRY(check_types(given));
            return client::put_values(*server_, scratch, input_names(), literal);
          },
          [&](const DataFile& file) { return load_file(beside(program, file.path), scratch); },
          [&](const RandomInput& random) { return load_random(random, scratch); },
          [&](const Script& script) { return load_script(script, program, scratch); }},
      input);
}

Result<int64_t> Callee::call() const {
  KENAZ_ASSIGN(const Called called, call_logged());
  return called.microseconds;
}

Result<Callee::Called> Callee::call_logged() const {
  std::vector<std::string> words = {"call", entry_, "out"};
  for (auto& name : input_names()) words.push_back(std::move(name));
  KENAZ_ASSIGN(auto lines, server_->request(words));
  constexpr std::string_view kRuntime = "runtime: ";
  Called called;
  bool timed = false;
  for (auto& line : lines) {
    if (!line.starts_with(kRuntime)) {
      called.log.push_back(std::move(line));
      continue;
    }
    const char* end = line.data() + line.size();
    const auto read = std::from_chars(line.data() + kRuntime.size(), end, called.microseconds);
    timed = timed || (read.ec == std::errc() && read.ptr == end);
  }
  if (!timed) return internal_error("the server did not tell the run time of a call");
  return called;
}

Status Callee::free_inputs() const {
  std::vector<std::string> words = {"free"};
  for (auto& name : input_names()) words.push_back(std::move(name));
  if (words.size() > 1) KENAZ_TRY(server_->request(words));
  return {};
}

}  // namespace kenaz::testing
