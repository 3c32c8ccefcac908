// Expressions: the dispatcher, literals, variables, records, arrays, constructors.
#include <algorithm>
#include <set>

#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/check/warn.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

ExpPtr Expressions::exp(const syntax::Exp& e, const TypePtr& expected) {
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(e.range, "This expression is nested too deeply.");
  if (stop_.stop_requested()) reports_.error(e.range, "The check was cancelled.");
  if (reports_.failed()) return bad_exp(e.range);
  fn_->starts.push_back(vars_.next_var());
  ExpPtr result = exp_node(e, expected);
  fn_->starts.pop_back();
  return result;
}

ExpPtr Expressions::check(const syntax::Exp& e, const TypePtr& expected, const std::string& what) {
  ExpPtr x = exp(e, expected);
  expect(expected, x->type, e, what);
  return x;
}

bool Expressions::expect(const TypePtr& expected, const TypePtr& actual, const syntax::Exp& source,
                         const std::string& what) {
  if (reports_.failed()) return false;
  if (infer_.unify(expected, actual)) return true;
  const std::string message = what + infer_.difference(expected, actual) +
                              hints_.suggest_value_of_type(expected, actual, source);
  reports_.error(source.range, message, comparing_.mismatch.anchor);
  return false;
}

ExpPtr Expressions::exp_node(const syntax::Exp& e, const TypePtr& expected) {
  const SourceRange& r = e.range;
  return std::visit(
      Overloaded{
          [&](const syntax::ELiteral& x) { return literal(x.value, r); },
          [&](const syntax::EString& x) -> ExpPtr {
            const auto n = static_cast<int64_t>(x.value.utf8.size());
            return make(r, core::array_type(Size::of_const(n), core::prim_type(PrimType::kU8)),
                        core::EString{x.value.utf8});
          },
          [&](const syntax::EVar& x) { return variable(x.name, r); },
          [&](const syntax::EHole&) -> ExpPtr { return make(r, vars_.new_meta(), core::EHole{}); },
          [&](const syntax::EParens& x) { return exp(*x.inner, expected); },
          [&](const syntax::EQualParens& x) { return qualified(x, expected); },
          [&](const syntax::ETuple& x) -> ExpPtr {
            TypePtr known = expected ? vars_.resolve(expected) : nullptr;
            const auto* target = known ? std::get_if<core::TRecord>(&known->node) : nullptr;
            core::ERecord out;
            std::vector<TypePtr> types;
            for (size_t i = 0; i < x.elems.size(); i++) {
              TypePtr hint;
              if (target && i < target->fields.size()) hint = target->fields[i].second;
              out.fields.emplace_back(std::to_string(i), exp(*x.elems[i], hint));
              types.push_back(core::with_unique(out.fields.back().second->type, false));
            }
            return make(r, core::tuple_type(std::move(types)), std::move(out));
          },
          [&](const syntax::ERecord& x) { return record(x, r, expected); },
          [&](const syntax::EArray& x) { return array(x, r, expected); },
          [&](const syntax::EProject& x) { return project(exp(*x.record), x.field, r); },
          [&](const syntax::EIndex& x) {
            ExpPtr a = exp(*x.array);
            warn_of_slices(reports_, x.slice);
            return arrays_.index(a, arrays_.dim_indexes(x.slice), r);
          },
          [&](const syntax::EConstr& x) { return constructor(x, r, expected); },
          [&](const syntax::ENegate& x) -> ExpPtr {
            if (const auto* l = std::get_if<syntax::ELiteral>(&x.operand->node)) {
              return literal(l->value, r, true);
            }
            TypePtr t = vars_.new_meta(kMaskNum);
            ExpPtr operand = check(*x.operand, t, "Cannot negate this value.");
            auto fun = make(r, core::make_type(core::TArrow{{}, false, t, {}, t}),
                            core::EIntrinsic{core::Intrinsic::kNeg, {t}, {}});
            return make(r, t, core::EApply{fun, {operand}});
          },
          [&](const syntax::ENot& x) -> ExpPtr {
            TypePtr t = vars_.new_meta(kMaskIntBool);
            ExpPtr operand = check(*x.operand, t, "Cannot apply \"!\" to this value.");
            auto fun = make(r, core::make_type(core::TArrow{{}, false, t, {}, t}),
                            core::EIntrinsic{core::Intrinsic::kNot, {t}, {}});
            return make(r, t, core::EApply{fun, {operand}});
          },
          [&](const syntax::EBinOp& x) { return binary(x, r); },
          [&](const syntax::EApply& x) {
            ExpPtr fun = exp(*x.fun);
            std::vector<Arg> args;
            for (const auto& a : x.args) args.push_back({a.get(), nullptr});
            return apply(fun, syntax::pretty(*x.fun), args, r);
          },
          [&](const syntax::ELambda& x) { return lambda(x, r, expected); },
          [&](const syntax::EIf& x) { return if_exp(x, r, expected); },
          [&](const syntax::EMatch& x) { return match(x, r, expected); },
          [&](const syntax::ELoop& x) { return loop(x, r); },
          [&](const syntax::ELet& x) { return let(x, r, expected); },
          [&](const syntax::ELetFun& x) { return let_fun(x, r, expected); },
          [&](const syntax::ELetWith& x) { return let_with(x, r, expected); },
          [&](const syntax::EUpdate& x) {
            return arrays_.update_path(exp(*x.source), x.path, *x.value, r);
          },
          [&](const syntax::ERange& x) { return arrays_.range_exp(x, r); },
          [&](const syntax::EAscript& x) {
            TypePtr t = types_.param_type(*x.type);
            return check(*x.inner, t,
                         "Expression does not have expected type from its ascription.");
          },
          [&](const syntax::ECoerce& x) { return coerce(x, r); },
          [&](const syntax::EAssert& x) -> ExpPtr {
            ExpPtr cond = check(*x.cond, bool_, "An assertion must have type bool.");
            ExpPtr body = exp(*x.body, expected);
            return make(r, body->type, core::EAssert{cond, body, syntax::pretty(*x.cond)});
          },
          [&](const syntax::EAttr& x) -> ExpPtr {
            const std::string& name = x.attr.name;
            if (name == "trace" || name == "break") {
              reports_.warn(Warning::kSilentAttribute, x.attr.range, name);
              return exp(*x.inner, expected);
            }
            ExpPtr inner = exp(*x.inner, expected);
            return make(r, inner->type, core::EAttr{core_attr(x.attr), inner});
          },
          [&](const syntax::EOpSection& x) { return op_section(x, r); },
          [&](const syntax::EOpSectionLeft& x) { return op_section_left(x, r); },
          [&](const syntax::EOpSectionRight& x) { return op_section_right(x, r); },
          [&](const syntax::EPathSection& x) { return path_section(x, r, expected); }},
      e.node);
}

