#include "kernels/futhark/core/leaves.h"

#include <algorithm>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

std::vector<LeafType> leaves_of(const TypePtr& t, const std::vector<AbstractType>& abstract_types) {
  std::vector<LeafType> out;
  auto append = [&](const TypePtr& x, int rank) {
    for (LeafType l : leaves_of(x, abstract_types)) {
      l.rank += rank;
      out.push_back(l);
    }
  };
  std::visit(Overloaded{[&](const TPrim& p) {
                          out.push_back({p.prim, 0});
                        },
                        [&](const TArray& a) { append(a.elem, 1); },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields) append(f.second, 0);
                        },
                        [&](const TSum& s) {
                          SumLayout layout = sum_layout(s, abstract_types);
                          if (layout.tag) out.push_back({PrimType::kI8, 0});
                          out.insert(out.end(), layout.slots.begin(), layout.slots.end());
                        },
                        [&](const TAbstract& a) { append(expand_abstract(a, abstract_types), 0); },
                        [](const auto&) {}},
             t->node);
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
