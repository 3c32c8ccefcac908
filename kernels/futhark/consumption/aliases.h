// Which values may share memory: sets of roots, one for each part of a value.
//
// A root stands for memory that something brought into being: a parameter, a fresh array with a
// name, the result of a call. Values whose sets have a root in common may share memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/futhark/core/type.h"

namespace kenaz::consumption {

using core::TypePtr;

using RootId = uint32_t;
using Roots = std::vector<RootId>;  // sorted, each one once

Roots merge(const Roots& a, const Roots& b);
bool contains(const Roots& roots, RootId root);
/// A root that both have, or null.
const RootId* common(const Roots& a, const Roots& b);

struct Aliases;
/// Null for a value that shares memory with nothing, such as a number.
using AliasPtr = std::shared_ptr<const Aliases>;

/// `parts` are those of a record (in type order) or of a sum (the payloads, in type order); empty
/// if nothing is known of them apart. `roots` are those of every part.
struct Aliases {
  Roots roots;
  std::vector<AliasPtr> parts;
};

/// Null without roots.
AliasPtr aliases_of(Roots roots);
AliasPtr join(const AliasPtr& a, const AliasPtr& b);
AliasPtr part(const AliasPtr& a, size_t index);
/// The roots of all parts.
Roots all_roots(const AliasPtr& a);

/// Where field `name` is among the parts of a record, or the first payload of constructor `name`
/// among those of a sum. The number of parts if there is none.
size_t part_index(const TypePtr& type, const std::string& name);

/// A leaf is a part of a type that has memory or a closure, and no further parts: an array, a
/// function, a type parameter, an abstract type. `unique`: its type says so, or that of something
/// around it.
using LeafVisitor = std::function<void(const TypePtr& leaf, const Roots& roots, bool unique)>;
void for_each_leaf(const TypePtr& type, const AliasPtr& a, const LeafVisitor& visit,
                   bool unique = false);
size_t count_leaves(const TypePtr& type);

/// The aliases of a value of type `type` whose leaves have the roots that `map` makes of those in
/// `a`.
using LeafMap = std::function<Roots(const core::Type& leaf, const Roots& roots, bool unique)>;
AliasPtr map_leaves(const TypePtr& type, const AliasPtr& a, const LeafMap& map,
                    bool unique = false);

/// `type` with each leaf that is no function unique if `is_unique` says so of its roots.
TypePtr with_unique_leaves(const TypePtr& type, const AliasPtr& a,
                           const std::function<bool(const Roots&)>& is_unique);

}  // namespace kenaz::consumption
