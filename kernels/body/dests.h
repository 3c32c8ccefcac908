// Where results are wanted: memory that a variable's array shall be made in.
#pragma once

#include <optional>
#include <unordered_map>

#include "kernels/body/values.h"
#include "kernels/ir/ir.h"

namespace kenaz::body {

class Dests {
 public:
  void set(ir::VarId v, const KernelArray& dest) { dests_[v] = dest; }
  std::optional<KernelArray> of(ir::VarId v) const;
  void forget(ir::VarId v) { dests_.erase(v); }
  /// The memory `dest` is meant for `v`, a result of `b`. If the statement that makes v can make
  /// it there, it shall; so shall those whose arrays it updates in place.
  void spread(const ir::Program& program, const ir::Body& b, ir::VarId v, const KernelArray& dest);

 private:
  std::unordered_map<ir::VarId, KernelArray> dests_;
};

}  // namespace kenaz::body
