#include "kernels/futhark/consumption/aliases.h"

#include <algorithm>
#include <iterator>

namespace kenaz::consumption {

using core::TArrow;
using core::TPrim;
using core::TRecord;
using core::TSum;

Roots merge(const Roots& a, const Roots& b) {
  Roots out;
  out.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

bool contains(const Roots& roots, RootId root) {
  return std::binary_search(roots.begin(), roots.end(), root);
}

const RootId* common(const Roots& a, const Roots& b) {
  for (const RootId& root : a) {
    if (contains(b, root)) return &root;
  }
  return nullptr;
}

AliasPtr aliases_of(Roots roots) {
  if (roots.empty()) return nullptr;
  return std::make_shared<const Aliases>(Aliases{std::move(roots), {}});
}

AliasPtr part(const AliasPtr& a, size_t index) {
  if (!a || a->parts.empty()) return a;
  AliasPtr below = index < a->parts.size() ? a->parts[index] : nullptr;
  return a->roots.empty() ? below : join(below, aliases_of(a->roots));
}

AliasPtr join(const AliasPtr& a, const AliasPtr& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  Aliases out{merge(a->roots, b->roots), {}};
  const size_t count = std::max(a->parts.size(), b->parts.size());
  for (size_t i = 0; i < count; i++) {
    out.parts.push_back(
        join(a->parts.empty() ? nullptr : a->parts[i], b->parts.empty() ? nullptr : b->parts[i]));
  }
  return std::make_shared<const Aliases>(std::move(out));
}

Roots all_roots(const AliasPtr& a) {
  if (!a) return {};
  Roots out = a->roots;
  for (const AliasPtr& p : a->parts) {
    if (p) out = merge(out, all_roots(p));
  }
  return out;
}

size_t part_index(const TypePtr& type, const std::string& name) {
  size_t index = 0;
  if (const auto* r = std::get_if<TRecord>(&type->node)) {
    for (const auto& f : r->fields) {
      if (f.first == name) break;
      index++;
    }
  } else if (const auto* s = std::get_if<TSum>(&type->node)) {
    for (const auto& [constructor, payload] : s->constructors) {
      if (constructor == name) break;
      index += payload.size();
    }
  }
  return index;
}

namespace {

/// The types of the parts of a record or sum; empty for others.
std::vector<TypePtr> parts_of(const TypePtr& type) {
  std::vector<TypePtr> out;
  if (const auto* r = std::get_if<TRecord>(&type->node)) {
    for (const auto& f : r->fields) out.push_back(f.second);
  } else if (const auto* s = std::get_if<TSum>(&type->node)) {
    for (const auto& c : s->constructors) out.insert(out.end(), c.second.begin(), c.second.end());
  }
  return out;
}

bool has_parts(const TypePtr& type) {
  return std::holds_alternative<TRecord>(type->node) || std::holds_alternative<TSum>(type->node);
}

const Roots kNoRoots;

}  // namespace

void for_each_leaf(const TypePtr& type, const AliasPtr& a, const LeafVisitor& visit, bool unique) {
  if (std::holds_alternative<TPrim>(type->node)) return;
  unique = unique || type->unique;
  if (!has_parts(type)) {
    visit(type, a ? a->roots : kNoRoots, unique);
    return;
  }
  const std::vector<TypePtr> parts = parts_of(type);
  for (size_t i = 0; i < parts.size(); i++) for_each_leaf(parts[i], part(a, i), visit, unique);
}

size_t count_leaves(const TypePtr& type) {
  if (std::holds_alternative<TPrim>(type->node)) return 0;
  if (!has_parts(type)) return 1;
  size_t count = 0;
  for (const TypePtr& p : parts_of(type)) count += count_leaves(p);
  return count;
}

AliasPtr map_leaves(const TypePtr& type, const AliasPtr& a, const LeafMap& map, bool unique) {
  if (std::holds_alternative<TPrim>(type->node)) return nullptr;
  unique = unique || type->unique;
  if (!has_parts(type)) return aliases_of(map(*type, a ? a->roots : kNoRoots, unique));
  Aliases out;
  bool any = false;
  const std::vector<TypePtr> parts = parts_of(type);
  for (size_t i = 0; i < parts.size(); i++) {
    out.parts.push_back(map_leaves(parts[i], part(a, i), map, unique));
    any = any || out.parts.back();
  }
  return any ? std::make_shared<const Aliases>(std::move(out)) : nullptr;
}

TypePtr with_unique_leaves(const TypePtr& type, const AliasPtr& a,
                           const std::function<bool(const Roots&)>& is_unique) {
  if (std::holds_alternative<TPrim>(type->node) || std::holds_alternative<TArrow>(type->node)) {
    return type;
  }
  core::Type copy = *type;
  copy.unique = !has_parts(type) && is_unique(a ? a->roots : kNoRoots);
  size_t at = 0;
  if (auto* r = std::get_if<TRecord>(&copy.node)) {
    for (auto& f : r->fields) f.second = with_unique_leaves(f.second, part(a, at++), is_unique);
  } else if (auto* s = std::get_if<TSum>(&copy.node)) {
    for (auto& c : s->constructors) {
      for (TypePtr& p : c.second) p = with_unique_leaves(p, part(a, at++), is_unique);
    }
  }
  return std::make_shared<const core::Type>(std::move(copy));
}

}  // namespace kenaz::consumption
