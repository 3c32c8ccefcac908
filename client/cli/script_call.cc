#include "client/cli/script_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "client/lib/values.h"
#include "client/script/interpreter.h"
#include "protocol/base/overloaded.h"
#include "protocol/command.h"

namespace kenaz::cli {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
using Parts = std::vector<const script::Expr*>;

Parts pointers(const std::vector<script::ExprPtr>& exprs) {
  Parts parts;
  for (const auto& e : exprs) parts.push_back(e.get());
  return parts;
}

std::vector<std::string> types_of(const Fields& fields) {
  std::vector<std::string> types;
  for (const auto& field : fields) types.push_back(field.second);
  return types;
}

/// The record's parts in the order of the fields; nothing if the names are not the same ones.
std::optional<Parts> in_order(const script::RecordExpr& record, const Fields& fields) {
  Parts parts;
  if (record.fields.size() != fields.size()) return std::nullopt;
  for (const auto& field : fields) {
    const auto same = [&](const auto& given) { return given.first == field.first; };
    const auto at = std::find_if(record.fields.begin(), record.fields.end(), same);
    if (at == record.fields.end()) return std::nullopt;
    parts.push_back(at->second.get());
  }
  return parts;
}

bool is_tuple_of(size_t count, const std::optional<Fields>& fields) {
  return fields && fields->size() == count && client::is_tuple(*fields);
}

/// NAME.FIELD, as no command begins.
bool is_field(const std::string& word) {
  const size_t dot = word.find('.');
  return dot != std::string::npos && dot > 0 &&
         std::isdigit(static_cast<unsigned char>(word[0])) == 0;
}

data::Value bytes_of(const std::string& text) {
  data::Value bytes{PrimType::kU8, {static_cast<int64_t>(text.size())}, {}};
  for (const char c : text) bytes.bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

tl::unexpected<Error> no_let() {
  return bad_request("`let .. in ..` is for test blocks; here a `let` is a line of its own");
}

}  // namespace

bool ScriptCall::is_expression(const std::string& text) const {
  const size_t first = text.find_first_not_of(" \t");
  if (first != std::string::npos &&
      std::string_view("({#").find(text[first]) != std::string::npos) {
    return true;
  }
  const auto words = protocol::split_line(text);
  return !words.empty() && (entries_.contains(words[0]) || is_field(words[0]));
}

bool ScriptCall::is_variable(const script::Expr& e) const {
  const auto* apply = std::get_if<script::Apply>(&e.node);
  return apply != nullptr && apply->args.empty() && !entries_.contains(apply->name);
}

std::string ScriptCall::fresh() {
  made_.push_back(fmt::format("_argument_{}", made_.size()));
  return made_.back();
}

Status ScriptCall::run(const std::string& text, const std::string& type, const std::string& out) {
  KENAZ_ASSIGN(const auto script, script::parse(text));
  if (is_variable(*script)) {
    return bad_request(
        fmt::format("{} is no entry point; if it is a variable, `print` shows it and "
                    "`rename` gives it another name",
                    std::get<script::Apply>(script->node).name));
  }
  made_.clear();
  const Status placed = [&]() -> Status {
    std::string own = type;
    if (own.empty()) {
      KENAZ_ASSIGN(own, type_of(*script));
    }
    KENAZ_TRY(place(*script, own, out));
    return {};
  }();
  std::vector<std::string> words = {"discard"};
  words.insert(words.end(), made_.begin(), made_.end());
  if (!client_.broken()) KENAZ_TRY(client_.request(words));
  return placed;
}

Result<std::string> ScriptCall::place(const script::Expr& e, const std::string& type,
                                      const std::string& out) {
  return std::visit(
      Overloaded{[&](const script::Constant& constant) { return place(constant, type, out); },
                 [&](const script::Text& text) {
                   return place(script::Constant{bytes_of(text.text), ""}, type, out);
                 },
                 [&](const script::Apply& apply) { return place(apply, out); },
                 [&](const script::TupleExpr& tuple) { return place(tuple, type, out); },
                 [&](const script::RecordExpr& record) { return place(record, type, out); },
                 [&](const script::Construct& sum) { return place(sum, type, out); },
                 [&](const script::Field& field) { return place(field, out); },
                 [&](const script::Let&) -> Result<std::string> { return no_let(); }},
      e.node);
}

Result<std::string> ScriptCall::place(const script::Constant& constant, const std::string& type,
                                      const std::string& out) {
  KENAZ_ASSIGN(const auto value, script::as_type(constant, type));
  const std::string name = out.empty() ? fresh() : out;
  KENAZ_TRY(client_.put(name, value));
  return name;
}

Result<std::string> ScriptCall::place(const script::Apply& apply, const std::string& out) {
  if (apply.args.empty() && !entries_.contains(apply.name)) return apply.name;
  KENAZ_ASSIGN(const auto inputs, client_.connection().inputs(apply.name));
  if (inputs.size() != apply.args.size()) {
    return bad_request(fmt::format("{} takes {} arguments, but {} are given", apply.name,
                                   inputs.size(), apply.args.size()));
  }
  std::vector<std::string> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    KENAZ_ASSIGN(auto argument, place(*apply.args[i], inputs[i].type, ""));
    arguments.push_back(std::move(argument));
  }
  const std::string name = out.empty() ? fresh() : out;
  KENAZ_TRY(client_.call(apply.name, name, arguments));
  return name;
}

