// Which values depend on the variables that are differentiated by.
#pragma once

#include <algorithm>
#include <unordered_set>

#include "kernels/ir/ir.h"

namespace kenaz::ad {

/// The set of varied variables: those whose derivative is not zero for certain. Grows only.
class Activity {
 public:
  void add(ir::VarId v) { varied_.insert(v); }
  bool has(ir::VarId v) const { return varied_.contains(v); }
  bool has(const ir::Atom& a) const { return !a.is_const() && has(a.var()); }
  bool has_result(const ir::Body& b) const {
    return std::any_of(b.results.begin(), b.results.end(),
                       [&](const ir::Atom& a) { return has(a); });
  }
  /// Adds what the body binds and what varies with the variables in the set.
  void mark(const ir::Body& b);

 private:
  void mark(const ir::Stm& s);
  void mark_soac(const ir::Stm& s, const ir::ESoac& e);
  void mark_loop(const ir::Stm& s, const ir::ELoop& e);
  /// Whether the operator's result may vary: its operands do, or a variable that it uses.
  bool monoid(const ir::Monoid& m, bool operands);

  std::unordered_set<ir::VarId> varied_;
};

}  // namespace kenaz::ad
