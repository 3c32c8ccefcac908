// Common subexpressions: statements in scope that compute the same.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// Only scalar operations, accesses, views and checks: arrays that are made may be consumed, so
/// two of them are never the same. What was seen in a body is forgotten at its end.
class CommonExpressions {
 public:
  /// What an equal statement binds; otherwise remembers this one.
  std::optional<ir::VarId> find_or_add(const ir::Program& p, const ir::Stm& s);
  size_t mark() const { return order_.size(); }
  void back_to(size_t mark);

 private:
  using Key = std::vector<uint64_t>;
  struct Hash {
    size_t operator()(const Key& k) const noexcept;
  };
  std::unordered_map<Key, ir::VarId, Hash> seen_;
  std::vector<Key> order_;
};

}  // namespace kenaz::passes
