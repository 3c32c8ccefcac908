// Applications, operators, sections, lambdas.
#include <algorithm>

#include "kernels/futhark/check/defs.h"
#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/core/uniqueness.h"
#include "kernels/futhark/syntax/bindings.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TArrow;

// ---- application

// Can this argument, which is no i64, stand in a size expression?
bool Expressions::simple_arg(const ExpPtr& e) {
  const auto* v = std::get_if<core::EVar>(&e->node);
  if (v) return v->targs.empty() && v->sargs.empty() && !vars_.contains_meta(e->type);
  return core::as_prim(vars_.resolve(e->type)) && sizes_.simple_size(e, 0);
}

TypePtr Expressions::apply_type(const TArrow& arrow, const ExpPtr& arg, const std::string& fun) {
  TypePtr to = vars_.zonk(arrow.to, Zonk::kKeep);
  core::Subst subst;
  for (VarId v : arrow.ext) {
    const VarId fresh = vars_.new_var(vars_.name(v));
    vars_[fresh].vague = vars_[v].dependent;
    vars_[fresh].origin = "unknown size returned" + (fun.empty() ? "" : " by \"" + fun + "\"");
    vars_[fresh].range = arg->range;
    subst.sizes[v] = Size::of_var(fresh);
  }
  if (arrow.param.valid() && core::is_prim(vars_.resolve(arrow.from), PrimType::kI64)) {
    subst.sizes[arrow.param] = sizes_.size_of(arg);
    to = core::substitute(to, subst);
  } else if (arrow.param.valid() && simple_arg(arg)) {  // [i64.i32 n]
    subst.sizes[arrow.param] = Size::of_exp(sizes_.clean_size(arg));
    to = core::substitute(to, subst);
  } else if (arrow.param.valid()) {  // [r.n]: a size that depends on a part of the argument
    const uint32_t start = vars_.next_var();
    const bool comparable = Sizes::comparable_size(arg);
    subst.sizes[arrow.param] = comparable ? sizes_.name_for(arg) : Size::of_var(vars_.new_var("d"));
    to = existentials_.hide(core::substitute(to, subst), start);
  } else {
    to = core::substitute(to, subst);
  }
  return vars_.map_dims(to, [&](const Size& s) {
    if (s.kind != Size::kExp || core::size_nodes(s.exp, kMaxSizeNodes) < kMaxSizeNodes) return s;
    return Size::of_var(vars_.new_var("d"));
  });
}

// What to say when the application of a function being defined, within itself, does not fit: many
// programs mean an outer function of that name, as Futhark did before 0.27.
std::string Expressions::self_hint(const ExpPtr& fun) {
  const auto& uses = fn_->self_uses;
  const auto* v = std::get_if<core::EVar>(&fun->node);
  if (v == nullptr || std::find(uses.begin(), uses.end(), fun) == uses.end()) return "";
  return "\nHint: \"" + vars_.name(v->id) +
         "\" is this definition itself here, not an outer one with the same name.";
}

