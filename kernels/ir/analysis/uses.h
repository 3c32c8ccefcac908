// What a piece of array IR uses and binds. The dims of the types of the variables it binds count
// as uses, and so do their places and certificates.
#pragma once

#include <unordered_set>
#include <vector>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

using VarSet = std::unordered_set<VarId>;

/// Calls f(VarId) for every use anywhere inside (with repetition), also of what is bound inside.
template <class F>
void for_each_use(const Program& p, const Body& b, F&& f);
template <class F>
void for_each_use(const Program& p, const Stm& s, F&& f);
/// Calls f(VarId) for every variable bound anywhere inside.
template <class F>
void for_each_bound(const Body& b, F&& f);
template <class F>
void for_each_bound(const Stm& s, F&& f);

/// Goes back over statements, a body's or a part of one: calls f for each that binds one of
/// `needed`, which then has what that statement uses as well.
template <class Stms, class F>
void for_each_needed(const Program& p, Stms& stms, VarSet& needed, F&& f);

/// What the statement at `at` needs of those before it, in order.
std::vector<const Stm*> needed_before(const Program& p, const std::vector<Stm>& stms, size_t at);
/// Takes away the statements that the results do not need. Calls f(Stm&, needed) for each that
/// stays, the last first, before what it uses itself is among the needed.
template <class F>
void keep_needed(const Program& p, Body& b, F&& f);

/// Used inside but bound outside.
VarSet free_vars(const Program& p, const Body& b);
VarSet free_vars(const Program& p, const Stm& s);
VarSet free_vars(const Program& p, const Lambda& l);

/// How often each variable (by index) is used in the whole program, types and results included.
std::vector<int> count_uses(const Program& p);

/// The arrays that a statement consumes directly (not those that it consumes within its bodies and
/// which are bound there; a loop consumes the inits of the params that its body consumes).
std::vector<VarId> consumed_by(const Program& p, const Stm& s);

/// The params of a loop whose array its body may consume, directly or by another name.
VarSet consumed_params(const Program& p, const ELoop& l);

}  // namespace kenaz::ir

#include "kernels/ir/analysis/uses_inl.h"
