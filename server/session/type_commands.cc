// Commands that ask about entry points and types.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "server/session/session.h"

namespace kenaz {

Status Session::do_types(Args) {
  KENAZ_TRY(program_.served());
  for (int i = 0; i < kPrimTypeCount; ++i) {
    print(std::string(prim_name(static_cast<PrimType>(i))));
  }
  for (const auto& [name, type] : types()) {
    if (type.kind != TypeKind::kPrimitive) print(name);
  }
  return {};
}

Status Session::do_entry_points(Args) {
  KENAZ_TRY(program_.served());
  for (const auto& entry : engine()->entries()) print(entry.name);
  return {};
}

Status Session::do_inputs(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  for (const auto& param : entry->params) print((param.consumed ? "*" : "") + param.type);
  return {};
}

Status Session::do_parameters(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  for (const auto& param : entry->params) print(param.name);
  return {};
}

Status Session::do_documentation(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  std::string_view rest = entry->doc;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    print(std::string(line));
  }
  return {};
}

Status Session::do_output(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  print((entry->result_unique ? "*" : "") + entry->result);
  return {};
}

Status Session::do_attributes(Args args) {
  KENAZ_ASSIGN(const auto* entry, find_entry(args[0]));
  for (const auto& attr : entry->attrs) print(attr);
  return {};
}

Status Session::do_kind(Args args) {
  KENAZ_ASSIGN(const ValueType* type, find_type(args[0]));
  switch (type->kind) {
    case TypeKind::kPrimitive: print("primitive"); break;
    case TypeKind::kArray: print("array"); break;
    case TypeKind::kRecord: print("record"); break;
    case TypeKind::kSum: print("sum"); break;
    case TypeKind::kOpaque: print("opaque"); break;
  }
  return {};
}

Status Session::do_type(Args args) {
  KENAZ_ASSIGN(const Variable* v, variables_.find(args[0]));
  print(v->type);
  return {};
}

Status Session::do_rank(Args args) {
  KENAZ_ASSIGN(const ValueType* type, find_type(args[0], TypeKind::kArray));
  print(std::to_string(type->rank));
  return {};
}

Status Session::do_elemtype(Args args) {
  KENAZ_ASSIGN(const ValueType* type, find_type(args[0], TypeKind::kArray));
  print(type->elemtype);
  return {};
}

Status Session::do_fields(Args args) {
  KENAZ_ASSIGN(const ValueType* type, find_type(args[0], TypeKind::kRecord));
  for (const auto& field : type->fields) print(field.name + " " + field.type);
  return {};
}

Status Session::do_variants(Args args) {
  KENAZ_ASSIGN(const ValueType* type, find_type(args[0], TypeKind::kSum));
  for (const auto& variant : type->variants) {
    print(variant.name);
    for (const auto& payload : variant.payload) print("- " + payload);
  }
  return {};
}

}  // namespace kenaz
