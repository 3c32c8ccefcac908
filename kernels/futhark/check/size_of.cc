// Expressions as sizes: which may stand in types, which can only be compared.
#include <algorithm>

#include "kernels/futhark/check/checker.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// Can this expression stand inside a type? Only what is cheap, total enough and self-contained.
bool Checker::simple_size(const ExpPtr& e, int depth) {
  if (depth > 20) return false;
  TypePtr t = resolve(e->type);
  return std::visit(
      Overloaded{[&](const core::ELit& l) {
                   const auto* p = core::as_prim(t);
                   return p && p->prim == l.value.type;  // no placeholder
                 },
                 [&](const core::EVar& v) {
                   return v.targs.empty() && v.sargs.empty() && core::as_prim(t);
                 },
                 [&](const core::EProject& p) {
                   return core::as_prim(t) && std::holds_alternative<core::EVar>(p.record->node) &&
                          !contains_meta(p.record->type);
                 },
                 [&](const core::EApply& a) {
                   if (!core::as_prim(t)) return false;
                   if (const auto* i = std::get_if<core::EIntrinsic>(&a.fun->node)) {
                     if (i->op >= core::Intrinsic::kMap) return false;
                   } else if (const auto* v = std::get_if<core::EVar>(&a.fun->node)) {
                     if (!v->targs.empty() || !v->sargs.empty()) return false;
                   } else {
                     return false;
                   }
                   return std::all_of(a.args.begin(), a.args.end(),
                                      [&](const ExpPtr& x) { return simple_size(x, depth + 1); });
                 },
                 [](const auto&) { return false; }},
      e->node);
}

bool Checker::contains_meta(const TypePtr& t) {
  std::vector<core::MetaId> metas;
  unsolved_metas(t, metas);
  return !metas.empty();
}

// A copy that needs no finishing: its types are known.
ExpPtr Checker::clean_size(const ExpPtr& e) {
  auto copy = std::make_shared<core::Exp>();
  copy->range = e->range;
  copy->type = core::with_unique(zonk(e->type, Zonk::kKeep), false);
  copy->node = std::visit(Overloaded{[&](const core::EApply& a) -> decltype(core::Exp::node) {
                                       core::EApply out{clean_size(a.fun), {}};
                                       for (const auto& x : a.args)
                                         out.args.push_back(clean_size(x));
                                       return out;
                                     },
                                     [&](const core::EProject& p) -> decltype(core::Exp::node) {
                                       return core::EProject{clean_size(p.record), p.field};
                                     },
                                     [&](const core::EIntrinsic& i) -> decltype(core::Exp::node) {
                                       core::EIntrinsic out = i;
                                       for (auto& t : out.targs) t = zonk(t, Zonk::kKeep);
                                       return out;
                                     },
                                     [&](const auto& x) -> decltype(core::Exp::node) { return x; }},
                          e->node);
  return copy;
}

// An expression that is too much for a type, but that can be compared with others.
static bool comparable_size(const ExpPtr& e, int depth = 0) {
  if (depth > 20) return false;
  return std::visit(
      Overloaded{[](const core::ELit&) { return true; }, [](const core::EVar&) { return true; },
                 [](const core::EIntrinsic&) { return true; },
                 [&](const core::EProject& p) { return comparable_size(p.record, depth + 1); },
                 [&](const core::EIndex& i) {
                   return comparable_size(i.array, depth + 1) &&
                          std::all_of(i.dims.begin(), i.dims.end(), [&](const auto& d) {
                            return d.index && comparable_size(d.index, depth + 1);
                          });
                 },
                 [&](const core::EApply& a) {
                   return comparable_size(a.fun, depth + 1) &&
                          std::all_of(a.args.begin(), a.args.end(), [&](const ExpPtr& x) {
                            return comparable_size(x, depth + 1);
                          });
                 },
                 [](const auto&) { return false; }},
      e->node);
}

static const ExpPtr& without_attributes(const ExpPtr& e) {
  if (const auto* a = std::get_if<core::EAttr>(&e->node)) return without_attributes(a->inner);
  if (const auto* a = std::get_if<core::EAssert>(&e->node)) return without_attributes(a->body);
  return e;
}

/// A size that is `s`, with a name of its own if `s` is too much for a type.
Size Checker::named_size(const Size& s) {
  if (s.kind != Size::kExp || simple_size(s.exp, 0)) return s;
  const VarId v = new_unknown("value of the expression", s.exp->range);
  vars_[v.index].means = s;
  if (fn_ != nullptr) fn_->computed_sizes.push_back(v);
  return Size::of_var(v);
}

// A computed size of which no part is a name that only `named_size` gave: such parts have no value.
Size Checker::bound_size(const Size& s) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  const bool bound = std::none_of(vars.begin(), vars.end(), [&](VarId v) {
    return !vars_[v.index].named && vars_[v.index].means.kind != Size::kAny;
  });
  if (bound || s.kind != Size::kExp) return s;
  const VarId v = new_unknown("size of the slice or range", s.exp->range);
  vars_[v.index].means = meaning(s);
  return Size::of_var(v);
}

Size Checker::size_of(const ExpPtr& exp) {
  const ExpPtr& e = without_attributes(exp);
  if (core::is_prim(resolve(e->type), PrimType::kI64) && simple_size(e, 0)) {
    return resolve(core::size_of_exp(clean_size(e)));
  }
  if (comparable_size(e) && core::size_nodes(e, kMaxSizeNodes) < kMaxSizeNodes) {
    return named_size(Size::of_exp(e));
  }
  return Size::of_var(new_var("d"));
}

}  // namespace kenaz::check
