#include "kernels/futhark/check/mismatch.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "protocol/base/nearest.h"

namespace kenaz::check {

void Mismatch::because(std::string reason) {
  if (why.empty()) why = std::move(reason);
}

void Mismatch::in_field(const std::string& name) {
  field = field.empty() ? name : name + "." + field;
}

std::string Mismatch::str() const {
  std::string out;
  if (occurs) return "\nOccurs check: cannot instantiate a type with one that contains it.";
  if (function) {
    return "\nThis may not be of functional type: an array cannot contain functions, branches and "
           "loops\ncannot have one as a result, and a type parameter can only stand for a function "
           "type if it\nis declared with '^.";
  }
  if (!why.empty()) out += "\n" + why;
  if (!field.empty()) out += "\nWhen matching the types of field \"" + field + "\".";
  return out;
}

namespace {

/// How many characters the texts have in common at their starts, where words end.
size_t common_prefix(std::string_view a, std::string_view b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) n++;
  const auto in_word = [](std::string_view s, size_t at) {
    return at > 0 && at < s.size() && std::isalnum(static_cast<unsigned char>(s[at - 1])) &&
           std::isalnum(static_cast<unsigned char>(s[at]));
  };
  while (in_word(a, n) || in_word(b, n)) n--;
  return n;
}

size_t common_suffix(std::string_view a, std::string_view b) {
  const std::string x(a.rbegin(), a.rend()), y(b.rbegin(), b.rend());
  return common_prefix(x, y);
}

}  // namespace

std::string compared(const std::string& expected, const std::string& actual) {
  std::string out = "\nExpected: " + expected + "\nActual:   " + actual;
  const bool ascii = std::all_of(actual.begin(), actual.end(), [](char c) { return c > 31; });
  const size_t start = common_prefix(expected, actual);
  const std::string_view a = std::string_view(expected).substr(start);
  const std::string_view b = std::string_view(actual).substr(start);
  const size_t rest = common_suffix(a, b);
  if (!ascii || start + rest < 2 || b.size() <= rest) return out;
  return out + "\n          " + std::string(start, ' ') + std::string(b.size() - rest, '^');
}

namespace {

/// The names that only one of both has.
template <class List>
std::string unshared_names(const List& a, const List& b, const char* prefix) {
  std::set<std::string> in_a, in_b, out;
  for (const auto& x : a) in_a.insert(x.first);
  for (const auto& x : b) in_b.insert(x.first);
  std::set_symmetric_difference(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                                std::inserter(out, out.end()));
  std::string text;
  for (const std::string& name : out) text += (text.empty() ? "" : ", ") + (prefix + name);
  return text;
}

}  // namespace

std::string unshared(const core::TRecord& a, const core::TRecord& b) {
  if (std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                 [](const auto& x, const auto& y) { return x.first == y.first; })) {
    return "";
  }
  const std::string names = unshared_names(a.fields, b.fields, "");
  return "Cannot unify record types, because of unshared fields: " + names + ".";
}

std::string unshared(const core::TSum& a, const core::TSum& b) {
  if (std::equal(a.constructors.begin(), a.constructors.end(), b.constructors.begin(),
                 b.constructors.end(), [](const auto& x, const auto& y) {
                   return x.first == y.first && x.second.size() == y.second.size();
                 })) {
    return "";
  }
  const std::string names = unshared_names(a.constructors, b.constructors, "#");
  if (!names.empty()) return "Cannot unify sum types.  Unshared constructors: " + names + ".";
  for (size_t i = 0; i < a.constructors.size(); i++) {
    const auto& [name, payload] = a.constructors[i];
    if (payload.size() != b.constructors[i].second.size()) {
      return "Cannot unify sum types.  Arguments of constructor #" + name + " differ in arity.";
    }
  }
  return "";
}

std::string constructor_mismatch(const core::TypePtr& type, const std::string& name,
                                 const std::vector<core::TypePtr>& payload, const TypeText& text) {
  const auto* sum = std::get_if<core::TSum>(&type->node);
  if (!sum) {
    return "Cannot unify type with constructors, such as #" + name + ", with " + text(type) +
           ", which is no sum type.";
  }
  const std::vector<core::TypePtr>* known = nullptr;
  for (const auto& c : sum->constructors) {
    if (c.first == name) known = &c.second;
  }
  if (!known) {
    std::vector<std::string> names;
    for (const auto& c : sum->constructors) names.push_back(c.first);
    const std::string near = nearest(name, names);
    return "Unshared constructors: #" + name + ", which the type\n  " + text(type) + "\nlacks." +
           (near.empty() ? "" : "\nDid you mean \"#" + near + "\"?");
  }
  if (known->size() != payload.size()) {
    return "Arguments of constructor #" + name +
           " differ in arity: " + std::to_string(payload.size()) + " here, " +
           std::to_string(known->size()) + " in its type\n  " + text(type);
  }
  std::string out = "Constructor #" + name + " with this payload does not belong to type " +
                    text(type) + ".\nExpected:";
  for (const auto& t : *known) out += " " + text(t);
  out += "\nActual:  ";
  for (const auto& t : payload) out += " " + text(t);
  return out;
}

}  // namespace kenaz::check
