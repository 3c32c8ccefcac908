#include "tests/fuzz/program/type.h"

#include <algorithm>
#include <cctype>

namespace kenaz::fuzz {

Type Type::of(PrimType p) {
  Type t;
  t.prim = p;
  return t;
}

Type Type::array(std::string size, Type element) {
  Type t;
  t.kind = kArray;
  t.size = std::move(size);
  t.parts.push_back(std::move(element));
  return t;
}

Type Type::tuple(std::vector<Type> parts) {
  Type t;
  t.kind = kTuple;
  t.parts = std::move(parts);
  return t;
}

Type Type::sum(std::string alias, std::vector<std::string> names, std::vector<Type> payloads) {
  Type t;
  t.kind = kSum;
  t.alias = std::move(alias);
  t.names = std::move(names);
  t.parts = std::move(payloads);
  return t;
}

bool Type::has_arrays() const {
  return is_array() || std::any_of(parts.begin(), parts.end(),
                                   [](const Type& part) { return part.has_arrays(); });
}

std::string text_of(const Type& type) {
  switch (type.kind) {
    case Type::kPrim: return std::string(prim_name(type.prim));
    case Type::kArray: return "[" + type.size + "]" + text_of(type.element());
    case Type::kSum: return type.alias;
    case Type::kTuple:
    case Type::kRecord: break;
  }
  const bool record = type.kind == Type::kRecord;
  std::string text = record ? "{" : "(";
  for (size_t i = 0; i < type.parts.size(); ++i) {
    if (i > 0) text += ", ";
    if (record) text += type.names[i] + ": ";
    text += text_of(type.parts[i]);
  }
  return text + (record ? "}" : ")");
}

std::string declaration(const Type& sum) {
  std::string text = "type " + sum.alias + " =";
  for (size_t i = 0; i < sum.names.size(); ++i) {
    text += (i > 0 ? " | #" : " #") + sum.names[i];
    for (const Type& part : sum.parts[i].parts) text += " (" + text_of(part) + ")";
  }
  return text + "\n";
}

bool is_size_name(const std::string& size) {
  return !size.empty() && !std::isdigit(static_cast<unsigned char>(size[0]));
}

void collect_sizes(const Type& type, std::set<std::string>& sizes) {
  if (type.is_array() && is_size_name(type.size)) sizes.insert(type.size);
  for (const Type& part : type.parts) collect_sizes(part, sizes);
}

}  // namespace kenaz::fuzz
