// Expressions as sizes: which may stand in types, which can only be compared.
#include <algorithm>

#include "kernels/futhark/check/sizes.h"
#include "kernels/futhark/core/children.h"
#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

static bool is_plain_variable(const ExpPtr& e) {
  const auto* v = std::get_if<core::EVar>(&e->node);
  return v && v->targs.empty() && v->sargs.empty();
}

// Can this expression stand inside a type? Only what is cheap, total enough and self-contained.
bool Sizes::simple_size(const ExpPtr& e, int depth) {
  if (depth > 20) return false;
  TypePtr t = vars_.resolve(e->type);
  auto below = [&](const ExpPtr& x) { return simple_size(x, depth + 1); };
  return std::visit(
      // Of a large literal, only its type says whether it has a sign.
      Overloaded{[&](const core::ELit& l) {
                   const auto* p = core::as_prim(t);
                   return !is_integer(l.value.type) || l.value.as_i64() >= 0 ||
                          (p && is_integer(p->prim));
                 },
                 [&](const core::EVar& v) {
                   return v.targs.empty() && v.sargs.empty() && core::as_prim(t);
                 },
                 [&](const core::EProject& p) {
                   return core::as_prim(t) && std::holds_alternative<core::EVar>(p.record->node);
                 },
                 [&](const core::EApply& a) {
                   if (!core::as_prim(t)) return false;
                   const auto* f = std::get_if<core::EVar>(&a.fun->node);
                   const auto* i = std::get_if<core::EIntrinsic>(&a.fun->node);
                   if (f && vars_[f->id].gives_size) {
                     return std::all_of(a.args.begin(), a.args.end(), is_plain_variable);
                   }
                   const bool monomorphic = f && f->targs.empty() && f->sargs.empty();
                   if (!monomorphic && !(i && i->op < core::Intrinsic::kMap)) return false;
                   return std::all_of(a.args.begin(), a.args.end(), below);
                 },
                 [&](const core::EIf& i) {
                   return core::as_prim(t) && below(i.cond) && below(i.then_branch) &&
                          below(i.else_branch);
                 },
                 [](const auto&) { return false; }},
      e->node);
}

// A copy that is part of a type, and finished with it.
ExpPtr Sizes::clean_size(const ExpPtr& e) {
  auto copy = std::make_shared<core::Exp>(
      *core::map_children(e, [this](const ExpPtr& part) { return clean_size(part); }));
  copy->type = core::with_unique(vars_.zonk(e->type, Zonk::kKeep), false);
  copy->ext.clear();
  return copy;
}

// Does it bind no names? Then another one can be the same.
bool Sizes::comparable_size(const ExpPtr& e, int depth) {
  if (depth > 20 || core::binds_names(*e)) return false;
  const bool opaque = std::holds_alternative<core::EHole>(e->node) ||
                      std::holds_alternative<core::ECoerce>(e->node);
  bool out = !opaque;
  core::for_each_child(*e,
                       [&](const ExpPtr& part) { out = out && comparable_size(part, depth + 1); });
  return out;
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
  return core::map_children(
      e, [&](const ExpPtr& part) { return without_attributes(part, depth + 1); });
}

// A name for the expression, which it means.
Size Sizes::name_for(const ExpPtr& e) {
  const VarId v = vars_.new_unknown("value of the expression", e->range);
  vars_[v].means = Size::of_exp(e);
  vars_.add_computed(v);
  return Size::of_var(v);
}

Size Sizes::named_size(const Size& s) {
  return s.kind != Size::kExp || simple_size(s.exp, 0) ? s : name_for(s.exp);
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

Size Sizes::declared_size(const ExpPtr& exp) {
  const ExpPtr e = without_attributes(exp);
  const bool small = core::size_nodes(e, kMaxSizeNodes) < kMaxSizeNodes;
  if (small && comparable_size(e)) {
    return vars_.resolve(core::size_of_exp(clean_size(e)));
  }
  return name_for(e);
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
