#include "kernels/ir/analysis/uses.h"

#include <algorithm>
#include <span>

namespace kenaz::ir {
namespace {

// Unique binding makes this a difference of sets: no scopes needed.
template <class T>
VarSet free_of(const Program& p, const T& part) {
  VarSet uses;
  for_each_use(p, part, [&](VarId v) { uses.insert(v); });
  for_each_bound(part, [&](VarId v) { uses.erase(v); });
  return uses;
}

void add_consumed_inside(const Program& p, const Body& b, VarSet& out) {
  for (const Stm& s : b.stms) {
    for (VarId v : consumed_by(p, s)) out.insert(v);
    if (!std::holds_alternative<ELoop>(s.exp)) {  // consumed_by has looked into loops
      visit_bodies(s.exp, [&](const Body& inner) { add_consumed_inside(p, inner, out); });
    }
  }
}

void add_if_var(const Atom& a, VarSet& out) {
  if (!a.is_const()) out.insert(a.var());
}

// Backwards through names and views: whoever aliases a consumed array is consumed too.
void spread_backwards(const Body& b, VarSet& consumed) {
  for (auto it = b.stms.rbegin(); it != b.stms.rend(); ++it) {
    const auto hit = [&](size_t k) { return consumed.contains(it->pat[k]); };
    bool has_branches = false;
    visit_branches(it->exp, [&](const Body& inner) {
      has_branches = true;
      for (size_t k = 0; k < it->pat.size() && k < inner.results.size(); ++k) {
        if (hit(k)) add_if_var(inner.results[k], consumed);
      }
      spread_backwards(inner, consumed);
    });
    if (has_branches) continue;
    if (const auto* l = std::get_if<ELoop>(&it->exp)) {
      for (size_t k = 0; k < it->pat.size() && k < l->body.results.size(); ++k) {
        if (!hit(k)) continue;
        add_if_var(l->body.results[k], consumed);
        add_if_var(l->params[k].init, consumed);
      }
      spread_backwards(l->body, consumed);
      for (const auto& param : l->params) {
        if (consumed.contains(param.var)) add_if_var(param.init, consumed);
      }
      continue;
    }
    if (it->pat.size() != 1 || !hit(0)) continue;
    if (const auto* a = std::get_if<EAtom>(&it->exp)) add_if_var(a->atom, consumed);
    if (const auto* i = std::get_if<EIndex>(&it->exp)) consumed.insert(i->array);
    if (const auto* r = std::get_if<ERearrange>(&it->exp)) consumed.insert(r->array);
    if (const auto* s = std::get_if<EReshape>(&it->exp)) consumed.insert(s->array);
  }
}

}  // namespace

VarSet consumed_params(const Program& p, const ELoop& l) {
  VarSet consumed;
  add_consumed_inside(p, l.body, consumed);
  spread_backwards(l.body, consumed);
  return consumed;
}

VarSet free_vars(const Program& p, const Body& b) { return free_of(p, b); }
VarSet free_vars(const Program& p, const Stm& s) { return free_of(p, s); }
VarSet free_vars(const Program& p, const Lambda& l) {
  VarSet uses = free_of(p, l.body);
  const auto add = [&](VarId v) { uses.insert(v); };
  for (VarId v : l.params) uses_detail::type_uses(p.type_of(v), add);
  for (const Type& t : l.ret) uses_detail::type_uses(t, add);
  for (VarId v : l.params) uses.erase(v);
  return uses;
}

std::vector<const Stm*> needed_before(const Program& p, const std::vector<Stm>& stms, size_t at) {
  VarSet uses;
  for_each_use(p, stms[at], [&](VarId v) { uses.insert(v); });
  std::vector<const Stm*> all;
  const auto before = std::span(stms).first(at);
  for_each_needed(p, before, uses, [&](const Stm& s) { all.push_back(&s); });
  std::reverse(all.begin(), all.end());
  return all;
}

std::vector<int> count_uses(const Program& p) {
  std::vector<int> counts(p.vars.size(), 0);
  const auto use = [&](VarId v) { ++counts[v.index]; };
  for_each_use(p, p.constants, use);
  for (const Function& f : p.functions) {
    for_each_use(p, f.body, use);
    for (VarId v : f.params) uses_detail::type_uses(p.type_of(v), use);
    for (const Type& t : f.ret) uses_detail::type_uses(t, use);
  }
  return counts;
}

std::vector<VarId> consumed_by(const Program& p, const Stm& s) {
  std::vector<VarId> out;
  if (const auto* u = std::get_if<EUpdate>(&s.exp)) {
    out.push_back(u->array);
  } else if (const auto* c = std::get_if<EScatter>(&s.exp)) {
    for (const auto& d : c->dests) out.push_back(d.array);
  } else if (const auto* h = std::get_if<EHist>(&s.exp)) {
    for (const auto& op : h->ops) out.insert(out.end(), op.dests.begin(), op.dests.end());
  } else if (const auto* seg = std::get_if<ESeg>(&s.exp)) {
    for (const auto& w : seg->writes) out.insert(out.end(), w.dests.begin(), w.dests.end());
  } else if (const auto* call = std::get_if<ECall>(&s.exp)) {
    const auto& consumed = p.functions[call->fun.index].consumed;
    for (size_t i = 0; i < call->args.size() && i < consumed.size(); ++i) {
      if (consumed[i] && !call->args[i].is_const()) out.push_back(call->args[i].var());
    }
  } else if (const auto* l = std::get_if<ELoop>(&s.exp)) {
    const VarSet inside = consumed_params(p, *l);
    for (const auto& param : l->params) {
      if (inside.contains(param.var) && !param.init.is_const() &&
          !p.type_of(param.var).is_scalar()) {
        out.push_back(param.init.var());
      }
    }
  }
  return out;
}

}  // namespace kenaz::ir
