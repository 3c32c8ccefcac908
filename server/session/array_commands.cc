// Commands on arrays and their elements, one leaf at a time.
#include <fmt/format.h>

#include "protocol/base/whole_number.h"
#include "server/session/session.h"

namespace kenaz {
namespace {

/// The position of an element, counted in elements; `outer` are the array's dimensions.
Result<int64_t> element_number(std::span<const int64_t> outer, std::span<const std::string> words) {
  if (words.size() != outer.size()) {
    return bad_request(
        fmt::format("{} indices expected but {} values provided.", outer.size(), words.size()));
  }
  int64_t at = 0;
  for (size_t d = 0; d < words.size(); ++d) {
    const auto i = whole_number<int64_t>(words[d]);
    if (!i || *i < 0 || *i >= outer[d]) {
      return bad_request(fmt::format("Invalid index `{}` on dimension {}.", words[d], d));
    }
    at = at * outer[d] + *i;
  }
  return at;
}

}  // namespace

Result<std::vector<int64_t>> Session::outer_shape(const Variable& v, const ValueType& array) {
  KENAZ_ASSIGN(const auto shapes, leaf_shapes(array, v.leaves));
  return kenaz::outer_shape(array, shapes, parts_differ(array));
}

Status Session::do_shape(Args args) {
  KENAZ_ASSIGN(const Variable* v, variables_.find(args[0]));
  KENAZ_ASSIGN(const ValueType* type, type_of(*v, TypeKind::kArray));
  KENAZ_ASSIGN(const auto shape, outer_shape(*v, *type));
  for (int64_t d : shape) print(std::to_string(d));
  return {};
}

Status Session::do_index(Args args) {
  KENAZ_TRY(variables_.check_free(args[0]));
  KENAZ_ASSIGN(const Variable* array, variables_.find(args[1]));
  KENAZ_ASSIGN(const ValueType* type, type_of(*array, TypeKind::kArray));
  KENAZ_ASSIGN(const auto outer, outer_shape(*array, *type));
  KENAZ_ASSIGN(const int64_t at, element_number(outer, args.subspan(2)));
  Variable element{type->elemtype, {}, array->types};
  for (size_t i = 0; i < array->leaves.size(); ++i) {
    if (is_outer_size(type->leaves[i], type->rank)) continue;
    if (type->leaves[i].dim >= 0) {
      element.leaves.push_back(array->leaves[i]);
      continue;
    }
    KENAZ_ASSIGN(auto leaf, engine()->element(array->leaves[i], type->rank, at));
    element.leaves.push_back(std::move(leaf));
  }
  return variables_.add(args[0], std::move(element));
}

Status Session::do_set(Args args) {
  KENAZ_ASSIGN(const Variable* array, variables_.find(args[0]));
  KENAZ_ASSIGN(const Variable* element, variables_.find(args[1]));
  KENAZ_ASSIGN(const ValueType* type, type_of(*array, TypeKind::kArray));
  if (!has_type(*element, type->elemtype, *array->types)) {
    return bad_request(fmt::format("Type mismatch: expected element of type {}, got {}",
                                   type->elemtype,
                                   type_text(*element, type->elemtype, *array->types)));
  }
  KENAZ_ASSIGN(const auto outer, outer_shape(*array, *type));
  KENAZ_ASSIGN(const int64_t at, element_number(outer, args.subspan(2)));
  // Several leaves change together or not at all, so only one alone changes where it is.
  const bool in_place = array->leaves.size() == 1 && array->leaves[0].use_count() == 1;
  Variable updated{array->type, {}, array->types};
  auto next = element->leaves.begin();
  for (size_t i = 0; i < array->leaves.size(); ++i) {
    if (is_outer_size(type->leaves[i], type->rank)) {
      updated.leaves.push_back(array->leaves[i]);
      continue;
    }
    const host::LeafPtr &whole = array->leaves[i], &part = *next++;
    if (type->leaves[i].dim >= 0) {
      KENAZ_ASSIGN(const data::Value there, get(whole));
      KENAZ_ASSIGN(const data::Value given, get(part));
      if (there != given) return bad_request("The element's shape does not fit in the array.");
      updated.leaves.push_back(whole);
      continue;
    }
    if (!std::equal(whole->shape.begin() + type->rank, whole->shape.end(), part->shape.begin(),
                    part->shape.end())) {
      return bad_request(fmt::format("The element's shape {} does not fit in an array of shape {}.",
                                     data::shape_text(part->shape),
                                     data::shape_text(whole->shape)));
    }
    KENAZ_ASSIGN(auto leaf, engine()->with_element(whole, at, part, in_place));
    updated.leaves.push_back(std::move(leaf));
  }
  return variables_.replace(args[0], std::move(updated));
}

Status Session::do_new_array(Args args) {
  KENAZ_TRY(variables_.check_free(args[0]));
  KENAZ_ASSIGN(const ValueType* type, find_type(args[1], TypeKind::kArray));
  const Args rest = args.subspan(2);
  const auto rank = static_cast<size_t>(type->rank);
  if (rest.size() < rank) {
    return bad_request(fmt::format("Expected {} dimensions, but got {}.", rank, rest.size()));
  }
  std::vector<int64_t> outer;
  for (size_t d = 0; d < rank; ++d) {
    const auto n = whole_number<int64_t>(rest[d]);
    if (!n || *n < 0) {
      return bad_request(fmt::format("Invalid size `{}` of dimension {}.", rest[d], d));
    }
    outer.push_back(*n);
  }
  KENAZ_ASSIGN(const int64_t count, data::checked_bytes(PrimType::kI8, outer));
  const Args names = rest.subspan(rank);
  if (static_cast<int64_t>(names.size()) != count) {
    return bad_request(fmt::format("Expected {} values, but got {}.", count, names.size()));
  }
  std::vector<const Variable*> elements;
  for (size_t i = 0; i < names.size(); ++i) {
    KENAZ_ASSIGN(const Variable* v, variables_.find(names[i]));
    if (!has_type(*v, type->elemtype, *program_.types())) {
      return bad_request(fmt::format("Value {} mismatch: expected type {}, got {}", i,
                                     type->elemtype,
                                     type_text(*v, type->elemtype, *program_.types())));
    }
    elements.push_back(v);
  }
  Variable array{type->name, {}, program_.types()};
  size_t k = 0;  // the elements' leaf
  for (const LeafType& leaf_type : type->leaves) {
    if (is_outer_size(leaf_type, type->rank)) {
      const int64_t size = outer[static_cast<size_t>(leaf_type.dim)];
      KENAZ_ASSIGN(auto leaf, engine()->put(data::Value::scalar(PrimValue::i64(size))));
      array.leaves.push_back(std::move(leaf));
    } else {
      KENAZ_ASSIGN(auto leaf, join_leaf(leaf_type, outer, elements, k++));
      array.leaves.push_back(std::move(leaf));
    }
  }
  return variables_.add(args[0], std::move(array));
}

/// The k-th leaf of an array made of `elements`.
Result<host::LeafPtr> Session::join_leaf(const LeafType& type, const std::vector<int64_t>& outer,
                                         const std::vector<const Variable*>& elements, size_t k) {
  const auto differs = [](size_t i) {
    return bad_request(fmt::format("Value {} has another shape than the values before it.", i));
  };
  if (type.dim >= 0) {  // a size within the elements
    data::Value size = data::Value::scalar(PrimValue::of_int(type.prim, 0));
    for (size_t i = 0; i < elements.size(); ++i) {
      KENAZ_ASSIGN(const data::Value part, get(elements[i]->leaves.at(k)));
      if (i > 0 && part != size) return differs(i);
      size = part;
    }
    return engine()->put(size);
  }
  std::vector<int64_t> shape = outer;
  shape.resize(static_cast<size_t>(type.rank), 0);
  const auto inner = shape.begin() + static_cast<std::ptrdiff_t>(outer.size());
  Leaves parts;
  for (size_t i = 0; i < elements.size(); ++i) {
    const host::LeafPtr& part = elements[i]->leaves.at(k);
    if (i == 0) std::copy(part->shape.begin(), part->shape.end(), inner);
    if (!std::equal(inner, shape.end(), part->shape.begin(), part->shape.end())) return differs(i);
    parts.push_back(part);
  }
  KENAZ_TRY(data::checked_bytes(type.prim, shape));
  return engine()->join(type.prim, std::move(shape), parts);
}

}  // namespace kenaz
