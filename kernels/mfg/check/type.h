// Types of MFG: numbers, and flat tuples of them. Truth is an integer that is not 0.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/prim_type.h"

namespace kenaz::mfg {

struct Type {
  std::vector<PrimType> elems;  // one, unless `tuple`
  bool tuple = false;

  static Type scalar(PrimType t) { return {{t}, false}; }
  static Type vector(PrimType t, int n) { return {std::vector(static_cast<size_t>(n), t), true}; }
  size_t size() const { return elems.size(); }
  PrimType prim() const { return elems[0]; }
  /// Whether all elements are of one type, which `prim` gives.
  bool uniform() const;
  bool all_integers() const;
  bool is_scalar(PrimType t) const { return !tuple && elems[0] == t; }
  /// "i32", "f32v3", "[i32, f32]".
  std::string str() const;
  friend bool operator==(const Type&, const Type&) = default;
};

/// The type named "f32" or "u8v4"; nothing if there is none of that name in MFG.
std::optional<Type> type_from_name(std::string_view name);
bool is_mfg_prim(PrimType t);

/// The type in which two numbers meet: floats before integers, wider ones before others; signed and
/// unsigned only where the signed one is wider. Otherwise none.
std::optional<PrimType> promote(PrimType a, PrimType b);

}  // namespace kenaz::mfg
