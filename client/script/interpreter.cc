#include "client/script/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "client/image/picture.h"
#include "client/lib/values.h"
#include "protocol/base/overloaded.h"
#include "protocol/data/text_format.h"

namespace kenaz::script {

Result<data::Value> as_type(const Constant& constant, const std::string& type) {
  const data::Value& value = constant.value;
  if (value.type_name() == type) return value;
  const auto leaf = client::transparent_leaf(type);
  const bool same_rank = leaf && static_cast<size_t>(leaf->rank) == value.shape.size();
  if (constant.written.empty() || !same_rank ||
      (leaf->prim == PrimType::kBool) != (value.type == PrimType::kBool) ||
      (is_float(value.type) && !is_float(leaf->prim))) {
    return bad_request(
        fmt::format("the script gives a value of type {} for {}", value.type_name(), type));
  }
  data::ByteSource source(constant.written);
  auto read = data::read_text(source, *leaf);
  if (read) return read;
  constexpr size_t kShown = 40;
  return bad_request(fmt::format("the script gives {} for {}: {}",
                                 constant.written.substr(0, kShown), type, read.error().message));
}

Result<std::vector<std::string>> payload_types(client::Connection& server, const std::string& type,
                                               const std::string& constructor) {
  const auto lines = server.request({"variants", type});
  if (!lines && lines.error().kind != ErrorKind::kProgramFailure) {
    return tl::unexpected<Error>(lines.error());
  }
  std::optional<std::vector<std::string>> types;
  bool here = false;
  for (const auto& line : lines.value_or(std::vector<std::string>())) {
    const bool part = line.starts_with("- ");
    if (part && here) types->push_back(line.substr(2));
    if (part) continue;
    here = line == constructor;
    if (here) types.emplace();
  }
  if (types) return std::move(*types);
  return bad_request(fmt::format("{} has no constructor #{}", type, constructor));
}

std::string Interpreter::fresh() {
  made_.push_back(fmt::format("script{}", made_.size()));
  return made_.back();
}

Result<std::string> Interpreter::make_record(const std::vector<ScriptValue>& parts,
                                             const std::string& type) {
  KENAZ_ASSIGN(const auto fields, server_.fields(type));
  if (!fields || fields->size() != parts.size()) {
    return bad_request(
        fmt::format("the script gives a record of {} fields for {}", parts.size(), type));
  }
  std::vector<std::string> words = {"new", "", type};
  for (size_t i = 0; i < parts.size(); ++i) {
    KENAZ_ASSIGN(auto part, remote(parts[i], (*fields)[i].second));
    words.push_back(std::move(part));
  }
  words[1] = fresh();
  KENAZ_TRY(server_.request(words));
  return words[1];
}

Result<std::string> Interpreter::make_sum(const Sum& sum, const std::string& type) {
  KENAZ_ASSIGN(const auto types, payload_types(server_, type, sum.constructor));
  if (types.size() != sum.payload.size()) {
    return bad_request(fmt::format("the script gives #{} {} values, not {}", sum.constructor,
                                   sum.payload.size(), types.size()));
  }
  std::vector<std::string> words = {"construct", "", type, sum.constructor};
  for (size_t i = 0; i < types.size(); ++i) {
    KENAZ_ASSIGN(auto part, remote(sum.payload[i], types[i]));
    words.push_back(std::move(part));
  }
  words[1] = fresh();
  KENAZ_TRY(server_.request(words));
  return words[1];
}

Result<std::string> Interpreter::remote(const ScriptValue& value, const std::string& type) {
  return std::visit(
      Overloaded{[&](const Constant& constant) -> Result<std::string> {
                   KENAZ_ASSIGN(const auto converted, as_type(constant, type));
                   const auto name = fresh();
                   KENAZ_TRY(client::put_values(server_, scratch_, {name}, {converted}));
                   return name;
                 },
                 [&](const Text& text) -> Result<std::string> {
                   data::Value bytes{PrimType::kU8, {static_cast<int64_t>(text.text.size())}, {}};
                   for (const char c : text.text) bytes.bytes.push_back(static_cast<std::byte>(c));
                   return remote({Constant{std::move(bytes), ""}}, type);
                 },
                 [&](const Remote& variable) -> Result<std::string> {
                   if (variable.type == type) return variable.name;
                   return bad_request(fmt::format("the script gives a value of type {} for {}",
                                                  variable.type, type));
                 },
                 [&](const Tuple& tuple) { return make_record(tuple.parts, type); },
                 [&](const Sum& sum) { return make_sum(sum, type); },
                 [&](const Record& record) -> Result<std::string> {
                   KENAZ_ASSIGN(const auto fields, server_.fields(type));
                   std::vector<ScriptValue> parts;
                   for (const auto& [name, unused] :
                        fields.value_or(decltype(fields)::value_type())) {
                     KENAZ_ASSIGN(auto part, field({record}, name));
                     parts.push_back(std::move(part));
                   }
                   return make_record(parts, type);
                 }},
      value.value);
}

Result<ScriptValue> Interpreter::field(const ScriptValue& record, const std::string& name) {
  if (const auto* r = std::get_if<Record>(&record.value)) {
    for (const auto& [field, value] : r->fields) {
      if (field == name) return value;
    }
  } else if (std::holds_alternative<Remote>(record.value) ||
             std::holds_alternative<Tuple>(record.value)) {
    if (const auto* variable = std::get_if<Remote>(&record.value)) {
      KENAZ_ASSIGN(const auto fields, server_.fields(variable->type));
      for (const auto& [field, type] : fields.value_or(decltype(fields)::value_type())) {
        if (field != name) continue;
        const auto part = fresh();
        KENAZ_TRY(server_.request({"project", part, variable->name, field}));
        return ScriptValue{Remote{part, type}};
      }
    } else {
      const auto& parts = std::get<Tuple>(record.value).parts;
      for (size_t i = 0; i < parts.size(); ++i) {
        if (std::to_string(i) == name) return parts[i];
      }
    }
  }
  return bad_request(fmt::format("script: there is no field {}", name));
}

/// The components of a tuple; of anything else, itself.
Result<std::vector<ScriptValue>> Interpreter::spread(const ScriptValue& value) {
  if (const auto* tuple = std::get_if<Tuple>(&value.value)) return tuple->parts;
  std::vector<ScriptValue> parts;
  if (const auto* variable = std::get_if<Remote>(&value.value)) {
    KENAZ_ASSIGN(const auto fields, server_.fields(variable->type));
    if (fields && client::is_tuple(*fields)) {
      for (const auto& [name, type] : *fields) {
        KENAZ_ASSIGN(auto part, field(value, name));
        parts.push_back(std::move(part));
      }
      return parts;
    }
  }
  parts.push_back(value);
  return parts;
}

Result<ScriptValue> Interpreter::call_entry(const std::string& entry,
                                            std::vector<ScriptValue> args) {
  KENAZ_ASSIGN(const auto params, server_.inputs(entry));
  KENAZ_ASSIGN(const auto output, server_.output(entry));
  if (args.size() != params.size()) {
    return bad_request(
        fmt::format("script: {} takes {} arguments, not {}", entry, params.size(), args.size()));
  }
  std::vector<std::string> words = {"call", entry, ""};
  for (size_t i = 0; i < args.size(); ++i) {
    KENAZ_ASSIGN(auto arg, remote(args[i], params[i].type));
    words.push_back(std::move(arg));
  }
  words[2] = fresh();
  KENAZ_TRY(server_.request(words));
  return ScriptValue{Remote{words[2], output.type}};
}

/// A picture as [height][width]u32: alpha, red, green and blue from the highest byte down.
Result<data::Value> Interpreter::load_image(const std::string& path) {
  KENAZ_ASSIGN(auto picture, image::read_picture(path));
  picture = image::with_bits(std::move(picture), 8);
  return data::Value{PrimType::kU32,
                     {picture.height(), picture.width()},
                     std::move(picture.pixels.bytes)};  // blue first, as in a little endian word
}

/// A value of any type, opaque ones too, out of what `store` has written.
Result<ScriptValue> Interpreter::restore(const std::string& type, const std::string& path) {
  const auto name = fresh();
  KENAZ_TRY(server_.request({"restore", path, name, type}));
  return ScriptValue{Remote{name, type}};
}

Result<ScriptValue> Interpreter::call_builtin(const std::string& name,
                                              const std::vector<ScriptValue>& args) {
  const size_t arity = name == "$restore" ? 2 : 1;
  std::vector<std::string> texts;
  for (const auto& arg : args) {
    if (const auto* text = std::get_if<Text>(&arg.value)) texts.push_back(text->text);
  }
  const bool fits = args.size() == arity && texts.size() == arity;
  const std::string path =
      fits ? (std::filesystem::path(folder_) / texts.back()).string() : std::string();
  const auto wrong = [&](const char* what) {
    return bad_request(fmt::format("script: {} takes {}", name, what));
  };
  if (name == "$restore") {
    if (!fits) return wrong("a type and a file's name");
    return restore(texts[0], path);
  }
  if (name != "$loaddata" && name != "$loadbytes" && name != "$loadimg") {
    return bad_request(fmt::format("script: there is no builtin {}", name));
  }
  if (!fits) return wrong("a file's name");
  if (name == "$loadbytes") {
    KENAZ_ASSIGN(auto bytes, client::read_file(path));
    return ScriptValue{Text{std::move(bytes)}};
  }
  if (name == "$loadimg") {
    KENAZ_ASSIGN(auto picture, load_image(path));
    return ScriptValue{Constant{std::move(picture), ""}};
  }
  KENAZ_ASSIGN(auto values, client::read_value_file(path));
  Tuple tuple;
  for (auto& value : values) tuple.parts.push_back({Constant{std::move(value), ""}});
  if (tuple.parts.size() == 1) return std::move(tuple.parts[0]);
  return ScriptValue{std::move(tuple)};
}

Result<ScriptValue> Interpreter::apply(const Apply& call, const Scope& scope) {
  if (const auto bound = scope.find(call.name); bound != scope.end()) {
    if (call.args.empty()) return bound->second;
    return bad_request(fmt::format("script: {} is not a function", call.name));
  }
  KENAZ_ASSIGN(auto args, eval_all(call.args, scope));
  if (call.name.starts_with("$")) return call_builtin(call.name, args);
  return call_entry(call.name, std::move(args));
}

Result<std::vector<ScriptValue>> Interpreter::eval_all(const std::vector<ExprPtr>& exprs,
                                                       const Scope& scope) {
  std::vector<ScriptValue> values;
  for (const auto& e : exprs) {
    KENAZ_ASSIGN(auto value, eval(*e, scope));
    values.push_back(std::move(value));
  }
  return values;
}

Result<ScriptValue> Interpreter::eval(const Expr& e, const Scope& scope) {
  return std::visit(
      Overloaded{[](const Constant& c) -> Result<ScriptValue> { return ScriptValue{c}; },
                 [](const Text& t) -> Result<ScriptValue> { return ScriptValue{t}; },
                 [&](const Apply& call) { return apply(call, scope); },
                 [&](const TupleExpr& tuple) -> Result<ScriptValue> {
                   KENAZ_ASSIGN(auto parts, eval_all(tuple.parts, scope));
                   return ScriptValue{Tuple{std::move(parts)}};
                 },
                 [&](const Construct& sum) -> Result<ScriptValue> {
                   KENAZ_ASSIGN(auto payload, eval_all(sum.payload, scope));
                   return ScriptValue{Sum{sum.name, std::move(payload)}};
                 },
                 [&](const RecordExpr& record) -> Result<ScriptValue> {
                   Record result;
                   for (const auto& [name, part] : record.fields) {
                     KENAZ_ASSIGN(auto value, eval(*part, scope));
                     result.fields.emplace_back(name, std::move(value));
                   }
                   return ScriptValue{std::move(result)};
                 },
                 [&](const Field& access) -> Result<ScriptValue> {
                   KENAZ_ASSIGN(const auto record, eval(*access.record, scope));
                   return field(record, access.name);
                 },
                 [&](const Let& let) -> Result<ScriptValue> {
                   KENAZ_ASSIGN(auto bound, eval(*let.bound, scope));
                   std::vector<ScriptValue> parts = {bound};
                   if (let.names.size() > 1) {
                     KENAZ_ASSIGN(parts, spread(bound));
                   }
                   if (parts.size() != let.names.size()) {
                     return bad_request(fmt::format("script: {} names for a tuple of {}",
                                                    let.names.size(), parts.size()));
                   }
                   Scope inner = scope;
                   for (size_t i = 0; i < parts.size(); ++i) {
                     inner.insert_or_assign(let.names[i], std::move(parts[i]));
                   }
                   return eval(*let.body, inner);
                 }},
      e.node);
}

Status Interpreter::run(const Expr& script, const std::vector<std::string>& names,
                        const std::vector<std::string>& types) {
  KENAZ_ASSIGN(auto result, eval(script, {}));
  std::vector<ScriptValue> parts = {result};
  if (names.size() != 1) {
    KENAZ_ASSIGN(parts, spread(result));
  }
  if (parts.size() != names.size()) {
    return bad_request(fmt::format("the script gives {} values, but the entry takes {}",
                                   parts.size(), names.size()));
  }
  std::vector<std::string> given;
  for (size_t i = 0; i < parts.size(); ++i) {
    KENAZ_ASSIGN(auto variable, remote(parts[i], types[i]));
    // The same variable twice needs a second one: both are freed later. Its value goes through the
    // client.
    if (std::find(given.begin(), given.end(), variable) != given.end()) {
      KENAZ_ASSIGN(const auto leaves, client::get_values(server_, scratch_, variable));
      const std::string path = scratch_.file("copy.data");
      KENAZ_TRY(client::write_value_file(path, leaves));
      variable = fresh();
      KENAZ_TRY(server_.request({"restore", path, variable, types[i]}));
    }
    given.push_back(std::move(variable));
  }
  for (size_t i = 0; i < given.size(); ++i) {
    KENAZ_TRY(server_.request({"rename", given[i], names[i]}));
    made_.erase(std::find(made_.begin(), made_.end(), given[i]));
  }
  std::vector<std::string> free = {"free"};
  free.insert(free.end(), made_.begin(), made_.end());
  made_.clear();
  if (free.size() > 1) KENAZ_TRY(server_.request(free));
  return {};
}

}  // namespace kenaz::script
