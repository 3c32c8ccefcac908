// Expressions as sizes: which may stand in types, which can only be compared.
#include <algorithm>

#include "kernels/futhark/check/sizes.h"
#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// Can this expression stand inside a type? Only what is cheap, total enough and self-contained.
bool Sizes::simple_size(const ExpPtr& e, int depth) {
  if (depth > 20) return false;
  TypePtr t = vars_.resolve(e->type);
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
                          !vars_.contains_meta(p.record->type);
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

// A copy that needs no finishing: its types are known.
ExpPtr Sizes::clean_size(const ExpPtr& e) {
  auto copy = std::make_shared<core::Exp>();
  copy->range = e->range;
  copy->type = core::with_unique(vars_.zonk(e->type, Zonk::kKeep), false);
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
                                       for (auto& t : out.targs) t = vars_.zonk(t, Zonk::kKeep);
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

// `e` without attributes and assertions, which have no part in what it is.
static ExpPtr without_attributes(const ExpPtr& e, int depth = 0) {
  if (depth > 20) return e;
  if (const auto* a = std::get_if<core::EAttr>(&e->node)) {
    return without_attributes(a->inner, depth);
  }
  if (const auto* a = std::get_if<core::EAssert>(&e->node)) {
    return without_attributes(a->body, depth);
  }
  const auto* a = std::get_if<core::EApply>(&e->node);
  if (!a) return e;
  core::EApply out{a->fun, {}};
  for (const ExpPtr& x : a->args) out.args.push_back(without_attributes(x, depth + 1));
  if (out.args == a->args) return e;
  auto copy = std::make_shared<core::Exp>(*e);
  copy->node = std::move(out);
  return copy;
}

/// A size that is `s`, with a name of its own if `s` is too much for a type.
Size Sizes::named_size(const Size& s) {
  if (s.kind != Size::kExp || simple_size(s.exp, 0)) return s;
  const VarId v = vars_.new_unknown("value of the expression", s.exp->range);
  vars_[v].means = s;
  vars_.add_computed(v);
  return Size::of_var(v);
}

// A computed size of which no part is a name that only `named_size` gave: such parts have no value.
Size Sizes::bound_size(const Size& s) {
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  const bool bound = std::none_of(vars.begin(), vars.end(), [&](VarId v) {
    return !vars_[v].named && vars_[v].means.kind != Size::kAny;
  });
  if (bound || s.kind != Size::kExp) return s;
  const VarId v = vars_.new_unknown("size of the slice or range", s.exp->range);
  vars_[v].means = vars_.meaning(s);
  return Size::of_var(v);
}

Size Sizes::size_of(const ExpPtr& exp) {
  const ExpPtr e = without_attributes(exp);
  if (core::is_prim(vars_.resolve(e->type), PrimType::kI64) && simple_size(e, 0)) {
    return vars_.resolve(core::size_of_exp(clean_size(e)));
  }
  if (comparable_size(e) && core::size_nodes(e, kMaxSizeNodes) < kMaxSizeNodes) {
    return named_size(Size::of_exp(e));
  }
  return Size::of_var(vars_.new_var("d"));
}

Size Sizes::arithmetic(core::Intrinsic op, const Size& a, const Size& b) {
  auto node = [&](TypePtr type, decltype(core::Exp::node) n) {
    auto e = std::make_shared<core::Exp>();
    e->type = std::move(type);
    e->node = std::move(n);
    return e;
  };
  const TypePtr i64 = core::prim_type(PrimType::kI64);
  TypePtr one = core::make_type(core::TArrow{{}, false, i64, {}, i64});
  auto fun =
      node(core::make_type(core::TArrow{{}, false, i64, {}, one}), core::EIntrinsic{op, {i64}, {}});
  return Size::of_exp(node(i64, core::EApply{fun, {core::exp_of_size(a), core::exp_of_size(b)}}));
}

Size Sizes::difference(const Size& a, const Size& b) {
  if (a.kind == Size::kAny || b.kind == Size::kAny) return Size::of_var(vars_.new_var("d"));
  if (b.kind == Size::kConst && b.constant == 0) return a;
  return arithmetic(core::Intrinsic::kSub, a, b);
}

Size Sizes::slice_size(const core::DimIndex& d, const Size& dim) {
  auto known = [&](const ExpPtr& e) {
    Size s = size_of(e);
    return s;
  };
  auto is_const = [](const Size& s, int64_t c) {
    return s.kind == Size::kConst && s.constant == c;
  };
  if (d.stride) {
    Size s = known(d.stride);
    if (!d.start && !d.end && (is_const(s, 1) || is_const(s, -1))) return dim;
    return Size::of_var(vars_.new_var("d"));
  }
  if (!d.start && !d.end) return dim;
  Size end = d.end ? known(d.end) : vars_.resolve(dim);
  if (!d.start) return end;
  return bound_size(difference(end, known(d.start)));
}

}  // namespace kenaz::check