ExpPtr Expressions::apply(ExpPtr fun, const std::string& fun_text, const std::vector<Arg>& args,
                          const SourceRange& range) {
  TypePtr type = fun->type;
  core::EApply node{fun, {}};
  for (size_t i = 0; i < args.size(); i++) {
    if (reports_.failed()) return bad_exp(range);
    type = vars_.resolve(type);
    if (std::holds_alternative<core::TMeta>(type->node)) {
      TypePtr arrow = core::make_type(TArrow{{}, false, vars_.new_meta(), {}, vars_.new_meta()});
      infer_.unify_or_error(type, arrow, range, "Cannot apply \"" + fun_text + "\" as a function.");
      type = arrow;
    }
    const auto* arrow = std::get_if<TArrow>(&type->node);
    if (!arrow) {
      const bool named = std::holds_alternative<core::EVar>(fun->node) ||
                         std::holds_alternative<core::EIntrinsic>(fun->node);
      reports_.error(range, "Cannot apply " + (named ? "" : std::string("expression ")) +
                                (named ? "\"" + fun_text + "\" as function, as it "
                                       : "as function, as \"" + fun_text + "\" ") +
                                (i ? "takes only " + std::to_string(i) + " arguments"
                                   : "has type:\n" + infer_.type_text(type)) +
                                "." + self_hint(fun));
      return bad_exp(range);
    }
    const TypePtr hold = type;  // keeps *arrow alive
    ExpPtr arg = args[i].ready ? args[i].ready : exp(*args[i].source, arrow->from);
    if (reports_.failed()) return bad_exp(range);
    if (!infer_.unify(arrow->from, arg->type)) {
      const syntax::Exp* source = args[i].source;
      std::string arg_text = source ? syntax::pretty(*source) : "argument";
      const bool section = std::holds_alternative<core::ELambda>(fun->node);
      reports_.error(
          source ? source->range : arg->range,
          "Cannot apply " + std::string(section ? "function " : "") + "\"" + fun_text + "\" to \"" +
              arg_text + "\" (invalid type)." + comparing_.mismatch.str() +
              compared(infer_.type_text(arrow->from), infer_.type_text(arg->type)) +
              self_hint(fun) +
              (source ? hints_.suggest_argument(fun_text, arrow->from, arg->type, *source,
                                                i + 1 < args.size() ? args[i + 1].source : nullptr)
                      : ""),
          comparing_.mismatch.anchor);
      return bad_exp(range);
    }
    if (args[i].source && arrow->param.valid() && core::mentions_size(arrow->to, arrow->param) &&
        syntax::binds_names(*args[i].source)) {
      reports_.warn(Warning::kSizeBinding, args[i].source->range);
    }
    type = apply_type(*arrow, arg, fun_text);
    node.args.push_back(std::move(arg));
  }
  const std::string last =
      args.empty() || !args.back().source ? "" : syntax::pretty(*args.back().source);
  type = existentials_.release_absorbed(type, range,
                                        "Cannot apply \"" + fun_text + "\" to \"" + last + "\".\n");
  auto open = fn_->results_of_any_size.find(fun.get());
  if (open != fn_->results_of_any_size.end() && open->second == args.size()) {
    type = vars_.map_dims(type, [&](const Size&) { return Size::of_var(vars_.new_var("d")); });
  }
  return make(range, type, std::move(node));
}

// Plain && and ||, evaluated from left to right only as far as needed.
bool Expressions::is_logical(const syntax::QualName& op) {
  if (!op.quals.empty() || (op.name != "&&" && op.name != "||")) return false;
  size_t used = 0;
  return naming_.find_value(op, &used) == nullptr;
}

ExpPtr Expressions::logical(bool is_and, ExpPtr a, ExpPtr b, const SourceRange& range) {
  auto constant = make(range, bool_, core::ELit{PrimValue::of_bool(!is_and)});
  if (is_and) return make(range, bool_, core::EIf{a, b, constant});
  return make(range, bool_, core::EIf{a, constant, b});
}

ExpPtr Expressions::binary(const syntax::EBinOp& b, const SourceRange& range) {
  if (is_logical(b.op)) {
    const std::string what = "Cannot apply \"" + b.op.name + "\" to this value (invalid type).";
    ExpPtr lhs = check(*b.lhs, bool_, what);
    ExpPtr rhs = check(*b.rhs, bool_, what);
    return logical(b.op.name == "&&", lhs, rhs, range);
  }
  ExpPtr fun = variable(b.op, b.op.range.file ? b.op.range : range);
  ExpPtr e = apply(fun, b.op.name, {{b.lhs.get(), nullptr}, {b.rhs.get(), nullptr}}, range);
  const auto* intrinsic = std::get_if<core::EIntrinsic>(&fun->node);
  if (intrinsic && intrinsic->op == core::Intrinsic::kEq) fn_->equalities.push_back(e);
  return e;
}

// ---- functions

