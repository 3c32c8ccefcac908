#include "client/cli/script_call.h"

#include <fmt/format.h>

#include "client/script/interpreter.h"
#include "protocol/command.h"

namespace kenaz::cli {

bool ScriptCall::is_call(const std::string& text) const {
  const auto words = protocol::split_line(text);
  return !words.empty() && entries_.contains(words[0]);
}

std::string ScriptCall::fresh() {
  made_.push_back(fmt::format("_argument_{}", made_.size()));
  return made_.back();
}

Status ScriptCall::run(const std::string& text, const std::string& out) {
  KENAZ_ASSIGN(const auto script, script::parse(text));
  const auto* top = std::get_if<script::Apply>(&script->node);
  if (top == nullptr) return bad_request("a call of an entry point is expected: main 1 2.5f32");
  made_.clear();
  const Status called = call(*top, out);
  std::vector<std::string> words = {"discard"};
  words.insert(words.end(), made_.begin(), made_.end());
  if (!client_.broken()) KENAZ_TRY(client_.request(words));
  return called;
}

Status ScriptCall::call(const script::Apply& call, const std::string& out) {
  KENAZ_ASSIGN(const auto inputs, client_.request({"inputs", call.name}));
  if (inputs.size() != call.args.size()) {
    return bad_request(fmt::format("{} takes {} arguments, but {} are given", call.name,
                                   inputs.size(), call.args.size()));
  }
  std::vector<std::string> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string type = inputs[i].substr(inputs[i].starts_with('*') ? 1 : 0);
    KENAZ_ASSIGN(auto argument, place(*call.args[i], type));
    arguments.push_back(std::move(argument));
  }
  KENAZ_TRY(client_.call(call.name, out, arguments));
  return {};
}

Result<std::string> ScriptCall::place(const script::Expr& argument, const std::string& type) {
  if (const auto* constant = std::get_if<script::Constant>(&argument.node)) {
    KENAZ_ASSIGN(const auto value, script::as_type(*constant, type));
    const std::string name = fresh();
    KENAZ_TRY(client_.put(name, value));
    return name;
  }
  if (const auto* apply = std::get_if<script::Apply>(&argument.node)) {
    if (apply->args.empty() && !entries_.contains(apply->name)) return apply->name;
    const std::string name = fresh();
    KENAZ_TRY(call(*apply, name));
    return name;
  }
  return bad_request("arguments are numbers, arrays, variables and calls; `new` makes records");
}

}  // namespace kenaz::cli
