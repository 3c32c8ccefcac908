#include "kernels/futhark/core/uniqueness.h"

#include <algorithm>

#include "kernels/futhark/core/type_util.h"

namespace kenaz::core {

namespace {

// Are there only numbers and booleans in it? Then nothing of it shares memory with anything.
bool only_scalars(const TypePtr& t) {
  if (const auto* r = std::get_if<TRecord>(&t->node)) {
    return std::all_of(r->fields.begin(), r->fields.end(),
                       [](const auto& f) { return only_scalars(f.second); });
  }
  if (const auto* s = std::get_if<TSum>(&t->node)) {
    return std::all_of(s->constructors.begin(), s->constructors.end(), [](const auto& c) {
      return std::all_of(c.second.begin(), c.second.end(), only_scalars);
    });
  }
  return std::holds_alternative<TPrim>(t->node);
}

}  // namespace

bool has_unique(const TypePtr& t) {
  if (t->unique) return !only_scalars(t);
  if (const auto* r = std::get_if<TRecord>(&t->node)) {
    return std::any_of(r->fields.begin(), r->fields.end(),
                       [](const auto& f) { return has_unique(f.second); });
  }
  if (const auto* s = std::get_if<TSum>(&t->node)) {
    return std::any_of(s->constructors.begin(), s->constructors.end(), [](const auto& c) {
      return std::any_of(c.second.begin(), c.second.end(), has_unique);
    });
  }
  return false;
}

TypePtr without_unique(const TypePtr& t) {
  if (!has_unique(t)) return with_unique(t, false);
  Type copy = *t;
  copy.unique = false;
  if (auto* r = std::get_if<TRecord>(&copy.node)) {
    for (auto& f : r->fields) f.second = without_unique(f.second);
  } else if (auto* s = std::get_if<TSum>(&copy.node)) {
    for (auto& c : s->constructors) {
      for (TypePtr& p : c.second) p = without_unique(p);
    }
  }
  return std::make_shared<const Type>(std::move(copy));
}

bool consumes(const TArrow& f) {
  return (f.consumes && !only_scalars(f.from)) || has_unique(f.from);
}

TypePtr copy_uniqueness(const TypePtr& to, const TypePtr& flags) {
  Type copy = *to;
  copy.unique = flags->unique;
  if (to->node.index() != flags->node.index()) {
    return std::make_shared<const Type>(std::move(copy));
  }
  if (auto* r = std::get_if<TRecord>(&copy.node)) {
    const auto& from = std::get<TRecord>(flags->node).fields;
    for (size_t i = 0; i < std::min(from.size(), r->fields.size()); i++) {
      r->fields[i].second = copy_uniqueness(r->fields[i].second, from[i].second);
    }
  } else if (auto* s = std::get_if<TSum>(&copy.node)) {
    const auto& from = std::get<TSum>(flags->node).constructors;
    for (size_t i = 0; i < std::min(from.size(), s->constructors.size()); i++) {
      auto& payload = s->constructors[i].second;
      for (size_t j = 0; j < std::min(payload.size(), from[i].second.size()); j++) {
        payload[j] = copy_uniqueness(payload[j], from[i].second[j]);
      }
    }
  } else if (auto* a = std::get_if<TArrow>(&copy.node)) {
    const auto& from = std::get<TArrow>(flags->node);
    a->consumes = from.consumes;
    a->from = copy_uniqueness(a->from, from.from);
    a->to = copy_uniqueness(a->to, from.to);
  }
  return std::make_shared<const Type>(std::move(copy));
}

namespace {

// Whether `actual`, the type of a result, leaves a part not unique that `expected` calls unique.
bool less_unique(const TypePtr& expected, const TypePtr& actual, bool must, bool is) {
  must = must || expected->unique;
  is = is || actual->unique;
  if (is || std::holds_alternative<TPrim>(expected->node)) return false;
  if (expected->node.index() != actual->node.index()) return must;
  if (const auto* r = std::get_if<TRecord>(&expected->node)) {
    const auto& other = std::get<TRecord>(actual->node);
    for (size_t i = 0; i < std::min(r->fields.size(), other.fields.size()); i++) {
      if (less_unique(r->fields[i].second, other.fields[i].second, must, is)) return true;
    }
    return false;
  }
  if (const auto* s = std::get_if<TSum>(&expected->node)) {
    const auto& other = std::get<TSum>(actual->node);
    for (size_t i = 0; i < std::min(s->constructors.size(), other.constructors.size()); i++) {
      const auto& a = s->constructors[i].second;
      const auto& b = other.constructors[i].second;
      for (size_t j = 0; j < std::min(a.size(), b.size()); j++) {
        if (less_unique(a[j], b[j], must, is)) return true;
      }
    }
    return false;
  }
  return must && !std::holds_alternative<TArrow>(expected->node);
}

}  // namespace

UniquenessError uniqueness_error(const TypePtr& expected, const TypePtr& actual) {
  if (expected == actual || expected->node.index() != actual->node.index()) {
    return UniquenessError::kNone;
  }
  if (const auto* r = std::get_if<TRecord>(&expected->node)) {
    const auto& other = std::get<TRecord>(actual->node);
    for (size_t i = 0; i < std::min(r->fields.size(), other.fields.size()); i++) {
      const auto error = uniqueness_error(r->fields[i].second, other.fields[i].second);
      if (error != UniquenessError::kNone) return error;
    }
    return UniquenessError::kNone;
  }
  const auto* a = std::get_if<TArrow>(&expected->node);
  if (!a) return UniquenessError::kNone;
  const auto& b = std::get<TArrow>(actual->node);
  if (consumes(b) && !consumes(*a)) return UniquenessError::kConsumes;
  // A function that takes functions: what it expects of them must not be more than it gets.
  const auto inner = uniqueness_error(b.from, a->from);
  if (inner != UniquenessError::kNone) return inner;
  if (less_unique(a->to, b.to, false, false)) return UniquenessError::kShares;
  return uniqueness_error(a->to, b.to);
}

const char* describe(UniquenessError error) {
  switch (error) {
    case UniquenessError::kNone: break;
    case UniquenessError::kConsumes:
      return "\nThe types are incompatible regarding consuming their arguments: a function that "
             "consumes\nits argument cannot stand for one that does not.";
    case UniquenessError::kShares:
      return "\nThe results have incompatible uniqueness: one that may share memory cannot stand "
             "for a\nunique one.";
  }
  return "";
}

}  // namespace kenaz::core
