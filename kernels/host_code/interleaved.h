// Maps whose threads work on rows of the results in loops, or make short ones element by element.
// Each thread's row lies by itself, so in each turn neighbouring threads access places far from
// each other, a sector of memory for each.
// Where there are many threads, and the rows are long, these are made in an array in which the
// elements of all threads lie side by side, and a transposing copy puts them where they belong.
#pragma once

#include <functional>
#include <vector>

#include "kernels/host_code/host_arrays.h"
#include "kernels/host_code/seg_element.h"

namespace kenaz::host_code {

/// Rows that a thread stores one element after the other, each into a sector of its own: from a
/// whole sector on, in as many steps as make that worth a copy.
bool is_short_row(const ir::Program& p, const ir::Atom& row);
/// Whether threads store the rows of a map's n-th result one element after the other, so that
/// neighbours had better lie side by side.
bool stores_by_elements(HostArrays& host, const ir::ESeg& e, size_t n);

class Interleaved {
 public:
  /// Of a map whose results go to `parts`.
  Interleaved(HostArrays& host, const ir::ESeg& e, const SegParts& parts);

  bool any() const { return !rows_.empty(); }
  /// For which sizes it is: a bool.
  Operand worthwhile() const;
  /// `map` makes the results in the parts that it is given.
  void launch(const std::function<void(const SegParts&)>& map) const;

 private:
  Operand length(size_t row) const;

  HostArrays& host_;
  const SegParts& parts_;
  Operand points_ = PrimValue::i64(0);
  size_t outer_;              // dims of the space
  std::vector<size_t> rows_;  // which of the stored arrays
  bool has_short_ = false;    // some of them are stored without a loop that works on them
};

}  // namespace kenaz::host_code
