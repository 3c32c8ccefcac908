// Conditionals, bindings, coercions.
#include <algorithm>

#include "kernels/futhark/check/defs.h"
#include "kernels/futhark/check/expressions.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

ExpPtr Expressions::if_exp(const syntax::EIf& i, const SourceRange& range,
                           const TypePtr& expected) {
  ExpPtr cond = check(*i.cond, bool_, "Condition must have type bool.");
  const uint32_t start = vars_.next_var();
  vars_.level()++;
  ExpPtr yes = exp(*i.then_branch, vars_.branch_hint(expected));
  vars_.level()--;
  TypePtr then_type = existentials_.hide(yes->type, start);
  vars_.level()++;
  ExpPtr no = exp(*i.else_branch, vars_.branch_hint(then_type));
  vars_.level()--;
  TypePtr else_type = existentials_.hide(no->type, start);
  const Restore branches(comparing_.sizes, CompareSizes::kNone);
  infer_.unify_or_error(then_type, else_type, range, "Branches differ in type.");
  if (reports_.failed()) return bad_exp(range);
  TypePtr type = existentials_.join(then_type, else_type);
  if (!infer_.constrain(type, kMaskData))
    reports_.error(range, "The result of an if may not be of function type.");
  return make(range, type, core::EIf{cond, yes, no});
}

ExpPtr Expressions::match(const syntax::EMatch& m, const SourceRange& range,
                          const TypePtr& expected) {
  core::EMatch out;
  out.scrutinee = exp(*m.scrutinee);
  TypePtr type;
  for (const auto& c : m.cases) {
    const size_t mark = fn_->here.locals.size();
    const uint32_t start = vars_.next_var();
    patterns_.check_duplicate_names({c.pat.get()});
    vars_.level()++;
    PatPtr p = patterns_.pat(*c.pat, core::with_unique(out.scrutinee->type, false));
    vars_.level()++;
    ExpPtr body = exp(*c.body, vars_.branch_hint(type ? type : expected));
    vars_.level() -= 2;
    fn_->here.locals.resize(mark);
    if (reports_.failed()) return bad_exp(range);
    TypePtr case_type = existentials_.hide(body->type, start);
    if (type) {
      const Restore branches(comparing_.sizes, CompareSizes::kNone);
      infer_.unify_or_error(type, case_type, c.range, "Branches differ in type.");
      if (reports_.failed()) return bad_exp(range);
      type = existentials_.join(type, case_type);
    } else {
      type = case_type;
    }
    out.cases.emplace_back(p, body);
  }
  if (!type) type = vars_.new_meta();
  if (!infer_.constrain(type, kMaskData))
    reports_.error(range, "The result of a match may not be of function type.");
  fn_->matches.push_back(make(range, type, std::move(out)));
  return fn_->matches.back();
}

/// `let [n]`: an array in the pattern's type must have that size.
void Expressions::check_binders(const syntax::ELet& l, const core::ELet& let) {
  if (reports_.failed() || let.sizes.empty()) return;
  std::unordered_set<VarId> given, mentioned;
  // The pattern as it is written: what the value's type knows may not be in its terms.
  const TypePtr type = vars_.zonk(let.pat->type, Zonk::kKeep);
  core::whole_sizes(type, given);
  core::free_sizes(type, mentioned);
  for (size_t i = 0; i < let.sizes.size(); i++) {
    if (given.count(let.sizes[i])) continue;
    reports_.error(l.pat->range, mentioned.count(let.sizes[i])
                                     ? "Cannot bind [" + l.sizes[i] +
                                           "] as it is never used as the size of a concrete "
                                           "(non-function) value."
                                     : "Size [" + l.sizes[i] + "] unused in pattern.");
    return;
  }
}

/// What a name of `let [n]` stands for is known with the pattern. From there on it is a size like
/// no other, also where the value's own size has a name.
void Expressions::close_binders(const core::ELet& let) {
  for (VarId v : let.sizes) {
    Var& var = vars_[v];
    if (var.means.kind == Size::kAny) continue;
    var.binder = false;
    var.means = {};
  }
}

