// Conditionals, bindings, loops.
#include <algorithm>

#include "kernels/futhark/check/checker.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// `t` with every size outside function types replaced by f(size), from left to right.
TypePtr Checker::map_dims(const TypePtr& type, const std::function<Size(const Size&)>& f) {
  TypePtr t = resolve(type);
  return std::visit(
      Overloaded{[&](const core::TArray& a) {
                   Size dim = f(a.dim);
                   return core::make_type(core::TArray{dim, map_dims(a.elem, f)}, t->unique);
                 },
                 [&](const core::TRecord& r) {
                   core::TRecord out;
                   for (const auto& [name, x] : r.fields) {
                     out.fields.emplace_back(name, map_dims(x, f));
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const core::TSum& s) {
                   core::TSum out;
                   for (const auto& [name, payload] : s.constructors) {
                     std::vector<TypePtr> types;
                     for (const auto& x : payload) types.push_back(map_dims(x, f));
                     out.constructors.emplace_back(name, std::move(types));
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const core::TAbstract& a) {
                   core::TAbstract out{a.id, {}};
                   for (const auto& arg : a.args) {
                     if (const auto* x = std::get_if<TypePtr>(&arg)) {
                       out.args.emplace_back(map_dims(*x, f));
                     } else {
                       out.args.emplace_back(f(std::get<Size>(arg)));
                     }
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const auto&) { return t; }},
      t->node);
}

// `t` as seen from outside an expression whose size variables are those from `start` on: a size
// computed from such variables becomes a new, existential one. (A size that is such a variable may
// stay: it is existential itself.) Variables in `keep` are known outside. `same_body`: so are the
// sizes that values turned out to have, for it is only the scope of names that ends.
TypePtr Checker::hide(const TypePtr& type, uint32_t start, const std::unordered_set<VarId>* keep,
                      bool same_body) {
  return map_dims(type, [&](const Size& s) {
    Size dim = resolve(s);
    std::unordered_set<VarId> vars;
    core::free_sizes(dim, vars);
    for (VarId v : vars) {
      Var& info = vars_[v.index];
      if (v.index < start || info.flex || info.param || (keep && keep->count(v))) continue;
      if (dim.kind == Size::kExp && (info.named || !same_body)) return Size::of_var(new_var("d"));
      info.level = std::min(info.level, fn_->level);
    }
    return dim;
  });
}

ExpPtr Checker::if_exp(const syntax::EIf& i, const SourceRange& range, const TypePtr& expected) {
  ExpPtr cond = check(*i.cond, bool_, "Condition must have type bool.");
  const uint32_t start = next_var();
  fn_->level++;
  ExpPtr yes = exp(*i.then_branch, expected);
  fn_->level--;
  TypePtr then_type = hide(yes->type, start);
  fn_->level++;
  ExpPtr no = exp(*i.else_branch, then_type);
  fn_->level--;
  TypePtr else_type = hide(no->type, start);
  unify_or_error(then_type, else_type, range, "Branches differ in type.");
  if (failed()) return bad_exp(range);
  TypePtr type = join(then_type, else_type);
  if (!constrain(type, kMaskData)) error(range, "The result of an if may not be of function type.");
  return make(range, type, core::EIf{cond, yes, no});
}

ExpPtr Checker::match(const syntax::EMatch& m, const SourceRange& range, const TypePtr& expected) {
  core::EMatch out;
  out.scrutinee = exp(*m.scrutinee);
  TypePtr type;
  for (const auto& c : m.cases) {
    const size_t mark = fn_->locals.size();
    const uint32_t start = next_var();
    check_duplicate_names({c.pat.get()});
    fn_->level++;
    PatPtr p = pat(*c.pat, core::with_unique(out.scrutinee->type, false));
    ExpPtr body = exp(*c.body, type ? type : expected);
    fn_->level--;
    fn_->locals.resize(mark);
    if (failed()) return bad_exp(range);
    TypePtr case_type = hide(body->type, start);
    if (type) {
      unify_or_error(type, case_type, c.range, "Branches differ in type.");
      if (failed()) return bad_exp(range);
      type = join(type, case_type);
    } else {
      type = case_type;
    }
    out.cases.emplace_back(p, body);
  }
  if (!type) type = new_meta();
  if (!constrain(type, kMaskData))
    error(range, "The result of a match may not be of function type.");
  fn_->matches.push_back(make(range, type, std::move(out)));
  return fn_->matches.back();
}

ExpPtr Checker::let(const syntax::ELet& l, const SourceRange& range, const TypePtr& expected) {
  core::ELet out;
  const uint32_t start = next_var();
  const size_t mark = fn_->locals.size();
  NamedRanges sizes_bound;
  for (const auto& name : l.sizes) sizes_bound.emplace_back(name, range);
  check_duplicate_names({l.pat.get()}, std::move(sizes_bound));
  out.value = exp(*l.value);
  for (const auto& name : l.sizes) {
    out.sizes.push_back(new_var(name));
    local_value(name, out.sizes.back(), i64_);
  }
  out.pat = pat(*l.pat, out.value->type);
  fn_->whole.push_back(out.pat);
  out.body = exp(*l.body, expected);
  fn_->locals.resize(mark);
  TypePtr type = hide(out.body->type, start, nullptr, true);
  return make(range, type, std::move(out));
}

ExpPtr Checker::let_fun(const syntax::ELetFun& l, const SourceRange& range,
                        const TypePtr& expected) {
  const uint32_t start = next_var();
  MutDef def = define({l.name, l.name_range, l.tparams, l.params, l.ret.get(), *l.value}, false);
  if (failed()) return bad_exp(range);
  ValBinding* v = new_val();
  v->var = def->id;
  v->scheme = {def->tparams, def->sparams, def->type};
  v->defined.range = l.name_range;
  seen(l.name_range, l.name, v);
  fn_->locals.push_back({l.name, v, nullptr, nullptr});
  const size_t mark = fn_->locals.size();
  ExpPtr body = exp(*l.body, expected);
  fn_->locals.resize(mark - 1);
  return make(range, hide(body->type, start), core::ELetDef{def, body});
}

ExpPtr Checker::let_with(const syntax::ELetWith& l, const SourceRange& range,
                         const TypePtr& expected) {
  const uint32_t start = next_var();
  ExpPtr source = variable(syntax::QualName{{}, l.name, l.name_range}, l.name_range);
  ExpPtr value = update_path(source, l.path, *l.value, range);
  if (failed()) return bad_exp(range);
  const size_t mark = fn_->locals.size();
  VarId v = new_var(l.name);
  TypePtr t = core::with_unique(value->type, false);
  local_value(l.name, v, t, l.name_range);
  PatPtr p = make_pat(l.name_range, t, core::PBind{v});
  ExpPtr body = exp(*l.body, expected);
  fn_->locals.resize(mark);
  return make(range, hide(body->type, start), core::ELet{{}, p, value, body});
}

// ---- loops

// `loop (x, y) for ..`: the pattern's own variables are the initial values.
ExpPtr Checker::loop_init(const syntax::Pat& p) {
  return std::visit(
      Overloaded{[&](const syntax::PatName& n) {
                   return variable(syntax::QualName{{}, n.name, p.range}, p.range);
                 },
                 [&](const syntax::PatParens& x) { return loop_init(*x.inner); },
                 [&](const syntax::PatAscript& x) { return loop_init(*x.inner); },
                 [&](const syntax::PatAttr& x) { return loop_init(*x.inner); },
                 [&](const syntax::PatTuple& x) -> ExpPtr {
                   core::ERecord out;
                   std::vector<TypePtr> types;
                   for (size_t i = 0; i < x.elems.size(); i++) {
                     out.fields.emplace_back(std::to_string(i), loop_init(*x.elems[i]));
                     types.push_back(core::with_unique(out.fields.back().second->type, false));
                   }
                   return make(p.range, core::tuple_type(std::move(types)), std::move(out));
                 },
                 [&](const syntax::PatRecord& x) -> ExpPtr {
                   core::ERecord out;
                   std::vector<std::pair<std::string, TypePtr>> types;
                   for (const auto& f : x.fields) {
                     ExpPtr e = f.pat ? loop_init(*f.pat)
                                      : variable(syntax::QualName{{}, f.name, p.range}, p.range);
                     types.emplace_back(f.name, core::with_unique(e->type, false));
                     out.fields.emplace_back(f.name, e);
                   }
                   return make(p.range, core::record_type(std::move(types)), std::move(out));
                 },
                 [&](const auto&) {
                   error(p.range,
                         "A loop whose pattern has parts without a name needs initial "
                         "values.");
                   return bad_exp(p.range);
                 }},
      p.node);
}

// The type of the loop's variables: that of the initial values with every size replaced by a name
// of its own (unless it is open yet). `sizes` gets these names and what they are at the start.
TypePtr Checker::loop_type(const TypePtr& type, std::vector<std::pair<VarId, Size>>& sizes) {
  return map_dims(type, [&](const Size& s) {
    Size start = resolve(s);
    if (start.kind == Size::kVar && vars_[start.var.index].flex) return start;
    VarId v = new_var("d");
    sizes.emplace_back(v, start);
    return Size::of_var(v);
  });
}

// Is `now`, a size of what the loop's body returns, always either `name` or `start`?
bool Checker::loop_keeps(const Size& now, VarId name, const Size& start, int depth) {
  Size s = resolve(now);
  if (s.kind == Size::kAny || core::same_size(s, start)) return true;
  if (s.kind != Size::kVar) return false;
  const Var& v = vars_[s.var.index];
  if (s.var == name || v.flex) return true;
  return depth < 20 && !v.joined.empty() &&
         std::all_of(v.joined.begin(), v.joined.end(),
                     [&](const Size& x) { return loop_keeps(x, name, start, depth + 1); });
}

// After the body: which of `sizes` may change from one iteration to the next.
std::vector<VarId> Checker::loop_varying(const TypePtr& pattern, const TypePtr& body,
                                         const std::vector<std::pair<VarId, Size>>& sizes) {
  std::vector<Size> before, after;
  auto collect = [](std::vector<Size>& out) {
    return [&out](const Size& s) {
      out.push_back(s);
      return s;
    };
  };
  map_dims(pattern, collect(before));
  map_dims(body, collect(after));
  std::vector<VarId> varying;
  for (size_t i = 0; i < before.size() && i < after.size(); i++) {
    Size s = resolve(before[i]);
    auto it = std::find_if(sizes.begin(), sizes.end(),
                           [&](const auto& x) { return s.kind == Size::kVar && x.first == s.var; });
    if (it == sizes.end() || loop_keeps(after[i], it->first, resolve(it->second), 0)) continue;
    varying.push_back(it->first);
  }
  return varying;
}

ExpPtr Checker::loop(const syntax::ELoop& l, const SourceRange& range) {
  core::ELoop out;
  const size_t mark = fn_->locals.size();
  out.init = l.init ? exp(*l.init) : loop_init(*l.pat);
  if (failed()) return bad_exp(range);
  ExpPtr bound;
  TypePtr index_type, elem_type;
  switch (l.form) {
    case syntax::ELoop::kFor:
      out.form = core::ELoop::kFor;
      index_type = new_meta(kMaskInt);
      out.bound = check(*l.bound, index_type, "A loop bound must be an integer.");
      break;
    case syntax::ELoop::kForIn:
      out.form = core::ELoop::kForIn;
      elem_type = new_meta();
      out.bound = check(*l.bound, core::array_type(Size::of_var(new_flex()), elem_type),
                        "A loop must iterate over an array.");
      break;
    case syntax::ELoop::kWhile: out.form = core::ELoop::kWhile; break;
  }
  if (failed()) return bad_exp(range);
  std::vector<std::pair<VarId, Size>> sizes;
  TypePtr type = loop_type(out.init->type, sizes);
  check_duplicate_names({l.pat.get()});
  fn_->level++;
  out.pat = pat(*l.pat, type);
  fn_->whole.push_back(out.pat);
  type = out.pat->type;
  if (!failed() && !constrain(type, kMaskData)) {
    error(l.pat->range, "A variable of a loop may not be of function type.");
  }
  if (l.form == syntax::ELoop::kFor) {
    out.index = new_var(l.index);
    local_value(l.index, out.index, index_type, l.index_range);
  } else if (l.form == syntax::ELoop::kForIn) {
    out.elem_pat = pat(*l.elem_pat, elem_type);
    fn_->whole.push_back(out.elem_pat);
  } else {
    out.bound = check(*l.bound, bool_, "Condition must have type bool.");
  }
  out.body = exp(*l.body, type);
  fn_->level--;
  fn_->locals.resize(mark);
  if (failed()) return bad_exp(range);
  // Compare without sizes; then see which sizes change; then the sizes that do not.
  const char* what = "Loop body does not have expected type.";
  TypePtr shapeless = map_dims(type, [](const Size&) { return Size::any(); });
  unify_or_error(shapeless, out.body->type, l.body->range, what);
  if (failed()) return bad_exp(range);
  out.sizes = loop_varying(type, out.body->type, sizes);
  for (const auto& [v, start] : sizes) {
    if (std::find(out.sizes.begin(), out.sizes.end(), v) != out.sizes.end()) continue;
    vars_[v.index].solved = true;
    vars_[v.index].solution = start;
  }
  unify_or_error(type, out.init->type, range, "Initial loop values do not have expected type.");
  unify_or_error(type, out.body->type, l.body->range, what);
  return make(range, core::with_unique(type, false), std::move(out));
}

}  // namespace kenaz::check
