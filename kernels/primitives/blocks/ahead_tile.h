// The elements of a workgroup that is one subgroup, on targets that read ahead
// (program::Target::reads_ahead): all its threads load all words of a tile, from the same
// addresses, and each keeps its own. The driver makes vector loads of that. Each stores its own
// words: a driver that stores thread by thread has the fewest stores so.
#pragma once

#include <vector>

#include "kernels/kir/builder.h"

namespace kenaz::primitives::blocks {

/// A thread has units of `each` neighbours, which are whole 64-bit words of every array.
struct AheadTile {
  enum class Order : uint8_t {
    kRows,  // the n-th units of all threads are neighbours
    kRuns,  // all units of a thread are
  };
  int lanes = 1, each = 1, units = 0;
  Order order = Order::kRows;

  /// Sets how many elements a thread has, of arrays of these types and so many statements for each
  /// element: 0 units if those are too many.
  void fit(const std::vector<PrimType>& types, int statements);

  int per_thread() const { return each * units; }
  int64_t size() const { return int64_t{lanes} * per_thread(); }

  /// What this thread has of an array in the tile of this number (i64), in order. At the start of
  /// main; `base` is a multiple of 8.
  kir::Values load(kir::Builder& k, PrimType type, const kir::Value& base,
                   const kir::Value& tile) const;
  /// The place in the array of the thread's n-th element; i64.
  kir::Value place(kir::Builder& k, const kir::Value& tile, int n) const;
  /// Stores the thread's elements from the n-th on; whole units.
  void store(kir::Builder& k, const kir::Value& base, const kir::Value& tile, int n,
             const kir::Values& elements) const;

 private:
  int words(PrimType type) const { return each * prim_size(type) / 8; }  // of a unit
  int64_t unit(int lane, int n) const;
  kir::Value own_unit(kir::Builder& k, const kir::Value& tile, int n) const;
};

}  // namespace kenaz::primitives::blocks