ExpPtr Expressions::let(const syntax::ELet& l, const SourceRange& range, const TypePtr& expected) {
  core::ELet out;
  const uint32_t start = vars_.next_var();
  const size_t mark = fn_->here.locals.size();
  Patterns::NamedRanges sizes_bound;
  for (const auto& name : l.sizes) sizes_bound.emplace_back(name, range);
  patterns_.check_duplicate_names({l.pat.get()}, std::move(sizes_bound));
  out.value = exp(*l.value);
  for (const auto& name : l.sizes) {
    out.sizes.push_back(vars_.new_var(name));
    vars_[out.sizes.back()].binder = true;
    vars_.determine(out.sizes.back(), OpenSize::kBinder, l.pat->range);
    naming_.local_value(name, out.sizes.back(), i64_);
  }
  out.pat = patterns_.pat(*l.pat, out.value->type);
  check_binders(l, out);
  close_binders(out);
  fn_->whole.push_back(out.pat);
  vars_.level()++;
  out.body = exp(*l.body, expected);
  vars_.level()--;
  fn_->here.locals.resize(mark);
  TypePtr type = out.body->type;
  const auto* name = std::get_if<core::PBind>(&out.pat->node);
  if (name && !reports_.failed() && core::is_prim(vars_.resolve(out.value->type), PrimType::kI64)) {
    // The name of a size that goes out of scope is replaced by what it is.
    const Size value = sizes_.size_of(out.value);
    vars_[name->id].means = value;
    const bool known = value.kind != Size::kVar || vars_[value.var].named;
    core::Subst subst;
    subst.sizes[name->id] = value;
    if (known) type = core::substitute(vars_.zonk(type, Zonk::kKeep), subst);
  }
  type = existentials_.hide(type, start, nullptr, true);
  return make(range, type, std::move(out));
}

ExpPtr Expressions::let_fun(const syntax::ELetFun& l, const SourceRange& range,
                            const TypePtr& expected) {
  const uint32_t start = vars_.next_var();
  MutDef def = definitions_.define(
      {l.name, l.name_range, l.tparams, l.params, l.ret.get(), *l.value}, false);
  if (reports_.failed()) return bad_exp(range);
  ValBinding* v = scopes_.new_val();
  v->var = def->id;
  v->scheme = {def->tparams, def->sparams, def->type};
  v->defined.range = l.name_range;
  naming_.seen(l.name_range, l.name, v);
  fn_->here.locals.push_back({l.name, v, nullptr, nullptr});
  const size_t mark = fn_->here.locals.size();
  ExpPtr body = exp(*l.body, expected);
  fn_->here.locals.resize(mark - 1);
  return make(range, existentials_.hide(body->type, start), core::ELetDef{def, body});
}

ExpPtr Expressions::let_with(const syntax::ELetWith& l, const SourceRange& range,
                             const TypePtr& expected) {
  const uint32_t start = vars_.next_var();
  ExpPtr source = variable(syntax::QualName{{}, l.name, l.name_range}, l.name_range);
  ExpPtr value = arrays_.update_path(source, l.path, *l.value, range);
  if (reports_.failed()) return bad_exp(range);
  const size_t mark = fn_->here.locals.size();
  VarId v = vars_.new_var(l.name);
  TypePtr t = core::with_unique(value->type, false);
  naming_.local_value(l.name, v, t, l.name_range);
  PatPtr p = patterns_.make_pat(l.name_range, t, core::PBind{v});
  ExpPtr body = exp(*l.body, expected);
  fn_->here.locals.resize(mark);
  return make(range, existentials_.hide(body->type, start), core::ELet{{}, p, value, body});
}

// An empty [] in the target is the size that the value's own type has there. The others are
// compared when the program runs.
ExpPtr Expressions::coerce(const syntax::ECoerce& c, const SourceRange& range) {
  TypeSizes sizes;
  TypePtr t = types_.type_exp(*c.type, sizes);
  for (VarId v : sizes.universals) vars_[v].flex = true;
  for (VarId v : sizes.ext) {
    if (vars_[v].means.kind == Size::kAny) vars_[v].flex = true;
  }
  // A size like no other gets a name, so that it is computed here.
  std::vector<Let> lets;
  core::Subst named;
  for (VarId v : sizes.ext) {
    const Size means = vars_[v].means;
    if (means.kind != Size::kExp || Sizes::comparable_size(means.exp)) continue;
    named.sizes[v] = core::size_of_exp(share(means.exp, lets));
    vars_[named.sizes[v].var].origin = vars_[v].origin;
    vars_[named.sizes[v].var].range = vars_[v].range;
  }
  t = core::substitute(t, named);
  const TypePtr shapeless = vars_.map_dims(t, [&](const Size& s) {
    const bool open = s.kind == Size::kVar && vars_[s.var].flex;
    if (open) return s;
    const VarId own = vars_.new_flex();
    vars_.determine(own, OpenSize::kCoercion, range);
    return Size::of_var(own);
  });
  ExpPtr inner = exp(*c.inner, shapeless);
  infer_.unify_or_error(shapeless, inner->type, range, "Cannot coerce the value to this type.");
  return wrap(lets, make(range, t, core::ECoerce{inner, syntax::pretty(*c.type)}));
}

}  // namespace kenaz::check
