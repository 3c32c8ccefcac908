#include "server/session/leaf_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace kenaz {
namespace {

using Counts = std::vector<int>;

/// Of the types one after the other.
Counts of_all(const TypeTable& types, std::span<const std::string> names) {
  Counts all;
  for (const auto& name : names) {
    const auto it = types.find(name);
    if (it == types.end()) return {};
    const Counts part = constructor_counts(types, it->second);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// The constructor's number, if it has one, and what the payloads agree on.
Counts of_sum(const TypeTable& types, const ValueType& sum) {
  constexpr int kUnused = -1;
  Counts counts(sum.leaves.size(), kUnused);
  if (sum.variants.size() > 1 && !counts.empty()) {
    counts[0] = static_cast<int>(sum.variants.size());
  }
  for (const auto& variant : sum.variants) {
    for (size_t i = 0; i < variant.payload.size(); ++i) {
      const Counts part = of_all(types, std::span(variant.payload).subspan(i, 1));
      const auto& places = variant.payload_leaves.at(i);
      for (size_t k = 0; k < places.size(); ++k) {
        int& known = counts.at(static_cast<size_t>(places[k]));
        const int here = k < part.size() ? part[k] : 0;
        known = known == kUnused ? here : known == 0 || here == 0 ? 0 : std::max(known, here);
      }
    }
  }
  std::replace(counts.begin(), counts.end(), kUnused, 0);
  return counts;
}

}  // namespace

std::vector<int> constructor_counts(const TypeTable& types, const ValueType& type) {
  Counts counts;
  if (type.kind == TypeKind::kSum) {
    counts = of_sum(types, type);
  } else if (!type.fields.empty()) {
    std::vector<std::string> names;
    for (const auto& field : type.fields) names.push_back(field.type);
    counts = of_all(types, names);
  } else if (type.kind == TypeKind::kArray) {
    counts = of_all(types, std::span(&type.elemtype, 1));
  }
  if (counts.size() != type.leaves.size()) counts.assign(type.leaves.size(), 0);
  return counts;
}

std::optional<std::string> wrong_element(PrimType prim, int constructors,
                                         std::span<const std::byte> bytes, const std::string& of) {
  const bool is_bool = prim == PrimType::kBool;
  if (!is_bool && (constructors == 0 || prim != PrimType::kI8)) return std::nullopt;
  const int most = is_bool ? 1 : constructors - 1;
  const auto bad = std::find_if(bytes.begin(), bytes.end(),
                                [&](std::byte b) { return std::to_integer<int>(b) > most; });
  if (bad == bytes.end()) return std::nullopt;
  if (is_bool) {
    return fmt::format("bool in {} is {}, which is neither 0 nor 1", of,
                       std::to_integer<int>(*bad));
  }
  return fmt::format("constructor number in {} is {}, but the type has {} constructors", of,
                     std::to_integer<int8_t>(*bad), constructors);
}

}  // namespace kenaz
