#include "client/testing/property.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace kenaz::testing {
namespace {

using client::Connection;
using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_spaces(std::string text) {
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// "a(b,c),d" between the commas outside of parentheses.
Names arguments_of(const std::string& text) {
  Names parts = {""};
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (auto& part : parts) part = without_spaces(part);
  return parts;
}

/// What stands in NAME(...), or an empty string for a bare NAME.
std::optional<std::string> argument(const std::string& attribute, const std::string& name) {
  if (attribute == name) return "";
  if (!attribute.starts_with(name + "(") || !attribute.ends_with(')')) return std::nullopt;
  return attribute.substr(name.size() + 1, attribute.size() - name.size() - 2);
}

/// What the attributes say of a property, for each that does, but the same one counts once. Unknown
/// arguments mean nothing.
std::vector<Property> described(const std::string& entry, const Names& attributes) {
  std::vector<Property> found;
  const std::set<std::string> distinct(attributes.begin(), attributes.end());
  for (const auto& attribute : distinct) {
    const auto inside = argument(without_spaces(attribute), "prop");
    if (!inside) continue;
    Property property{entry, "", "", "", {}};
    for (const auto& part : arguments_of(*inside)) {
      if (const auto g = argument(part, "gen")) property.generator = *g;
      if (const auto s = argument(part, "shrink")) property.shrinker = *s;
      int64_t size = 0;
      const auto digits = argument(part, "size").value_or("");
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
      const bool whole = read.ptr == digits.data() + digits.size();
      if (!digits.empty() && read.ec == std::errc() && whole) property.size = size;
    }
    found.push_back(std::move(property));
  }
  return found;
}

struct Signature {
  Names inputs;
  std::string output;
};

Result<Signature> signature(Connection& server, const std::string& entry) {
  Signature s;
  KENAZ_ASSIGN(const auto inputs, server.inputs(entry));
  for (const auto& input : inputs) s.inputs.push_back(input.type);
  KENAZ_ASSIGN(const auto output, server.output(entry));
  s.output = output.type;
  return s;
}

std::string property_error(const Property& p, const Signature& s) {
  if (s.inputs.empty()) return fmt::format("Property {} has no inputs: expected 1.", p.name);
  if (s.inputs.size() > 1) {
    return fmt::format("Property {} has {} inputs; expected 1.", p.name, s.inputs.size());
  }
  if (s.output == "bool") return "";
  return fmt::format("Property {} output must be bool, got: {}", p.name, s.output);
}

std::string generator_error(const Property& p, const Signature& s) {
  Names actual = s.inputs;
  actual.push_back(s.output);
  const Names expected = {"i64", "u64", p.type};
  if (actual == expected) return "";
  return fmt::format(
      "Generator \"{}\" for property \"{}\" has invalid type.\nExpected: {}\nActual:   {}",
      p.generator, p.name, fmt::join(expected, " -> "), fmt::join(actual, " -> "));
}

std::string shrinker_error(const Property& p, const Signature& s) {
  if (s.inputs.size() != 2) {
    Names quoted;
    for (const auto& type : s.inputs) quoted.push_back(fmt::format("\"{}\"", type));
    return fmt::format(
        "Shrinker input arity mismatch.\n shrinker {} inputs: [{}]\n"
        "Expected exactly 2 inputs: ({}, u64).",
        p.shrinker, fmt::join(quoted, ","), p.type);
  }
  Names errors;
  if (s.inputs[0] != p.type) {
    errors.push_back(fmt::format("Property {} expects {} but shrinker {} takes {}", p.name, p.type,
                                 p.shrinker, s.inputs[0]));
  }
  if (s.inputs[1] != "u64") {
    errors.push_back(
        fmt::format("Shrinker {} takes random value {} but expected u64", p.shrinker, s.inputs[1]));
  }
  if (!errors.empty()) {
    return fmt::format("Shrinker Mismatch:\n{}", fmt::join(errors, "\n---\n"));
  }
  if (s.output == p.type) return "";
  return fmt::format(
      "Shrinker output mismatch.\nProperty {} expects: {}\nShrinker {} returns: \"{}\"\n"
      "Expected shrinker output to equal the property input type.",
      p.name, p.type, p.shrinker, s.output);
}

/// Fills in the property's type. Returns what is wrong with its declaration, or an empty string.
Result<std::string> complete(Connection& server, const Names& entries, Property& p) {
  KENAZ_ASSIGN(const auto own, signature(server, p.name));
  if (auto error = property_error(p, own); !error.empty()) return error;
  p.type = own.inputs[0];
  if (!p.generator.empty()) {
    if (!contains(entries, p.generator)) {
      return "Generator is not a server entry point: " + p.generator;
    }
    KENAZ_ASSIGN(const auto generator, signature(server, p.generator));
    if (auto error = generator_error(p, generator); !error.empty()) return error;
  }
  if (!p.shrinker.empty()) {
    if (!contains(entries, p.shrinker)) {
      return "Shrinker is not a server entry point: " + p.shrinker;
    }
    KENAZ_ASSIGN(const auto shrinker, signature(server, p.shrinker));
    if (auto error = shrinker_error(p, shrinker); !error.empty()) return error;
  }
  return std::string();
}

}  // namespace

Result<DeclaredProperties> find_properties(Connection& server, const Names& names) {
  DeclaredProperties declared;
  std::vector<Property> known;
  KENAZ_ASSIGN(const auto entries, server.request({"entry_points"}));
  for (const auto& entry : entries) {
    KENAZ_ASSIGN(const auto attributes, server.request({"attributes", entry}));
    auto found = described(entry, attributes);
    const bool named = contains(names, entry);
    if (found.empty() && !named) continue;
    std::string error;
    if (found.empty()) {
      error = fmt::format(
          "Entry point \"{}\" declared as property, but has no #[prop(...)] attribute.", entry);
    } else if (!named) {
      error = fmt::format(
          "Entry point \"{}\" not declared as property, but has #[prop(...)] attribute.", entry);
    } else if (found.size() > 1) {
      error = fmt::format("Entry point \"{}\" has more than one #[prop(...)] attribute.", entry);
    } else {
      KENAZ_ASSIGN(error, complete(server, entries, found[0]));
      known.push_back(std::move(found[0]));
    }
    if (!error.empty()) declared.errors.push_back(std::move(error));
  }
  for (const auto& name : names) {
    if (contains(entries, name)) continue;
    declared.errors.push_back(
        fmt::format("Declared as property, but is not an entry point: \"{}\".", name));
  }
  if (!declared.errors.empty()) return declared;
  for (const auto& name : names) {
    const auto same = [&](const Property& p) { return p.name == name; };
    declared.properties.push_back(*std::find_if(known.begin(), known.end(), same));
  }
  return declared;
}

Status write_property_reports(const std::string& program, const Names& reports) {
  std::string text;
  for (const auto& report : reports) text += report + "\n";
  const auto path = std::filesystem::path(program).replace_extension(".prop_result");
  return client::write_file(path.string(), text);
}

}  // namespace kenaz::testing
