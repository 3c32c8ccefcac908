// Which values differ among the threads of a workgroup.
#pragma once

#include <vector>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// An estimate that tells what pays, not what is right: what comes from the thread's number, from
/// calls, subgroup operations and atomics, or is a parameter of a function, counts as varying; so
/// does what is assigned under a condition that varies.
class Varying {
 public:
  explicit Varying(const Kernel& kernel);

  bool varies(const Value& v) const { return !v.is_const() && vals_[v.id().index]; }
  /// Whether the threads may access different places.
  bool varies(const Address& a) const;

 private:
  void pass(const Block& block, bool condition);
  void step(const Inst& inst, bool condition);
  void mark(std::vector<bool>& all, size_t n, bool varies);

  std::vector<bool> vals_, vars_;  // by ValId and VarId
  bool changed_ = false;
};

}  // namespace kenaz::kir