core::Attr core_attr(const syntax::Attr& a) {
  core::Attr out{a.name, {}};
  for (const auto& arg : a.args) out.args.push_back(core_attr(arg));
  return out;
}

// Literals without a suffix keep a placeholder (bits of a 64-bit integer, or a f64) until their
// type is known: see finish_literal.
ExpPtr Expressions::literal(const syntax::Literal& l, const SourceRange& range, bool negative) {
  auto integer = [&](uint64_t magnitude) -> ExpPtr {
    const uint64_t bits = negative ? uint64_t{0} - magnitude : magnitude;
    auto e = make(range, vars_.new_meta(kMaskNum), core::ELit{PrimValue{PrimType::kI64, bits}});
    fn_->exps.back().kind = PendingExp::kIntLit;
    fn_->exps.back().negative = negative;
    return e;
  };
  if (const auto* i = std::get_if<syntax::IntLit>(&l)) return integer(i->value);
  if (const auto* c = std::get_if<syntax::CharLit>(&l)) return integer(c->code_point);
  if (const auto* f = std::get_if<syntax::FloatLit>(&l)) {
    auto e = make(range, vars_.new_meta(kMaskFloat),
                  core::ELit{PrimValue::f64(negative ? -f->value : f->value)});
    fn_->exps.back().kind = PendingExp::kIntLit;
    return e;
  }
  PrimValue v = std::get<syntax::PrimLit>(l).value;
  if (negative) {
    if (is_float(v.type)) {
      v = PrimValue::of_float(v.type, -v.as_double());
    } else if (is_integer(v.type)) {
      v = PrimValue::of_int(v.type, static_cast<int64_t>(uint64_t{0} - v.bits));
    } else {
      reports_.error(range, "Cannot negate a value of type bool.");
    }
  }
  return make(range, core::prim_type(v.type), core::ELit{v});
}

