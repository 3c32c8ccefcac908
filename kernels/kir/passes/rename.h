// Copies of instructions with names of their own.
#pragma once

#include <functional>
#include <unordered_map>

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// The names of one copy. Instructions are copied in their order; what they define gets fresh
/// names, and operands that were defined so before are replaced. All other names stay.
class Renaming {
 public:
  explicit Renaming(Kernel& kernel) : kernel_(kernel) {}

  /// From now on, `by` stands in the place of `v`.
  void replace(ValId v, const Value& by) { vals_.insert_or_assign(v.index, by); }
  void rename(Value& v) const;
  void rename(Inst& i);
  /// `inside` renames the blocks in it.
  void rename(Inst& i, const std::function<void(Block&)>& inside);
  void rename(Block& b);
  Inst copy(Inst i) {
    rename(i);
    return i;
  }

 private:
  void bind(ValId& v);

  Kernel& kernel_;
  std::unordered_map<uint32_t, Value> vals_;
  std::unordered_map<uint32_t, VarId> vars_;
};

}  // namespace kenaz::kir