ExpPtr Expressions::lambda(const syntax::ELambda& l, const SourceRange& range,
                           const TypePtr& expected) {
  if (l.params.size() > kMaxParams) {
    reports_.error(range,
                   "A function can have at most " + std::to_string(kMaxParams) + " parameters.");
    return bad_exp(range);
  }
  const uint32_t start = vars_.next_var();
  const size_t mark = fn_->here.locals.size();
  std::vector<const syntax::Pat*> sources;
  for (const auto& p : l.params) sources.push_back(p.get());
  patterns_.check_duplicate_names(sources);
  core::ELambda out;
  TypePtr hint = expected;
  const int outer_level = vars_.level()++;
  for (const auto& p : l.params) {
    TypePtr from = vars_.new_meta(), to;
    if (hint) {
      hint = vars_.resolve(hint);
      if (const auto* a = std::get_if<TArrow>(&hint->node)) {
        from = core::without_unique(a->from);
        to = a->to;
        // Sizes that the expected result existentially has are no names here.
        if (a->param.valid() || !a->ext.empty()) to = nullptr;
      }
    }
    out.params.push_back(patterns_.pat(*p, from));
    fn_->whole.push_back(out.params.back());
    vars_.level()++;
    hint = to;
  }
  std::vector<VarId> ext;
  if (l.ret) {
    TypeSizes sizes;
    TypePtr ret = types_.type_exp(*l.ret, sizes);
    for (VarId v : sizes.universals) vars_[v].flex = true;
    for (VarId v : sizes.ext) vars_[v].flex = true;
    out.body = check(*l.body, ret, "Function body does not have expected type.");
    out.result_declared = true;
    hint = existentials_.settle_result(ret, sizes.ext, false);
    ext = sizes.ext;
  } else {
    out.body = exp(*l.body, hint);
    hint = core::without_unique(out.body->type);  // `*` is to be written, if it is to count
  }
  vars_.level() = outer_level;
  fn_->here.locals.resize(mark);
  TypePtr type = existentials_.arrow_type(out.params, hint, start, ext);
  return make(range, type, std::move(out));
}

// ---- sections

ExpPtr Expressions::share(ExpPtr e, std::vector<Let>& lets) {
  if (std::holds_alternative<core::EVar>(e->node) || std::holds_alternative<core::ELit>(e->node)) {
    return e;
  }
  VarId v = vars_.new_var("tmp");
  TypePtr t = core::with_unique(e->type, false);
  lets.push_back({patterns_.make_pat(e->range, t, core::PBind{v}), e});
  return make(e->range, t, core::EVar{v, {}, {}});
}

ExpPtr Expressions::wrap(std::vector<Let>& lets, ExpPtr body) {
  for (size_t i = lets.size(); i-- > 0;) {
    body = make(body->range, body->type, core::ELet{{}, lets[i].pat, lets[i].value, body});
  }
  return body;
}

ExpPtr Expressions::op_section(const syntax::EOpSection& s, const SourceRange& range) {
  if (!is_logical(s.op)) return variable(s.op, range);
  core::ELambda out;
  std::vector<ExpPtr> operands;
  for (const char* name : {"x", "y"}) {
    VarId v = vars_.new_var(name);
    out.params.push_back(patterns_.make_pat(range, bool_, core::PBind{v}));
    operands.push_back(make(range, bool_, core::EVar{v, {}, {}}));
  }
  out.body = logical(s.op.name == "&&", operands[0], operands[1], range);
  TypePtr type = existentials_.arrow_type(out.params, bool_, vars_.next_var(), {});
  return make(range, type, std::move(out));
}

