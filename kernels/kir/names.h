// The names that the text form uses for the kinds of instructions; by enumerator.
#pragma once

#include <iterator>
#include <optional>
#include <string_view>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

inline constexpr std::string_view kBuiltinNames[] = {
    "group", "groups", "local", "group_size", "lane", "subgroup", "subgroups", "subgroup_size"};
inline constexpr std::string_view kAtomicNames[] = {"load", "store", "exchange", "cas", "add",
                                                    "min",  "max",   "and",      "or",  "xor"};
inline constexpr std::string_view kAtomicOrderNames[] = {"relaxed", "acquire", "release",
                                                         "acquire_release"};
inline constexpr std::string_view kSubgroupNames[] = {
    "reduce",    "inclusive", "exclusive", "shuffle", "shuffle_up", "shuffle_down", "shuffle_xor",
    "broadcast", "count",     "rank",      "any",     "all",        "ballot"};
inline constexpr std::string_view kScopeNames[] = {"workgroup", "device"};

static_assert(std::size(kBuiltinNames) == static_cast<size_t>(BuiltinKind::kSubgroupSize) + 1);
static_assert(std::size(kAtomicNames) == static_cast<size_t>(AtomicOp::kXor) + 1);
static_assert(std::size(kAtomicOrderNames) ==
              static_cast<size_t>(AtomicOrder::kAcquireRelease) + 1);
static_assert(std::size(kSubgroupNames) == static_cast<size_t>(SubgroupOp::kBallot) + 1);
static_assert(std::size(kScopeNames) == static_cast<size_t>(Scope::kDevice) + 1);

inline std::string_view name_of(BuiltinKind k) { return kBuiltinNames[static_cast<size_t>(k)]; }
inline std::string_view name_of(AtomicOp o) { return kAtomicNames[static_cast<size_t>(o)]; }
inline std::string_view name_of(AtomicOrder o) { return kAtomicOrderNames[static_cast<size_t>(o)]; }
inline std::string_view name_of(SubgroupOp o) { return kSubgroupNames[static_cast<size_t>(o)]; }
/// As it stands before an operation's name.
inline std::string_view name_of(Form f) {
  constexpr std::string_view kNames[] = {"", "usual ", "is_usual "};
  return kNames[static_cast<size_t>(f)];
}
inline std::string_view name_of(Scope s) { return kScopeNames[static_cast<size_t>(s)]; }

/// The enumerator of that name in one of the tables above, or nullopt.
template <class E, size_t n>
std::optional<E> find_named(const std::string_view (&names)[n], std::string_view name) {
  for (size_t k = 0; k < n; k++) {
    if (names[k] == name) return static_cast<E>(k);
  }
  return std::nullopt;
}

}  // namespace kenaz::kir
