// Conditionals, bindings, loops.
#include <algorithm>

#include "kernels/futhark/check/checker.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// `t` as seen from outside an expression whose size variables are those from `start` on: a size
// computed from such variables becomes a new, existential one. (A size that is such a variable may
// stay: it is existential itself.) Variables in `keep` are known outside.
TypePtr Checker::hide(const TypePtr& type, uint32_t start, const std::unordered_set<VarId>* keep) {
  TypePtr t = resolve(type);
  auto size = [&](const Size& s) {
    Size dim = resolve(s);
    if (dim.kind != Size::kExp) return dim;
    std::unordered_set<VarId> vars;
    core::free_sizes(dim, vars);
    const bool inside = std::any_of(vars.begin(), vars.end(), [&](VarId v) {
      const Var& info = vars_[v.index];
      return v.index >= start && !info.flex && !info.param && !(keep && keep->count(v));
    });
    return inside ? Size::of_var(new_var("d")) : dim;
  };
  return std::visit(
      Overloaded{
          [&](const core::TArray& a) {
            return core::make_type(core::TArray{size(a.dim), hide(a.elem, start, keep)}, t->unique);
          },
          [&](const core::TRecord& r) {
            core::TRecord out;
            for (const auto& [name, f] : r.fields) {
              out.fields.emplace_back(name, hide(f, start, keep));
            }
            return core::make_type(std::move(out), t->unique);
          },
          [&](const core::TAbstract& a) {
            core::TAbstract out{a.id, {}};
            for (const auto& arg : a.args) {
              if (const auto* x = std::get_if<TypePtr>(&arg)) {
                out.args.emplace_back(hide(*x, start, keep));
              } else {
                out.args.emplace_back(size(std::get<Size>(arg)));
              }
            }
            return core::make_type(std::move(out), t->unique);
          },
          [&](const auto&) { return t; }},
      t->node);
}

ExpPtr Checker::if_exp(const syntax::EIf& i, const SourceRange& range, const TypePtr& expected) {
  ExpPtr cond = check(*i.cond, bool_, "Condition must have type bool.");
  const uint32_t start = next_var();
  ExpPtr yes = exp(*i.then_branch, expected);
  TypePtr then_type = hide(yes->type, start);
  ExpPtr no = exp(*i.else_branch, then_type);
  TypePtr else_type = hide(no->type, start);
  unify_or_error(then_type, else_type, range, "Branches differ in type.");
  if (failed()) return bad_exp(range);
  return make(range, join(then_type, else_type), core::EIf{cond, yes, no});
}

