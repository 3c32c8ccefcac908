#include "client/testing/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "client/lib/values.h"
#include "protocol/data/text_format.h"

namespace kenaz::testing {
namespace {

/// An array of numbers, or a number if the rank is 0.
struct Transparent {
  PrimType prim = PrimType::kI32;
  size_t rank = 0;
};

std::optional<Transparent> transparent(std::string_view type) {
  Transparent t;
  for (; type.starts_with("[]"); ++t.rank) type.remove_prefix(2);
  const auto prim = prim_from_name(type);
  if (!prim) return std::nullopt;
  t.prim = *prim;
  return t;
}

/// The shortest that reads back as the same number, with a point.
std::string shortest_text(PrimValue value) {
  if (value.type != PrimType::kF32 && value.type != PrimType::kF64) return data::scalar_text(value);
  const double number = value.as_double();
  if (!std::isfinite(number)) return data::scalar_text(value);
  const bool single = value.type == PrimType::kF32;
  std::string text =
      single ? fmt::format("{}", static_cast<float>(number)) : fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + std::string(prim_name(value.type));
}

/// Rows of rows stand on lines of their own.
std::string rows_text(const data::Value& value, size_t dim, int64_t first) {
  if (dim == value.shape.size()) return shortest_text(value.at(first));
  int64_t row = 1;
  for (size_t d = dim + 1; d < value.shape.size(); ++d) row *= value.shape[d];
  std::string text = "[";
  for (int64_t i = 0; i < value.shape[dim]; ++i) {
    if (i > 0) text += dim + 1 < value.shape.size() ? ",\n" : ", ";
    text += rows_text(value, dim + 1, first + i * row);
  }
  return text + "]";
}

std::string candidate_text(const data::Value& value) {
  // Elements of empty arrays are not to be seen, their type and dimensions are.
  return value.count() == 0 ? data::to_text(value) : rows_text(value, 0, 0);
}

std::string part_name(const std::string& variable, const std::string& part) {
  return variable + "_" + part;
}

}  // namespace

Status Candidates::free(const std::string& variable) {
  KENAZ_TRY(server_->request({"free", variable}));
  return {};
}

Status Candidates::make(const std::string& variable, const std::string& type, int64_t size,
                        uint64_t seed) {
  SplitMix random(seed);
  return make_part(variable, type, size, random);
}

Status Candidates::make_part(const std::string& variable, const std::string& type, int64_t size,
                             SplitMix& random) {
  if (const auto t = transparent(type)) {
    const std::vector<int64_t> shape(t->rank, size);
    KENAZ_ASSIGN(const auto value, uniform_value(t->prim, shape, random.next()));
    return client::put_values(*server_, *scratch_, {variable}, {value});
  }
  KENAZ_ASSIGN(const auto kind, server_->request_line({"kind", type}));
  KENAZ_ASSIGN(const auto fields, server_->fields(type));
  if (kind == "record" && fields) {
    return make_fields("new", variable, type, *fields, size, random);
  }
  if (kind != "array") return call_generator(variable, type, size, random);
  // An array of records is made of one array per field.
  std::string element = type, brackets;
  KENAZ_TRY(strip_dimensions(element, brackets));
  KENAZ_ASSIGN(auto columns, server_->fields(element));
  if (!columns) return bad_request("Automatic generation not implemented for: " + type);
  for (auto& [name, field_type] : *columns) {
    std::string inner;  // the field's type may be a name for an array
    KENAZ_TRY(strip_dimensions(field_type, inner));
    field_type = brackets + inner + field_type;
  }
  return make_fields("zip", variable, type, *columns, size, random);
}

Status Candidates::strip_dimensions(std::string& type, std::string& brackets) {
  for (;;) {
    if (type.starts_with("[]")) {
      brackets += "[]";
      type.erase(0, 2);
      continue;
    }
    if (prim_from_name(type)) return {};
    KENAZ_ASSIGN(const auto kind, server_->request_line({"kind", type}));
    if (kind != "array") return {};
    // All dimensions at once: `rank` counts them, `elemtype` has none.
    KENAZ_ASSIGN(const auto rank, server_->request_line({"rank", type}));
    KENAZ_ASSIGN(type, server_->request_line({"elemtype", type}));
    for (int i = std::atoi(rank.c_str()); i > 0; --i) brackets += "[]";
  }
}

Status Candidates::make_fields(const std::string& command, const std::string& variable,
                               const std::string& type, const Fields& fields, int64_t size,
                               SplitMix& random) {
  std::vector<std::string> parts;
  for (const auto& [name, field_type] : fields) {
    parts.push_back(part_name(variable, name));
    KENAZ_TRY(make_part(parts.back(), field_type, size, random));
  }
  std::vector<std::string> words = {command, variable, type};
  words.insert(words.end(), parts.begin(), parts.end());
  KENAZ_TRY(server_->request(words));
  for (const auto& part : parts) KENAZ_TRY(free(part));
  return {};
}

Status Candidates::call_generator(const std::string& variable, const std::string& type,
                                  int64_t size, SplitMix& random) {
  const std::string size_name = part_name(variable, "size"), seed = part_name(variable, "seed");
  KENAZ_TRY(client::put_values(*server_, *scratch_, {size_name, seed},
                               {data::Value::scalar(PrimValue::of_int(PrimType::kI64, size)),
                                data::Value::scalar(PrimValue::of_int(
                                    PrimType::kU64, static_cast<int64_t>(random.next())))}));
  const auto called = server_->request({"call", "gen_" + type, variable, size_name, seed});
  KENAZ_TRY(free(size_name));
  KENAZ_TRY(free(seed));
  KENAZ_TRY(called);
  return {};
}

Result<std::string> Candidates::print(const std::string& variable, const std::string& type) {
  if (transparent(type)) {
    KENAZ_ASSIGN(const auto values, client::get_values(*server_, *scratch_, variable));
    if (values.size() == 1) return candidate_text(values[0]);
    return internal_error(fmt::format("{} values for one of type {}", values.size(), type));
  }
  KENAZ_ASSIGN(const auto kind, server_->request_line({"kind", type}));
  if (kind == "array") return print_array(variable, type);
  if (kind == "sum") return print_sum(variable, type);
  KENAZ_ASSIGN(const auto fields, server_->fields(type));
  if (fields) return print_record(variable, *fields);
  return fmt::format("<opaque:{}>", type);
}

Result<std::string> Candidates::print_and_free(const std::string& variable,
                                               const std::string& type) {
  KENAZ_ASSIGN(auto text, print(variable, type));
  KENAZ_TRY(free(variable));
  return text;
}

Result<std::string> Candidates::print_record(const std::string& variable, const Fields& fields) {
  const bool tuple = client::is_tuple(fields);
  std::vector<std::string> parts;
  for (const auto& [name, type] : fields) {
    const auto part = part_name(variable, name);
    KENAZ_TRY(server_->request({"project", part, variable, name}));
    KENAZ_ASSIGN(auto text, print_and_free(part, type));
    parts.push_back(tuple ? std::move(text) : fmt::format("{} = {}", name, text));
  }
  return fmt::format("{}{}{}", tuple ? "(" : "{", fmt::join(parts, ", "), tuple ? ")" : "}");
}

Result<std::string> Candidates::print_sum(const std::string& variable, const std::string& type) {
  KENAZ_ASSIGN(const auto constructor, server_->request_line({"variant", variable}));
  KENAZ_ASSIGN(const auto variants, server_->request({"variants", type}));
  // The lines behind the constructor's own are "- TYPE", one for each part of its payload.
  auto line = std::find(variants.begin(), variants.end(), constructor);
  std::vector<std::string> words = {"destruct", variable}, types;
  while (line != variants.end() && ++line != variants.end() && line->starts_with("- ")) {
    words.push_back(part_name(variable, std::to_string(types.size())));
    types.push_back(line->substr(2));
  }
  std::string text = "#" + constructor;
  if (types.empty()) return text;
  KENAZ_TRY(server_->request(words));
  for (size_t i = 0; i < types.size(); ++i) {
    KENAZ_ASSIGN(const auto part, print_and_free(words[i + 2], types[i]));
    text += " " + part;
  }
  return text;
}

Result<std::string> Candidates::print_array(const std::string& variable, const std::string& type) {
  KENAZ_ASSIGN(const auto lines, server_->request({"shape", variable}));
  std::vector<int64_t> shape;
  for (const auto& line : lines) shape.push_back(std::atoll(line.c_str()));
  KENAZ_ASSIGN(const auto element_type, server_->request_line({"elemtype", type}));
  const std::string element = part_name(variable, "element");
  std::vector<std::string> index(shape.size(), "0");
  const auto print_from = [&](const auto& self, size_t dim) -> Result<std::string> {
    if (dim == shape.size()) {
      std::vector<std::string> words = {"index", element, variable};
      words.insert(words.end(), index.begin(), index.end());
      KENAZ_TRY(server_->request(words));
      return print_and_free(element, element_type);
    }
    std::vector<std::string> rows;
    for (int64_t i = 0; i < shape[dim]; ++i) {
      index[dim] = std::to_string(i);
      KENAZ_ASSIGN(auto row, self(self, dim + 1));
      rows.push_back(std::move(row));
    }
    return fmt::format("[{}]", fmt::join(rows, ", "));
  };
  return print_from(print_from, 0);
}

}  // namespace kenaz::testing
