// Which blocks an address may point into.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// Follows addresses from the kernel's arguments through arithmetic, vectors, variables, subgroup
/// operations and calls. Sums and the like of a known address and something that was loaded count
/// as the address and an offset; a loaded value alone may be the address of any block.
class Origins {
 public:
  /// Only of what main and the functions that it reaches define.
  explicit Origins(const Kernel& kernel);

  /// The numbers, in Kernel::args, of the blocks that an access with this base may go to; all
  /// blocks if that is not known.
  std::vector<size_t> blocks_of(const Value& base) const;
  bool is_reached(FunctionId f) const { return reached_[f.index]; }

 private:
  struct Origin {
    std::set<size_t> args;
    bool loaded = false;
    /// Whether anything is new.
    bool add(const Origin& other);
  };

  void find_reached();
  /// Whether a variable, parameter or result of a call has got something new.
  bool pass(const Block& block);
  bool step(const Inst& inst);
  Origin of(const Value& v) const;
  Origin of_prim(const IPrim& inst) const;

  const Kernel& kernel_;
  std::vector<bool> reached_;  // by FunctionId
  std::vector<Origin> vals_, vars_;
};

}  // namespace kenaz::kir