ExpPtr Checker::match(const syntax::EMatch& m, const SourceRange& range, const TypePtr& expected) {
  core::EMatch out;
  out.scrutinee = exp(*m.scrutinee);
  TypePtr type;
  for (const auto& c : m.cases) {
    const size_t mark = fn_->locals.size();
    const uint32_t start = next_var();
    check_duplicate_names({c.pat.get()});
    PatPtr p = pat(*c.pat, core::with_unique(out.scrutinee->type, false));
    ExpPtr body = exp(*c.body, type ? type : expected);
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
  return make(range, type, std::move(out));
}

ExpPtr Checker::let(const syntax::ELet& l, const SourceRange& range, const TypePtr& expected) {
  core::ELet out;
  const uint32_t start = next_var();
  const size_t mark = fn_->locals.size();
  check_duplicate_names({l.pat.get()});
  out.value = exp(*l.value);
  for (const auto& name : l.sizes) {
    out.sizes.push_back(new_var(name));
    local_value(name, out.sizes.back(), i64_);
  }
  out.pat = pat(*l.pat, out.value->type);
  out.body = exp(*l.body, expected);
  fn_->locals.resize(mark);
  TypePtr type = hide(out.body->type, start);
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
  local_value(l.name, v, t);
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

// The type of the loop's variables: that of the initial values with every size made flexible.
// `sizes` gets these sizes and what they are at the start.
TypePtr Checker::loop_type(const TypePtr& type, std::vector<std::pair<VarId, Size>>& sizes) {
  TypePtr t = resolve(type);
  return std::visit(
      Overloaded{[&](const core::TArray& a) {
                   VarId v = new_flex("d");
                   sizes.emplace_back(v, a.dim);
                   TypePtr elem = loop_type(a.elem, sizes);
                   return core::make_type(core::TArray{Size::of_var(v), elem}, t->unique);
                 },
                 [&](const core::TRecord& r) {
                   core::TRecord out;
                   for (const auto& [name, f] : r.fields) {
                     out.fields.emplace_back(name, loop_type(f, sizes));
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const core::TAbstract& a) {
                   core::TAbstract out{a.id, {}};
                   for (const auto& arg : a.args) {
                     if (const auto* x = std::get_if<TypePtr>(&arg)) {
                       out.args.emplace_back(loop_type(*x, sizes));
                     } else {
                       VarId v = new_flex("d");
                       sizes.emplace_back(v, std::get<Size>(arg));
                       out.args.emplace_back(Size::of_var(v));
                     }
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const auto&) { return t; }},
      t->node);
}

// After the body: a size that the body gives back unchanged (or that was pinned) stays what it
// was at the start; the others may change from one iteration to the next. Walks the pattern's and
// the body's type in step, in the order of loop_type.
void Checker::loop_sizes(const TypePtr& pattern, const TypePtr& body,
                         std::vector<std::pair<VarId, Size>>& sizes, std::vector<VarId>& varying) {
  TypePtr p = resolve(pattern), b = resolve(body);
  auto one = [&](const Size& ps, const Size& bs) {
    Size now = resolve(ps), then = resolve(bs);
    if (now.kind != Size::kVar || !vars_[now.var.index].flex) return;
    auto it =
        std::find_if(sizes.begin(), sizes.end(), [&](const auto& s) { return s.first == now.var; });
    if (it == sizes.end()) return;
    Size start = resolve(it->second);
    const bool unknown =
        then.kind == Size::kAny || (then.kind == Size::kVar && vars_[then.var.index].flex);
    if (core::same_size(now, then) || core::same_size(start, then) || unknown) return;
    varying.push_back(now.var);
  };
  if (p->node.index() != b->node.index()) return;
  if (const auto* pa = std::get_if<core::TArray>(&p->node)) {
    const auto& ba = std::get<core::TArray>(b->node);
    one(pa->dim, ba.dim);
    loop_sizes(pa->elem, ba.elem, sizes, varying);
  } else if (const auto* pr = std::get_if<core::TRecord>(&p->node)) {
    const auto& br = std::get<core::TRecord>(b->node);
    for (size_t i = 0; i < pr->fields.size() && i < br.fields.size(); i++) {
      loop_sizes(pr->fields[i].second, br.fields[i].second, sizes, varying);
    }
  } else if (const auto* pt = std::get_if<core::TAbstract>(&p->node)) {
    const auto& bt = std::get<core::TAbstract>(b->node);
    for (size_t i = 0; i < pt->args.size() && i < bt.args.size(); i++) {
      if (const auto* ps = std::get_if<Size>(&pt->args[i])) one(*ps, std::get<Size>(bt.args[i]));
    }
  }
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
  out.pat = pat(*l.pat, type);
  type = out.pat->type;
  if (l.form == syntax::ELoop::kFor) {
    out.index = new_var(l.index);
    local_value(l.index, out.index, index_type);
  } else if (l.form == syntax::ELoop::kForIn) {
    out.elem_pat = pat(*l.elem_pat, elem_type);
  } else {
    out.bound = check(*l.bound, bool_, "Condition must have type bool.");
  }
  out.body = exp(*l.body, type);
  fn_->locals.resize(mark);
  if (failed()) return bad_exp(range);
  // Compare without solving sizes of the pattern: first see which of them change.
  std::vector<VarId> varying;
  std::vector<std::pair<VarId, Size>> unused;
  TypePtr shape_free = loop_type(type, unused);
  unify_or_error(shape_free, out.body->type, l.body->range,
                 "Loop body does not have expected type.");
  if (failed()) return bad_exp(range);
  loop_sizes(type, out.body->type, sizes, varying);
  for (const auto& [v, start] : sizes) {
    if (vars_[v.index].solved) continue;
    if (std::find(varying.begin(), varying.end(), v) != varying.end()) {
      vars_[v.index].flex = false;
      out.sizes.push_back(v);
    } else {
      unify_size(Size::of_var(v), start);
    }
  }
  unify_or_error(type, out.init->type, range, "Initial loop values do not have expected type.");
  unify_or_error(type, out.body->type, l.body->range, "Loop body does not have expected type.");
  return make(range, core::with_unique(type, false), std::move(out));
}

}  // namespace kenaz::check
