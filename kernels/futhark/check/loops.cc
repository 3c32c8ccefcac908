// Loops.
#include <algorithm>
#include <limits>

#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/check/loop_sizes.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

// `loop (x, y) for ..`: the pattern's own variables are the initial values.
ExpPtr Expressions::loop_init(const syntax::Pat& p) {
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
                   reports_.error(p.range,
                                  "A loop whose pattern has parts without a name needs initial "
                                  "values.");
                   return bad_exp(p.range);
                 }},
      p.node);
}

ExpPtr Expressions::loop(const syntax::ELoop& l, const SourceRange& range) {
  core::ELoop out;
  const size_t mark = fn_->here.locals.size();
  out.init = l.init ? exp(*l.init) : loop_init(*l.pat);
  if (reports_.failed()) return bad_exp(range);
  TypePtr index_type, elem_type;
  static_assert(int{core::ELoop::kForIn} == syntax::ELoop::kForIn &&
                int{core::ELoop::kWhile} == syntax::ELoop::kWhile);
  out.form = static_cast<core::ELoop::Form>(l.form);
  if (l.form == syntax::ELoop::kFor) {
    index_type = vars_.new_meta(kMaskInt);
    out.bound = check(*l.bound, index_type, "A loop bound must be an integer.");
  } else if (l.form == syntax::ELoop::kForIn) {
    elem_type = vars_.new_meta();
    out.bound = check(*l.bound, core::array_type(Size::of_var(vars_.new_flex()), elem_type),
                      "A loop must iterate over an array.");
  }
  if (reports_.failed()) return bad_exp(range);
  const int level = vars_.level();
  LoopSizes loop_sizes(vars_, sizes_, reports_);
  LoopSizes::List sizes;
  TypePtr type = loop_sizes.type(out.init->type, sizes);
  patterns_.check_duplicate_names({l.pat.get()});
  vars_.level()++;
  const size_t names = fn_->here.locals.size();
  out.pat = patterns_.pat(*l.pat, type);
  const size_t names_end = fn_->here.locals.size();
  fn_->whole.push_back(out.pat);
  type = out.pat->type;
  if (!reports_.failed() && !infer_.constrain(type, kMaskData)) {
    reports_.error(l.pat->range, "A variable of a loop may not be of function type.");
  }
  if (l.form == syntax::ELoop::kFor) {
    vars_.level()++;
    out.index = vars_.new_var(l.index);
    naming_.local_value(l.index, out.index, index_type, l.index_range);
  } else if (l.form == syntax::ELoop::kForIn) {
    out.elem_pat = patterns_.pat(*l.elem_pat, elem_type);
    fn_->whole.push_back(out.elem_pat);
    vars_.level()++;
  } else {
    vars_.level()++;
    out.bound = check(*l.bound, bool_, "Condition must have type bool.");
  }
  // A name of the pattern hides that of the index or element.
  const auto local = [&](size_t at) {
    return fn_->here.locals.begin() + static_cast<std::ptrdiff_t>(at);
  };
  std::rotate(local(names), local(names_end), fn_->here.locals.end());
  out.body = exp(*l.body, type);
  vars_.level() -= 2;
  fn_->here.locals.resize(mark);
  if (reports_.failed()) return bad_exp(range);
  // Compare without sizes; then see which sizes change; then the sizes that do not.
  const char* what = "Loop body does not have expected type.";
  std::vector<core::MetaId> unknown;
  vars_.unsolved_metas(out.body->type, unknown);
  TypePtr shapeless = vars_.map_dims(type, [](const Size&) { return Size::any(); });
  infer_.unify_or_error(shapeless, out.body->type, l.body->range, what);
  if (reports_.failed()) return bad_exp(range);
  loop_sizes.open(unknown, range);
  out.sizes = loop_sizes.varying(type, out.body->type, sizes, range,
                                 fn_->starts.empty() ? 0 : fn_->starts.front());
  auto varied = [&](const TypePtr& t) {  // the same new size for the same one
    core::Subst subst;
    for (VarId v : out.sizes) {
      const VarId any = vars_.new_flex("d");
      vars_[any].level = std::numeric_limits<int>::max();  // whatever it is made of
      subst.sizes[v] = Size::of_var(any);
    }
    return core::substitute(vars_.zonk(t, Zonk::kKeep), subst);
  };
  infer_.unify_or_error(varied(type), out.init->type, range,
                        "Initial loop values do not have expected type.");
  infer_.unify_or_error(varied(type), out.body->type, l.body->range, what);
  // A function from outside that is applied to what the loop made takes values of any size: this
  // size is like no other, and the result has one of its own.
  core::Subst own;
  for (VarId v : out.sizes) {
    if (vars_[v].level >= level) continue;
    vars_[v].level = 0;
    const std::string origin = vars_[v].origin;
    own.sizes[v] = Size::of_var(vars_.new_unknown(origin, range));
  }
  const TypePtr result = core::substitute(vars_.zonk(type, Zonk::kKeep), own);
  return make(range, core::with_unique(result, false), std::move(out));
}

}  // namespace kenaz::check
