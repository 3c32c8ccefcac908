// Indices with a type, so that the ids of different things cannot be mixed up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace kenaz {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xffffffffu;
  uint32_t index = kNone;
  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace kenaz

template <class Tag>
struct std::hash<kenaz::Id<Tag>> {
  size_t operator()(kenaz::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index); }
};
