#include "kernels/ir/analysis/rename.h"

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::ir {
namespace {

void replace(Atom& a, const Subst& s) {
  if (a.is_const()) return;
  if (const auto it = s.find(a.var()); it != s.end()) a = it->second;
}
void replace(VarId& v, const Subst& s) {
  const auto it = s.find(v);
  if (it != s.end() && !it->second.is_const()) v = it->second.var();
}

// New variables for everything that `part` binds; their types still mention the old ones.
template <class T>
void fresh_names(Program& p, const T& part, Subst& s) {
  for_each_bound(part, [&](VarId v) {
    VarInfo info = p.vars[v.index];
    s[v] = p.new_var(std::move(info.type), std::move(info.name));
  });
}

void rebind(Stm& stm, const Subst& s);
void rebind(Body& b, const Subst& s) {
  for (Stm& stm : b.stms) rebind(stm, s);
}
// Gives the binders their new names; uses are substituted afterwards.
void rebind(Stm& stm, const Subst& s) {
  for (VarId& v : stm.pat) replace(v, s);
  visit_binders(stm.exp, [&](VarId& v) { replace(v, s); });
  visit_bodies(stm.exp, [&](Body& b) { rebind(b, s); });
}

}  // namespace

void substitute(Atom& a, const Subst& s) { replace(a, s); }

void substitute(Type& t, const Subst& s) {
  for (Atom& d : t.dims) replace(d, s);
}

void substitute(Program& p, Stm& stm, const Subst& s) {
  for (VarId v : stm.pat) substitute(p.vars[v.index].type, s);
  for (VarId& v : stm.certs) replace(v, s);
  visit_operands(stm.exp, [&](auto& a) { replace(a, s); });
  visit_types(stm.exp, [&](Type& t) { substitute(t, s); });
  visit_binders(stm.exp, [&](VarId v) { substitute(p.vars[v.index].type, s); });
  if (auto* l = std::get_if<ELoop>(&stm.exp)) {
    if (auto* w = std::get_if<LoopWhile>(&l->form)) replace(w->cond, s);
  }
  visit_bodies(stm.exp, [&](Body& b) { substitute(p, b, s); });
}

void substitute(Program& p, Body& b, const Subst& s) {
  if (s.empty()) return;
  for (Stm& stm : b.stms) substitute(p, stm, s);
  for (Atom& a : b.results) replace(a, s);
}

void substitute(Program& p, Lambda& l, const Subst& s) {
  for (VarId v : l.params) substitute(p.vars[v.index].type, s);
  for (Type& t : l.ret) substitute(t, s);
  substitute(p, l.body, s);
}

Body copy_renamed(Program& p, const Body& b, Subst s) {
  Body out = b;
  fresh_names(p, b, s);
  rebind(out, s);
  substitute(p, out, s);
  return out;
}

Lambda copy_renamed(Program& p, const Lambda& l, Subst s) {
  Lambda out = l;
  for (VarId& v : out.params) {
    VarInfo info = p.vars[v.index];
    const VarId fresh = p.new_var(std::move(info.type), std::move(info.name));
    s[v] = fresh;
    v = fresh;
  }
  fresh_names(p, l.body, s);
  rebind(out.body, s);
  substitute(p, out, s);
  return out;
}

Stm copy_renamed(Program& p, const Stm& stm, Subst* s) {
  Stm out = stm;
  fresh_names(p, stm, *s);
  rebind(out, *s);
  substitute(p, out, *s);
  return out;
}

std::vector<VarId> copy_pattern(Program& p, const std::vector<VarId>& pat) {
  Subst s;
  std::vector<VarId> fresh;
  for (const VarId v : pat) {
    VarInfo info = p.vars[v.index];
    fresh.push_back(p.new_var(std::move(info.type), std::move(info.name)));
    s[v] = fresh.back();
  }
  for (const VarId v : fresh) substitute(p.vars[v.index].type, s);
  return fresh;
}

}  // namespace kenaz::ir
