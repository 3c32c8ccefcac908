// Between which numbers integers lie.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Both ends included.
struct Interval {
  int64_t low = 0, high = 0;
  bool is_in(int64_t from, int64_t to) const { return from <= low && high <= to; }
};

/// Intervals of the integers that are not wider than 32 bits. What nothing is known of lies between
/// the ends of its type.
class Intervals {
 public:
  /// Draws conclusions from a statement. They come in order.
  void define(const Program& p, const Stm& s);
  /// nullopt if it has another type.
  std::optional<Interval> of(const Program& p, const Atom& a) const;
  /// The operation's exact result, if it certainly does not wrap, and is one that this knows.
  std::optional<Interval> exact(const Program& p, const EPrim& e) const;

 private:
  std::unordered_map<VarId, Interval> known_;
};

}  // namespace kenaz::ir
