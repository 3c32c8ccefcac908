#include "kernels/ir/analysis/uses.h"

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

// Params whose array the body may consume, directly or through a name it gives it. Views inside
// the body are followed; what an inner body returns is taken to alias everything it was given.
VarSet consumed_params(const Program& p, const ELoop& l) {
  VarSet consumed;
  add_consumed_inside(p, l.body, consumed);
  // Backwards through views: whoever names a consumed array is consumed too.
  for (auto it = l.body.stms.rbegin(); it != l.body.stms.rend(); ++it) {
    bool hit = false;
    for (VarId v : it->pat) hit = hit || consumed.contains(v);
    if (!hit) continue;
    if (const auto* a = std::get_if<EAtom>(&it->exp)) {
      if (!a->atom.is_const()) consumed.insert(a->atom.var());
    } else if (const auto* i = std::get_if<EIndex>(&it->exp)) {
      consumed.insert(i->array);
    } else if (const auto* r = std::get_if<ERearrange>(&it->exp)) {
      consumed.insert(r->array);
    } else if (const auto* s = std::get_if<EReshape>(&it->exp)) {
      consumed.insert(s->array);
    } else if (const auto* c = std::get_if<EIf>(&it->exp)) {
      for (const Body* b : {&c->then_body, &c->else_body}) {
        for (size_t k = 0; k < it->pat.size() && k < b->results.size(); ++k) {
          if (consumed.contains(it->pat[k]) && !b->results[k].is_const()) {
            consumed.insert(b->results[k].var());
          }
        }
      }
    } else if (const auto* inner = std::get_if<ELoop>(&it->exp)) {
      for (const auto& param : inner->params) {
        if (!param.init.is_const()) consumed.insert(param.init.var());
      }
    }
  }
  return consumed;
}

}  // namespace

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
