// Where results are wanted: memory that a variable's array shall be made in.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "kernels/body/values.h"
#include "kernels/ir/ir.h"

namespace kenaz::body {

/// The variable whose memory a body's result has: the result itself, or what it is after updates in
/// place.
ir::VarId source_of_result(const ir::Program& program, const ir::Body& b, size_t result);

/// The loop, by its result, that works in place on the memory which this result of the body is
/// wanted in; the last one if several do.
std::optional<ir::VarId> loop_in_place(const ir::Program& program, const ir::Body& b,
                                       size_t result);

class Dests {
 public:
  void set(ir::VarId v, const KernelArray& dest) { dests_[v] = dest; }
  std::optional<KernelArray> of(ir::VarId v) const;
  void forget(ir::VarId v) { dests_.erase(v); }
  /// The memory `dest` is meant for `v`, a result of `b`. If the statement that makes v can make
  /// it there, it shall; so shall those whose arrays it updates in place, but no loop for which
  /// `has_own_memory` holds.
  using HasOwnMemory = std::function<bool(ir::VarId)>;
  void spread(const ir::Program& program, const ir::Body& b, ir::VarId v, const KernelArray& dest,
              const HasOwnMemory& has_own_memory);

 private:
  std::unordered_map<ir::VarId, KernelArray> dests_;
};

}  // namespace kenaz::body
