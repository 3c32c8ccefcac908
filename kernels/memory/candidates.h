// Arrays that may be made in the memory of others, and code that may move ahead of them.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/lifetimes.h"
#include "kernels/ir/ir.h"

namespace kenaz::memory {

/// What is known of a body while places are looked for. Void once the body has changed.
class Candidates {
 public:
  Candidates(const ir::Program& p, const ir::Aliases& aliases, const ir::Body& b);

  /// The statement of the body that binds the variable; none: it is from outside.
  std::optional<size_t> definition(ir::VarId v) const;
  /// The statement that makes the array, if it may be made where statement `n` puts it: it has no
  /// place, and nobody uses it after `n`.
  std::optional<size_t> maker(ir::VarId v, size_t n) const;
  /// Whether a statement of those from `first` to `end` uses the array's memory.
  bool uses_memory(ir::VarId array, size_t first, size_t end) const;
  /// The number of the last statement that uses memory of the class.
  const std::unordered_map<uint32_t, size_t>& last_uses() const { return last_uses_; }

  /// Whether the scalar can be had before statement `first`: with what of the statements from there
  /// on is scalar code alone, which `raised` gains.
  bool raise(const ir::Atom& a, size_t first, std::set<size_t>& raised) const;
  /// The same, of a statement.
  bool raise(size_t stm, size_t first, std::set<size_t>& raised) const;

 private:
  const ir::Program& p_;
  const ir::Aliases& aliases_;
  const ir::Body& b_;
  std::unordered_map<ir::VarId, std::pair<size_t, size_t>> definitions_;  // statement, which of it
  std::unordered_map<uint32_t, size_t> last_uses_;
};

}  // namespace kenaz::memory