// The number of parameters of a function whose result is of a size-lifted type ('~a): the result of
// one call need not have the sizes of another's. 0 for other types.
size_t Expressions::result_of_any_size(const TypePtr& type) const {
  size_t arity = 0;
  const core::Type* t = type.get();
  for (; const auto* a = std::get_if<core::TArrow>(&t->node); t = a->to.get()) arity++;
  const auto* p = std::get_if<core::TParam>(&t->node);
  return p && vars_.lifted(p->id) == syntax::Liftedness::kSizeLifted ? arity : 0;
}

ExpPtr Expressions::use(ValBinding& v, const SourceRange& range) {
  lookup_.force(v);
  lookup_.sound(&v);
  if (reports_.failed()) return bad_exp(range);
  core::Subst subst;
  std::vector<TypePtr> targs;
  std::vector<Size> sargs;
  for (TyVarId t : v.scheme.tparams) {
    const TypeMask mask = v.is_intrinsic && targs.empty() ? v.mask : kMaskAny;
    const bool regular = vars_.lifted(t) == syntax::Liftedness::kUnlifted;
    targs.push_back(vars_.new_meta(mask & vars_.instance_mask(t), regular));
    subst.types[t] = targs.back();
  }
  for (VarId s : v.scheme.sparams) {
    sargs.push_back(Size::of_var(vars_.new_flex(vars_.name(s))));
    vars_.determine(sargs.back().var, OpenSize::kInstance, range, v.var);
    subst.sizes[s] = sargs.back();
  }
  TypePtr type = core::substitute(v.scheme.type, subst);
  if (v.narrowed) {
    targs.clear();
    sargs.clear();
    for (const auto& t : v.targs) targs.push_back(core::substitute(t, subst));
    for (const auto& s : v.sargs) sargs.push_back(core::substitute(s, subst));
  }
  if (v.is_intrinsic) {
    return make(range, type, core::EIntrinsic{v.op, std::move(targs), std::move(sargs)});
  }
  std::vector<size_t> sizeless;
  for (size_t i = 0; i < targs.size(); i++) {
    core::TyVarId param;
    if (!v.narrowed) {
      param = v.scheme.tparams[i];
    } else if (const auto* p = std::get_if<core::TParam>(&v.targs[i]->node)) {
      param = p->id;
    }
    if (param.valid() && vars_.lifted(param) != syntax::Liftedness::kUnlifted) {
      sizeless.push_back(i);
    }
  }
  auto e = make(range, type, core::EVar{v.var, std::move(targs), std::move(sargs), v.narrowed});
  fn_->exps.back().sizeless = std::move(sizeless);
  const size_t arity = result_of_any_size(v.scheme.type);
  if (arity > 0) fn_->results_of_any_size.emplace(e.get(), arity);
  if (v.is_self) fn_->self_uses.push_back(e);
  return e;
}

ExpPtr Expressions::variable(const syntax::QualName& name, const SourceRange& range) {
  size_t used = 0;
  ValBinding* v = naming_.find_value(name, &used);
  auto word = [&](size_t i) { return i < name.quals.size() ? name.quals[i] : name.name; };
  if (!v) {
    lookup_.unknown();
    std::string full;
    for (const std::string& q : name.quals) full += q + ".";
    const size_t quals = name.quals.size();
    if (quals > 0 && lookup_.module_of(name.quals, quals) != nullptr) used = quals + 1;
    reports_.error(range,
                   "Unknown name \"" + full + name.name + "\"." + hints_.suggest_value(name, used));
    return bad_exp(range);
  }
  if (used == 1 && word(0).size() > 1 && word(0)[0] == '_') {
    reports_.error(range, "Use of \"" + word(0) +
                              "\": variables prefixed with underscore may not be accessed.");
  }
  if (v->is_intrinsic && used > 1 && word(used - 2) == "intrinsics") {
    reports_.warn(Warning::kIntrinsic, range);
  }
  ExpPtr e = use(*v, range);
  std::string value = word(0);
  for (size_t i = 1; i < used; i++) value += "." + word(i);
  for (size_t i = used; i <= name.quals.size(); i++) {
    const TypePtr type = e->type;
    const bool first = !reports_.failed();
    e = project(e, word(i), range);
    if (Diagnostic* made = first ? reports_.current() : nullptr) {
      made->message += hints_.suggest_function(word(i), type, value);
    }
    value += "." + word(i);
  }
  return e;
}