ExpPtr Expressions::op_section_left(const syntax::EOpSectionLeft& s, const SourceRange& range) {
  if (!is_logical(s.op)) {  // (x +) is + applied to its first operand only
    ExpPtr op = variable(s.op, range);
    const uint32_t start = vars_.next_var();
    ExpPtr e = apply(op, s.op.name, {{s.operand.get(), nullptr}}, range);
    fn_->sections.push_back({op, start, vars_.next_var()});
    return e;
  }
  std::vector<Let> lets;
  ExpPtr x = share(check(*s.operand, bool_, "Operand of a section has the wrong type."), lets);
  VarId v = vars_.new_var("y");
  core::ELambda out;
  out.params.push_back(patterns_.make_pat(range, bool_, core::PBind{v}));
  out.body = logical(s.op.name == "&&", x, make(range, bool_, core::EVar{v, {}, {}}), range);
  TypePtr type = existentials_.arrow_type(out.params, bool_, vars_.next_var(), {});
  return wrap(lets, make(range, type, std::move(out)));
}

ExpPtr Expressions::op_section_right(const syntax::EOpSectionRight& s, const SourceRange& range) {
  std::vector<Let> lets;
  core::ELambda out;
  if (is_logical(s.op)) {
    ExpPtr y = share(check(*s.operand, bool_, "Operand of a section has the wrong type."), lets);
    VarId v = vars_.new_var("x");
    out.params.push_back(patterns_.make_pat(range, bool_, core::PBind{v}));
    out.body = logical(s.op.name == "&&", make(range, bool_, core::EVar{v, {}, {}}), y, range);
    TypePtr type = existentials_.arrow_type(out.params, bool_, vars_.next_var(), {});
    return wrap(lets, make(range, type, std::move(out)));
  }
  ExpPtr op = variable(s.op, range);
  // The operand's type is the operator's second parameter's: known before the first.
  TypePtr first = vars_.new_meta(), second = vars_.new_meta();
  TypePtr t = vars_.resolve(op->type);
  if (const auto* a = std::get_if<TArrow>(&t->node)) {
    first = a->from;
    TypePtr rest = vars_.resolve(a->to);
    if (const auto* b = std::get_if<TArrow>(&rest->node)) second = b->from;
  }
  const uint32_t before = vars_.next_var();
  ExpPtr y = check(*s.operand, second,
                   "Cannot apply \"" + s.op.name + "\" to \"" + syntax::pretty(*s.operand) +
                       "\" (invalid type).");
  if (reports_.failed()) return bad_exp(range);
  fn_->sections.push_back({op, before, vars_.next_var()});
  y = share(y, lets);
  const uint32_t start = vars_.next_var();
  VarId v = vars_.new_var("x");
  first = core::with_unique(first, false);
  out.params.push_back(patterns_.make_pat(range, first, core::PBind{v}));
  ExpPtr x = make(range, first, core::EVar{v, {}, {}});
  out.body = apply(op, s.op.name, {{nullptr, x}, {nullptr, y}}, range);
  TypePtr type = existentials_.arrow_type(out.params, out.body->type, start, {});
  return wrap(lets, make(range, type, std::move(out)));
}

// (.a.b), (.[i, 2:3].x)
ExpPtr Expressions::path_section(const syntax::EPathSection& s, const SourceRange& range,
                                 const TypePtr& expected) {
  TypePtr from = vars_.new_meta();
  if (expected) {
    TypePtr known = vars_.resolve(expected);
    if (const auto* a = std::get_if<TArrow>(&known->node)) {
      from = core::with_unique(a->from, false);
    }
  }
  std::vector<Let> lets;
  std::vector<Arrays::Step> steps = arrays_.path_steps(s.path, true, lets);
  const uint32_t start = vars_.next_var();
  core::ELambda out;
  VarId v = vars_.new_var("x");
  out.params.push_back(patterns_.make_pat(range, from, core::PBind{v}));
  ExpPtr e = make(range, from, core::EVar{v, {}, {}});
  for (auto& step : steps) {
    e = step.is_field ? project(e, step.field, range) : arrays_.index(e, step.dims, range);
  }
  out.body = e;
  TypePtr type = existentials_.arrow_type(out.params, e->type, start, {});
  return wrap(lets, make(range, type, std::move(out)));
}

}  // namespace kenaz::check
