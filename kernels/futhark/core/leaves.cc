#include "kernels/futhark/core/leaves.h"

#include <algorithm>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::core {

namespace {

void add_leaves(const TypePtr& t, int rank, const std::vector<AbstractType>& abstract_types,
                std::vector<LeafType>& out) {
  std::visit(
      Overloaded{[&](const TPrim& p) {
                   out.push_back({p.prim, rank});
                 },
                 [&](const TArray& a) { add_leaves(a.elem, rank + 1, abstract_types, out); },
                 [&](const TRecord& r) {
                   if (r.fields.empty()) add_sizes(rank, out);
                   for (const auto& f : r.fields) add_leaves(f.second, rank, abstract_types, out);
                 },
                 [&](const TSum& s) { add_leaves(sum_layout(s, abstract_types), rank, out); },
                 [&](const TAbstract& a) {
                   add_leaves(expand_abstract(a, abstract_types), rank, abstract_types, out);
                 },
                 [](const auto&) {}},
      t->node);
}

}  // namespace

void add_sizes(int rank, std::vector<LeafType>& out) {
  for (int d = 0; d < rank; d++) out.push_back({PrimType::kI64, 0, d});
}

void add_leaves(const SumLayout& sum, int rank, std::vector<LeafType>& out) {
  if (!sum.tag && sum.slots.empty()) add_sizes(rank, out);
  if (sum.tag) out.push_back({PrimType::kI8, rank});
  for (const LeafType& slot : sum.slots) out.push_back({slot.prim, slot.rank + rank});
}

std::vector<LeafType> leaves_of(const TypePtr& t, const std::vector<AbstractType>& abstract_types) {
  std::vector<LeafType> out;
  add_leaves(t, 0, abstract_types, out);
  return out;
}

SumLayout sum_layout(const TSum& sum, const std::vector<AbstractType>& abstract_types) {
  PayloadLeaves leaves;
  for (const auto& constructor : sum.constructors) {
    leaves.emplace_back();
    for (const auto& type : constructor.second) {
      leaves.back().push_back(leaves_of(type, abstract_types));
    }
  }
  return sum_layout(leaves);
}

SumLayout sum_layout(const PayloadLeaves& constructors) {
  SumLayout out;
  out.tag = constructors.size() != 1;
  struct Component {
    std::vector<LeafType> leaves;
    int first;
  };
  std::vector<Component> components;
  for (const auto& constructor : constructors) {
    std::vector<std::vector<int>> payload;
    std::vector<Component> available = components;
    for (const auto& leaves : constructor) {
      const bool scalars = std::all_of(leaves.begin(), leaves.end(),
                                       [](const LeafType& l) { return l.rank == 0 && l.dim < 0; });
      auto it = std::find_if(available.begin(), available.end(),
                             [&](const Component& c) { return c.leaves == leaves; });
      int first = static_cast<int>(out.slots.size());
      if (scalars && it != available.end()) {
        first = it->first;
        available.erase(it);
      } else {
        components.push_back({leaves, first});
        for (const LeafType& l : leaves) out.slots.push_back({l.prim, l.rank});
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
