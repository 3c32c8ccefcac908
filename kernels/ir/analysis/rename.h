// Replacing variables, and copying code under new names (every variable is bound only once).
#pragma once

#include <unordered_map>

#include "kernels/ir/ir.h"

namespace kenaz::ir {

using Subst = std::unordered_map<VarId, Atom>;

/// Replaces the uses of the substitution's variables, also in the types of the variables bound
/// inside. Where only a variable may stand, a constant replacement is ignored. One step: what is
/// put in is not looked up again.
void substitute(Program& p, Body& b, const Subst& s);
void substitute(Program& p, Stm& stm, const Subst& s);
void substitute(Program& p, Lambda& l, const Subst& s);
void substitute(Type& t, const Subst& s);
void substitute(Atom& a, const Subst& s);

/// A copy in which everything bound inside has a new name, after applying `s` to what is free.
Body copy_renamed(Program& p, const Body& b, Subst s = {});
Lambda copy_renamed(Program& p, const Lambda& l, Subst s = {});
/// As above; `s` gains the new names of what the statement binds.
Stm copy_renamed(Program& p, const Stm& stm, Subst* s);

/// New variables like those of a pattern, for a statement that binds the same in another place:
/// where the types mention variables of the pattern, they mention the new ones.
std::vector<VarId> copy_pattern(Program& p, const std::vector<VarId>& pat);

}  // namespace kenaz::ir