Result<std::string> ScriptCall::place(const script::TupleExpr& tuple, const std::string& type,
                                      const std::string& out) {
  KENAZ_ASSIGN(const auto fields, client_.connection().fields(type));
  if (!is_tuple_of(tuple.parts.size(), fields)) {
    return bad_request(fmt::format("a tuple of {} is given for {}", tuple.parts.size(), type));
  }
  return make({"new"}, out, {type}, pointers(tuple.parts), types_of(*fields));
}

Result<std::string> ScriptCall::place(const script::RecordExpr& record, const std::string& type,
                                      const std::string& out) {
  KENAZ_ASSIGN(const auto fields, client_.connection().fields(type));
  const auto parts = fields ? in_order(record, *fields) : std::nullopt;
  if (!parts) return bad_request(fmt::format("a record with other fields is given for {}", type));
  return make({"new"}, out, {type}, *parts, types_of(*fields));
}

Result<std::string> ScriptCall::place(const script::Construct& sum, const std::string& type,
                                      const std::string& out) {
  KENAZ_ASSIGN(const auto types, script::payload_types(client_.connection(), type, sum.name));
  if (types.size() != sum.payload.size()) {
    return bad_request(fmt::format("#{} takes {} values, but {} are given", sum.name, types.size(),
                                   sum.payload.size()));
  }
  return make({"construct"}, out, {type, sum.name}, pointers(sum.payload), types);
}

Result<std::string> ScriptCall::place(const script::Field& field, const std::string& out) {
  KENAZ_ASSIGN(const std::string type, type_of(*field.record));
  KENAZ_ASSIGN(const std::string record, place(*field.record, type, ""));
  const std::string name = out.empty() ? fresh() : out;
  KENAZ_TRY(client_.request({"project", name, record, field.name}));
  return name;
}

Result<std::string> ScriptCall::make(std::vector<std::string> words, const std::string& out,
                                     const std::vector<std::string>& more, const Parts& parts,
                                     const std::vector<std::string>& types) {
  std::vector<std::string> names;
  for (size_t i = 0; i < parts.size(); ++i) {
    KENAZ_ASSIGN(auto name, place(*parts[i], types[i], ""));
    names.push_back(std::move(name));
  }
  const std::string name = out.empty() ? fresh() : out;
  words.push_back(name);
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), names.begin(), names.end());
  KENAZ_TRY(client_.request(words));
  return name;
}

Result<std::string> ScriptCall::type_of(const script::Expr& e) {
  if (const auto* constant = std::get_if<script::Constant>(&e.node)) {
    return constant->value.type_name();
  }
  if (std::holds_alternative<script::Text>(e.node)) return std::string("[]u8");
  if (std::holds_alternative<script::Let>(e.node)) return no_let();
  client::Connection& server = client_.connection();
  if (const auto* apply = std::get_if<script::Apply>(&e.node)) {
    if (is_variable(e)) return server.request_line({"type", apply->name});
    KENAZ_ASSIGN(auto output, server.output(apply->name));
    return std::move(output.type);
  }
  const auto* field = std::get_if<script::Field>(&e.node);
  if (field == nullptr) return only_type(e);
  KENAZ_ASSIGN(const std::string type, type_of(*field->record));
  KENAZ_ASSIGN(const auto fields, server.fields(type));
  for (const auto& [name, part] : fields.value_or(Fields())) {
    if (name == field->name) return part;
  }
  return bad_request(fmt::format("{} has no field {}", type, field->name));
}

Result<std::string> ScriptCall::only_type(const script::Expr& e) {
  KENAZ_ASSIGN(const auto types, client_.request({"types"}));
  std::vector<std::string> candidates;
  for (const auto& type : types) {
    KENAZ_ASSIGN(const bool possible, fits(e, type));
    if (possible) candidates.push_back(type);
  }
  if (candidates.size() == 1) return std::move(candidates[0]);
  if (candidates.empty()) {
    return bad_request("no type of the program's entry points has this value (see `types`)");
  }
  return bad_request(fmt::format("say which type this has, as in `let NAME: {} = ..`: {}",
                                 candidates[0], fmt::join(candidates, ", ")));
}

Result<bool> ScriptCall::fits(const script::Expr& e, const std::string& type) {
  client::Connection& server = client_.connection();
  if (const auto* constant = std::get_if<script::Constant>(&e.node)) {
    return script::as_type(*constant, type).has_value();
  }
  if (const auto* sum = std::get_if<script::Construct>(&e.node)) {
    const auto types = script::payload_types(server, type, sum->name);
    if (!types && types.error().kind != ErrorKind::kBadRequest) {
      return tl::unexpected<Error>(types.error());
    }
    if (!types) return false;
    return fit(pointers(sum->payload), *types);
  }
  const auto* tuple = std::get_if<script::TupleExpr>(&e.node);
  const auto* record = std::get_if<script::RecordExpr>(&e.node);
  if (tuple == nullptr && record == nullptr) {
    KENAZ_ASSIGN(const std::string own, type_of(e));
    return own == type;
  }
  KENAZ_ASSIGN(const auto fields, server.fields(type));
  if (!fields) return false;
  if (tuple != nullptr) {
    if (!is_tuple_of(tuple->parts.size(), fields)) return false;
    return fit(pointers(tuple->parts), types_of(*fields));
  }
  const auto parts = in_order(*record, *fields);
  if (!parts) return false;
  return fit(*parts, types_of(*fields));
}

Result<bool> ScriptCall::fit(const Parts& parts, const std::vector<std::string>& types) {
  if (parts.size() != types.size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    KENAZ_ASSIGN(const bool good, fits(*parts[i], types[i]));
    if (!good) return false;
  }
  return true;
}

}  // namespace kenaz::cli
