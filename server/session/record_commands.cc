// Commands that put records, arrays of records and sums together and take them apart. They share
// leaves and copy no data.
#include <fmt/format.h>

#include "server/session/session.h"

namespace kenaz {
namespace {

std::vector<std::string> field_types(const ValueType& type) {
  std::vector<std::string> types;
  for (const auto& f : type.fields) types.push_back(f.type);
  return types;
}

}  // namespace

Status Session::do_new(Args args) {
  KENAZ_TRY(variables_.check_free(args[0]));
  KENAZ_ASSIGN(const ValueType* type, find_type(args[1], TypeKind::kRecord));
  const Args values = args.subspan(2);
  if (values.size() != type->fields.size()) {
    return bad_request(fmt::format("{} fields expected but {} values provided.",
                                   type->fields.size(), values.size()));
  }
  KENAZ_ASSIGN(Leaves leaves, gather(type->fields, values));
  return variables_.add(args[0], {type->name, std::move(leaves), program_.types()});
}

Status Session::do_project(Args args) {
  const std::string& to = args[0];
  KENAZ_ASSIGN(const Variable* from, variables_.find(args[1]));
  KENAZ_ASSIGN(const ValueType* type, type_of(*from, TypeKind::kRecord));
  size_t first = 0;
  for (const auto& field : type->fields) {
    KENAZ_ASSIGN(const ValueType* field_type, type_of(*from, field.type));
    if (field.name != args[2]) {
      first += field_type->leaves.size();
      continue;
    }
    KENAZ_TRY(variables_.check_free(to));
    if (first + field_type->leaves.size() > from->leaves.size()) {
      return internal_error("the type table contradicts itself");
    }
    const auto begin = from->leaves.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(field_type->leaves.size());
    return variables_.add(to, {field.type, Leaves(begin, end), from->types});
  }
  return bad_request("No such field: " + args[2]);
}

Status Session::do_zip(Args args) {
  KENAZ_TRY(variables_.check_free(args[0]));
  KENAZ_ASSIGN(const ValueType* type, find_type(args[1], TypeKind::kArray));
  if (type->fields.empty()) return bad_request("Cannot zip this array type");
  const Args values = args.subspan(2);
  if (values.size() != type->fields.size()) {
    return bad_request(fmt::format("{} arrays expected but {} values provided.",
                                   type->fields.size(), values.size()));
  }
  KENAZ_ASSIGN(Leaves leaves, gather(type->fields, values));
  KENAZ_ASSIGN(const auto shapes, leaf_shapes(*type, leaves));
  KENAZ_TRY(kenaz::outer_shape(*type, shapes, "Cannot zip arrays of different shapes"));
  return variables_.add(args[0], {type->name, std::move(leaves), program_.types()});
}

Status Session::do_unzip(Args args) {
  KENAZ_ASSIGN(const Variable* from, variables_.find(args[0]));
  KENAZ_ASSIGN(const ValueType* type, type_of(*from));
  if (type->kind != TypeKind::kArray || type->fields.empty()) {
    return bad_request("Cannot unzip this array type");
  }
  const Args names = args.subspan(1);
  if (names.size() != type->fields.size()) {
    return bad_request(fmt::format("{} arrays expected but {} variables provided.",
                                   type->fields.size(), names.size()));
  }
  return scatter(TypesPtr(from->types), field_types(*type), names, Leaves(from->leaves));
}

namespace {

/// The constructor's number is the first leaf, unless there is only one constructor.
bool has_tag(const ValueType& sum) { return sum.variants.size() > 1; }

}  // namespace

Result<size_t> Session::variant_of(const Variable& value, const ValueType& sum) {
  if (!has_tag(sum)) return 0;
  KENAZ_ASSIGN(const data::Value tag, get(value.leaves.at(0)));
  const int64_t i = tag.at(0).as_i64() & 0xff;
  if (static_cast<size_t>(i) >= sum.variants.size()) {
    return bad_request(fmt::format("The value has no valid constructor (its number is {}).", i));
  }
  return static_cast<size_t>(i);
}

Status Session::do_variant(Args args) {
  KENAZ_ASSIGN(const Variable* v, variables_.find(args[0]));
  KENAZ_ASSIGN(const ValueType* sum, type_of(*v, TypeKind::kSum));
  KENAZ_ASSIGN(const size_t i, variant_of(*v, *sum));
  print(sum->variants[i].name);
  return {};
}

Status Session::do_construct(Args args) {
  KENAZ_TRY(variables_.check_free(args[0]));
  KENAZ_ASSIGN(const ValueType* sum, find_type(args[1], TypeKind::kSum));
  size_t which = 0;
  while (which < sum->variants.size() && sum->variants[which].name != args[2]) ++which;
  if (which == sum->variants.size()) return bad_request("No such variant: " + args[2]);
  const auto& variant = sum->variants[which];
  const Args values = args.subspan(3);
  if (values.size() != variant.payload.size()) {
    return bad_request(
        fmt::format("{} values expected but {} provided.", variant.payload.size(), values.size()));
  }
  Leaves leaves(sum->leaves.size());
  for (size_t i = 0; i < values.size(); ++i) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(values[i]));
    if (!has_type(*v, variant.payload[i], *program_.types())) {
      return bad_request(fmt::format("Value {} mismatch: expected type {}, got {}", i,
                                     variant.payload[i],
                                     type_text(*v, variant.payload[i], *program_.types())));
    }
    const auto& slots = variant.payload_leaves.at(i);
    for (size_t k = 0; k < slots.size(); ++k) {
      leaves.at(static_cast<size_t>(slots[k])) = v->leaves.at(k);
    }
  }
  if (has_tag(*sum)) {
    const auto tag = PrimValue::of_int(PrimType::kI8, static_cast<int64_t>(which));
    KENAZ_ASSIGN(leaves.at(0), engine()->put(data::Value::scalar(tag)));
  }
  for (size_t i = 0; i < leaves.size(); ++i) {  // the other constructors' slots
    if (leaves[i]) continue;
    const LeafType& t = sum->leaves[i];
    data::Value none{t.prim, std::vector<int64_t>(static_cast<size_t>(t.rank), 0), {}};
    if (t.rank == 0) none = data::Value::scalar(PrimValue{t.prim, 0});
    KENAZ_ASSIGN(leaves[i], engine()->put(none));
  }
  return variables_.add(args[0], {sum->name, std::move(leaves), program_.types()});
}

Status Session::do_destruct(Args args) {
  KENAZ_ASSIGN(const Variable* v, variables_.find(args[0]));
  KENAZ_ASSIGN(const ValueType* sum, type_of(*v, TypeKind::kSum));
  KENAZ_ASSIGN(const size_t which, variant_of(*v, *sum));
  const auto& variant = sum->variants[which];
  const Args names = args.subspan(1);
  if (names.size() != variant.payload.size()) {
    return bad_request(fmt::format("{} variables expected but {} provided.", variant.payload.size(),
                                   names.size()));
  }
  Leaves leaves;
  for (const auto& slots : variant.payload_leaves) {
    for (int slot : slots) leaves.push_back(v->leaves.at(static_cast<size_t>(slot)));
  }
  return scatter(TypesPtr(v->types), variant.payload, names, leaves);
}

}  // namespace kenaz
