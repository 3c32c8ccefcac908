// Which integers a driver's compiler cannot tell.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::glsl {

/// An integer is *untold* if no compiler can tell its lowest bit, also when it unrolls loops and
/// takes what was stored for what is loaded. Its *sources* are arguments and the blocks that were
/// loaded from, as bits of a word. They decide whether a sum stays untold: `(n + i) - n` is the
/// loop's counter, which is 0 in the first turn.
class Untold {
 public:
  explicit Untold(const kir::Kernel& kernel);

  /// Not all that no compiler can tell.
  bool is_untold(const kir::Value& v) const { return !v.is_const() && of(v).untold; }

 private:
  static constexpr uint64_t kAny = ~uint64_t{0};
  /// `mixed`: any of its bits may be anything. Of values that nothing is known about, `sources` are
  /// all that there are.
  struct Known {
    uint64_t sources = kAny;
    bool untold = false, mixed = false;
  };
  static constexpr Known kConstant{0, false, false};

  const Known& of(const kir::Value& v) const {
    return v.is_const() ? kConstant : known_[v.id().index];
  }
  /// `blocks`: for each load, in the order of the kernel, the sources that it takes from.
  void look_at(const kir::Block& block, const std::vector<uint64_t>& blocks, size_t& load);
  Known of_prim(const kir::IPrim& i) const;

  std::vector<Known> known_;  // by ValId
};

}  // namespace kenaz::glsl
