// What the variables of the IR stand for, while a thread's code is translated.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "kernels/body/arguments.h"
#include "kernels/ir/ir.h"

namespace kenaz::body {

class Env {
 public:
  Env(Host& host, Arguments& args) : host_(host), args_(args) {}

  void bind(ir::VarId v, KernelValue value) { values_[v] = std::move(value); }
  /// Binds a parameter: of a lambda, a loop or a function.
  void bind_param(ir::VarId v, KernelValue value);
  /// Notes that `s` binds its pattern, before it is translated; it must outlive this.
  void define(const ir::Stm& s);
  /// What was hoisted for it is no longer so.
  void forget(ir::VarId v) { hoisted_.erase(v); }

  /// What is bound at host level becomes an argument.
  KernelValue value(const ir::Atom& a);
  kir::Value scalar(const ir::Atom& a);
  KernelArray array(ir::VarId v);
  kir::Values scalars(const std::vector<ir::Atom>& atoms);

  /// A size that is the same for all threads: bound outside of the kernel, or computed from such
  /// (then the host computes it, too). Null if it is not.
  std::optional<Operand> on_host(const ir::Atom& a);
  /// Notes what a parameter is on the host; null: nothing there.
  void set_on_host(ir::VarId v, const std::optional<Operand>& o);

 private:
  std::optional<Operand> compute_on_host(const ir::Stm& s);

  Host& host_;
  Arguments& args_;
  std::unordered_map<ir::VarId, KernelValue> values_;
  std::unordered_map<ir::VarId, const ir::Stm*> statements_;  // that bind them
  std::unordered_map<ir::VarId, Operand> hoisted_;
  std::set<ir::VarId> bound_here_;
};

}  // namespace kenaz::body