ExpPtr Expressions::qualified(const syntax::EQualParens& q, const TypePtr& expected) {
  const Mod* m = find_mod(q.module);
  if (!m || !m->env) {
    if (m) reports_.error(q.module.range, "Module \"" + q.module.name + "\" is parametric.");
    return bad_exp(q.module.range);
  }
  fn_->here.locals.push_back({"", nullptr, nullptr, m->env});
  const size_t mark = fn_->here.locals.size();
  ExpPtr e = exp(*q.inner, expected);
  fn_->here.locals.resize(mark - 1);
  return e;
}

ExpPtr Expressions::project(ExpPtr record, const std::string& field, const SourceRange& range) {
  TypePtr t = infer_.field_of(record->type, field, range);
  return make(range, core::with_unique(t, false), core::EProject{std::move(record), field});
}

ExpPtr Expressions::record(const syntax::ERecord& r, const SourceRange& range,
                           const TypePtr& expected) {
  TypePtr known = expected ? vars_.resolve(expected) : nullptr;
  const auto* target = known ? std::get_if<core::TRecord>(&known->node) : nullptr;
  core::ERecord out;
  std::vector<std::pair<std::string, TypePtr>> types;
  std::set<std::string> names;
  for (const auto& f : r.fields) {
    TypePtr hint;
    if (target) {
      for (const auto& t : target->fields) {
        if (t.first == f.name) hint = t.second;
      }
    }
    if (!names.insert(f.name).second) {
      reports_.error(f.range,
                     "Field \"" + f.name + "\" previously defined at " + range.str() + ".");
    }
    ExpPtr value =
        f.value ? exp(*f.value, hint) : variable(syntax::QualName{{}, f.name, f.range}, f.range);
    types.emplace_back(f.name, core::with_unique(value->type, false));
    out.fields.emplace_back(f.name, value);
  }
  return make(range, core::record_type(std::move(types)), std::move(out));
}

ExpPtr Expressions::array(const syntax::EArray& a, const SourceRange& range,
                          const TypePtr& expected) {
  TypePtr elem;
  if (expected) {
    TypePtr known = vars_.resolve(expected);
    if (const auto* t = std::get_if<core::TArray>(&known->node)) elem = t->elem;
  }
  core::EArray out;
  TypePtr type;
  for (const auto& e : a.elems) {
    ExpPtr x = exp(*e, type ? type : elem);
    if (type) {
      infer_.unify_or_error(type, x->type, e->range, "Array elements differ in type.");
    } else {
      type = core::with_unique(x->type, false);
    }
    out.elems.push_back(x);
  }
  if (!type) type = vars_.new_meta();
  comparing_.mismatch = {};
  if (!reports_.failed() && !infer_.constrain(type, kMaskElement)) {
    reports_.error(range, "Cannot make an array of values of type " + infer_.type_text(type) + "." +
                              comparing_.mismatch.str());
  }
  const auto n = static_cast<int64_t>(a.elems.size());
  return make(range, core::array_type(Size::of_const(n), type), std::move(out));
}

ExpPtr Expressions::constructor(const syntax::EConstr& c, const SourceRange& range,
                                const TypePtr& expected) {
  TypePtr type = expected ? expected : vars_.new_meta();
  TypePtr known = vars_.resolve(type);
  std::vector<TypePtr> hints(c.args.size());
  if (const auto* s = std::get_if<core::TSum>(&known->node)) {
    for (const auto& [name, types] : s->constructors) {
      if (name == c.name && types.size() == hints.size()) hints = types;
    }
  } else if (!std::holds_alternative<core::TMeta>(known->node)) {
    type = vars_.new_meta();
  }
  std::vector<ExpPtr> args;
  std::vector<TypePtr> payload;
  for (size_t i = 0; i < c.args.size(); i++) {
    args.push_back(exp(*c.args[i], hints[i]));
    payload.push_back(core::with_unique(args.back()->type, false));
  }
  comparing_.mismatch = {};
  if (!reports_.failed() && !infer_.has_constructor(type, c.name, payload, range)) {
    reports_.error(range, infer_.constructor_error(type, c.name, payload));
  }
  return make(range, core::with_unique(type, false), core::EConstr{c.name, std::move(args)});
}

}  // namespace kenaz::check
