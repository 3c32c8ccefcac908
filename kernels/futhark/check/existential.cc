// Existential sizes of the results of functions: comparing such functions, type variables that
// stand for their results, closing the type of a function over them.
#include <algorithm>

#include "kernels/futhark/check/checker.h"

namespace kenaz::check {

using core::TArrow;

// `a` is the type that is expected: what its result existentially has may be any size, while the
// sizes that `b` has there are like no other. For parameters it is the other way around.
bool Checker::unify_arrows(const TArrow& a, const TArrow& b, int depth) {
  if (!unify_depth(b.from, a.from, depth + 1)) return false;
  core::Subst in_a, in_b;
  const uint32_t start = next_var();
  auto name = [&](VarId v) { return out_.var_names[v.index]; };
  for (VarId v : b.ext) {
    const VarId fresh = new_var(name(v));
    vars_[fresh.index].vague = vars_[v.index].vague || vars_[v.index].dependent;
    in_b.sizes[v] = Size::of_var(fresh);
  }
  // A parameter that sizes depend on becomes the same new name on both sides.
  if (a.param.valid() || b.param.valid()) {
    const Size fresh = Size::of_var(new_var(name(a.param.valid() ? a.param : b.param)));
    vars_[fresh.var.index].named = true;
    if (a.param.valid()) in_a.sizes[a.param] = fresh;
    if (b.param.valid()) in_b.sizes[b.param] = fresh;
  }
  const uint32_t end = next_var();
  for (uint32_t v = start; v < end; v++) vars_[v].unborn = true;
  const uint32_t flex = next_var();
  for (VarId v : a.ext) in_a.sizes[v] = Size::of_var(new_flex(name(v)));
  for (uint32_t v = flex; v < next_var(); v++) vars_[v].unborn = true;
  const TypePtr to_a = substitute(zonk(a.to, Zonk::kKeep), in_a);
  const TypePtr to_b = substitute(zonk(b.to, Zonk::kKeep), in_b);
  const uint32_t end_of_flex = next_var();
  comparing_results_++;
  const bool ok = unify_depth(to_a, to_b, depth + 1);
  comparing_results_--;
  for (uint32_t v = start; v < end_of_flex; v++) vars_[v].unborn = false;
  return ok;
}

// `t` with the existential sizes of results that are being compared replaced by ones that are any
// size. False if they may not differ from call to call, since the type is `regular`.
bool Checker::absorb_unborn(TypePtr& t, bool regular) {
  std::unordered_set<VarId> vars;
  t = zonk(t, Zonk::kKeep);
  core::free_sizes(t, vars);
  core::Subst subst;
  bool anonymous = false;
  for (VarId v : vars) {
    if (!vars_[v.index].unborn) continue;
    const bool vague = vars_[v.index].vague;
    anonymous |= regular && !vague && !any_sizes_;
    const VarId any = new_var(out_.var_names[v.index]);
    vars_[any.index].level = 0;
    vars_[any.index].absorbs = true;
    vars_[any.index].vague = vague;
    subst.sizes[v] = Size::of_var(any);
  }
  if (anonymous) {
    mismatch_.because(
        "Cannot instantiate a type parameter with a type containing anonymous sizes: " +
        type_text(t) + ".\nThey may differ from one call of the function to the next.");
    return false;
  }
  if (!subst.sizes.empty()) t = core::substitute(t, subst);
  return true;
}

// The type of an application in which the sizes that are existential in what a type variable stands
// for have become sizes of this result, or of the results of functions in it.
TypePtr Checker::release_absorbed(const TypePtr& type, const SourceRange& range,
                                  const std::string& what) {
  std::unordered_set<VarId> vars, produced;
  TypePtr t = zonk(type, Zonk::kKeep);
  core::free_sizes(t, vars);
  std::erase_if(vars, [&](VarId v) { return !vars_[v.index].absorbs; });
  if (vars.empty()) return type;
  core::whole_sizes(t, produced);
  core::Subst subst;
  std::vector<VarId> fresh;
  for (VarId v : vars) {
    if (!produced.count(v)) continue;
    fresh.push_back(new_var(out_.var_names[v.index]));
    vars_[fresh.back().index].vague = vars_[v.index].vague;
    subst.sizes[v] = Size::of_var(fresh.back());
  }
  if (!fresh.empty()) t = core::substitute(t, subst);
  const auto* arrow = std::get_if<TArrow>(&t->node);
  if (!arrow) return t;
  std::unordered_set<VarId> taken;
  core::free_sizes(arrow->from, taken);
  for (VarId v : taken) {
    if (!vars_[v.index].absorbs || vars_[v.index].vague) continue;
    reports_.error(
        range,
        what + "Existential size would appear in function parameter of return type:\n  " +
            type_text(t) +
            "\nThe function that is an argument here has a result of an existential size, or "
            "of a size\nthat is one of its parameters.");
    return unit_;
  }
  TArrow out = *arrow;
  const uint32_t start = next_var();
  out.to = release_absorbed(arrow->to, range, what);
  std::unordered_set<VarId> existential;
  core::free_sizes(out.to, existential);
  for (VarId v : existential) {
    if (v.index >= start) out.ext.push_back(v);
  }
  std::sort(out.ext.begin(), out.ext.end());
  return core::make_type(std::move(out), t->unique);
}

// A function type that is a result: what sizes made since `start` its own results have, they have
// existentially.
TypePtr Checker::close_arrow(const TypePtr& type, uint32_t start, std::unordered_set<VarId> bound) {
  const auto* a = std::get_if<TArrow>(&type->node);
  if (!a) return type;
  if (a->param.valid()) bound.insert(a->param);
  core::free_sizes(a->from, bound);
  TArrow out = *a;
  if (std::holds_alternative<TArrow>(a->to->node)) {
    out.to = close_arrow(a->to, start, std::move(bound));
    return core::make_type(std::move(out), type->unique);
  }
  bound.insert(a->ext.begin(), a->ext.end());
  out.to = hide(a->to, start, &bound);
  std::unordered_set<VarId> free;
  core::free_sizes(out.to, free);
  for (VarId v : free) {
    const Var& info = vars_[v.index];
    if (v.index >= start && !bound.count(v) && !info.flex && !info.param && !info.outside) {
      out.ext.push_back(v);
    }
  }
  std::sort(out.ext.begin(), out.ext.end());
  return core::make_type(std::move(out), type->unique);
}

// `t` with the names of expressions over what is known before the function, all of which came
// before `start`, replaced by names that are known there, too.
TypePtr Checker::known_outside(const TypePtr& t, uint32_t start,
                               const std::unordered_set<VarId>& bound) {
  return map_dims(zonk(t, Zonk::kKeep), [&](const Size& s) {
    const Size size = resolve(s);
    if (size.kind != Size::kVar || size.var.index < start || bound.count(size.var)) return size;
    const Size means = meaning(size);
    if (means.kind != Size::kExp || too_deep(means, fn_->level)) return size;
    std::unordered_set<VarId> parts;
    core::free_sizes(means, parts);
    const bool outside = std::all_of(parts.begin(), parts.end(), [&](VarId part) {
      return part.index < start && !bound.count(part);
    });
    if (!outside) return size;
    const Size named = named_size(means);
    if (named.kind == Size::kVar) vars_[named.var.index].outside = true;
    return named;
  });
}

// The type of a function with these parameters. `ext`: existential sizes that the result's type
// declares; without any, they are the sizes made since `start` that are no parameters.
TypePtr Checker::arrow_type(const std::vector<PatPtr>& params, TypePtr ret, uint32_t start,
                            std::vector<VarId> ext) {
  std::unordered_set<VarId> free, bound;
  for (const auto& p : params) {
    core::free_sizes(zonk(p->type, Zonk::kKeep), bound);
    if (const auto* b = std::get_if<core::PBind>(&p->node)) bound.insert(b->id);
  }
  for (VarId v : ext) bound.insert(v);
  ret = close_arrow(hide(known_outside(ret, start, bound), start, &bound), start, bound);
  core::free_sizes(ret, free);
  for (VarId v : free) {
    const Var& info = vars_[v.index];
    if (v.index >= start && !bound.count(v) && !info.flex && !info.param && !info.outside) {
      ext.push_back(v);
    }
  }
  std::sort(ext.begin(), ext.end());
  for (VarId v : ext) {
    if (vars_[v.index].means.kind == Size::kAny) continue;
    std::unordered_set<VarId> parts;
    core::free_sizes(meaning(Size::of_var(v)), parts);
    vars_[v.index].dependent = std::all_of(parts.begin(), parts.end(), [&](VarId part) {
      return part.index < start || (part != v && bound.count(part) > 0) || vars_[part.index].param;
    });
  }
  TypePtr t = ret;
  for (size_t i = params.size(); i-- > 0;) {
    VarId name;
    if (const auto* b = std::get_if<core::PBind>(&params[i]->node)) {
      if (core::mentions_size(t, b->id)) name = b->id;
    }
    TypePtr from = zonk(params[i]->type, Zonk::kKeep);
    t = core::make_type(
        TArrow{name, from->unique, from, i + 1 == params.size() ? ext : std::vector<VarId>{}, t});
  }
  return t;
}

}  // namespace kenaz::check
