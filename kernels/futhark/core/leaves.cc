#include "kernels/futhark/core/leaves.h"

#include <algorithm>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

namespace {

void add_leaves(const TypePtr& t, int rank, const std::vector<AbstractType>& abstract_types,
                std::vector<LeafType>& out) {
  std::visit(Overloaded{[&](const TPrim& p) {
                          out.push_back({p.prim, rank});
                        },
                        [&](const TArray& a) {
                          const size_t before = out.size();
                          add_leaves(a.elem, rank + 1, abstract_types, out);
                          // An array of nothing is its size.
                          if (out.size() == before) out.push_back({PrimType::kI64, 0});
                        },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields)
                            add_leaves(f.second, rank, abstract_types, out);
                        },
                        [&](const TSum& s) {
                          const SumLayout layout = sum_layout(s, abstract_types);
                          if (layout.tag) out.push_back({PrimType::kI8, rank});
                          for (const LeafType& slot : layout.slots) {
                            out.push_back({slot.prim, slot.rank + rank});
                          }
                        },
                        [&](const TAbstract& a) {
                          add_leaves(expand_abstract(a, abstract_types), rank, abstract_types, out);
                        },
                        [](const auto&) {}},
             t->node);
}

}  // namespace

std::vector<LeafType> leaves_of(const TypePtr& t, const std::vector<AbstractType>& abstract_types) {
  std::vector<LeafType> out;
  add_leaves(t, 0, abstract_types, out);
  return out;
}

SumLayout sum_layout(const TSum& sum, const std::vector<AbstractType>& abstract_types) {
  SumLayout out;
  out.tag = sum.constructors.size() != 1;
  struct Component {
    std::vector<LeafType> leaves;
    int first;
  };
  std::vector<Component> components;
  for (const auto& constructor : sum.constructors) {
    std::vector<std::vector<int>> payload;
    std::vector<Component> available = components;
    for (const auto& type : constructor.second) {
      std::vector<LeafType> leaves = leaves_of(type, abstract_types);
      const bool scalars =
          std::all_of(leaves.begin(), leaves.end(), [](const LeafType& l) { return l.rank == 0; });
      auto it = std::find_if(available.begin(), available.end(),
                             [&](const Component& c) { return c.leaves == leaves; });
      int first = static_cast<int>(out.slots.size());
      if (scalars && it != available.end()) {
        first = it->first;
        available.erase(it);
      } else {
        components.push_back({leaves, first});
        out.slots.insert(out.slots.end(), leaves.begin(), leaves.end());
      }
      std::vector<int> slots(leaves.size());
      for (size_t i = 0; i < leaves.size(); i++) slots[i] = first + static_cast<int>(i);
      payload.push_back(std::move(slots));
    }
    out.payload.push_back(std::move(payload));
  }
  return out;
}

}  // namespace kenaz::core
