#include "kernels/futhark/check/type_exps.h"

#include <algorithm>
#include <map>
#include <set>

#include "protocol/base/overloaded.h"

namespace kenaz::check {

using syntax::SizeExp;
using syntax::TypeExpPtr;

TypeParams TypeExps::type_params(const std::vector<syntax::TypeParam>& params) {
  TypeParams out;
  for (const auto& p : params) {
    if (p.kind == syntax::TypeParam::kSize) {
      VarId v = vars_.new_var(p.name);
      out.sizes.push_back(v);
      out.all.emplace_back(v);
      naming_.local_value(p.name, v, core::prim_type(PrimType::kI64), p.range);
    } else {
      TyVarId t = vars_.new_tyvar(p.name, p.lifted);
      out.types.push_back(t);
      out.all.emplace_back(t);
      naming_.local_type(p.name, t, p.range);
    }
  }
  std::map<std::pair<std::string, syntax::TypeParam::Kind>, const SourceRange*> bound;
  for (const auto& p : params) {
    const auto [other, fresh] = bound.emplace(std::pair(p.name, p.kind), &p.range);
    if (fresh) continue;
    reports_.error(p.range, "Parameter \"" + p.name + "\" was previously also bound at " +
                                other->second->str() + ".");
  }
  return out;
}

Size TypeExps::size_exp(const SizeExp& s, TypeSizes& sizes) {
  if (!s.exp) {
    VarId v = vars_.new_var("d");
    sizes.ext.push_back(v);
    return Size::of_var(v);
  }
  const ExpPtr e = size_value_(*s.exp);
  if (reports_.failed()) return Size::any();
  const Size size = sizes_.declared_size(e);
  if (size.kind == Size::kVar && vars_[size.var].means.kind == Size::kExp) {
    sizes.ext.push_back(size.var);
    if (!Sizes::comparable_size(e) && !sizes.unique) sizes.unique = s.exp->range;
  }
  return size;
}

TypePtr TypeExps::param_type(const syntax::TypeExp& te) {
  TypeSizes sizes;
  TypePtr t = type_exp(te, sizes);
  for (VarId v : sizes.universals) vars_[v].of_function = true;
  for (const auto* list : {&sizes.ext, &sizes.universals}) {
    for (VarId v : *list) {
      const Size& means = vars_[v].means;
      if (means.kind == Size::kExp && !Sizes::comparable_size(means.exp)) continue;
      vars_[v].flex = true;
      vars_.determine(v, OpenSize::kAscription, te.range);
    }
  }
  return t;
}

bool TypeExps::is_lifted(const syntax::TypeExp& te, const TypePtr& type) {
  const syntax::TypeExp* head = &te;
  for (;;) {
    if (const auto* a = std::get_if<syntax::TypeApply>(&head->node)) {
      head = a->fun.get();
    } else if (const auto* p = std::get_if<syntax::TypeParens>(&head->node)) {
      head = p->inner.get();
    } else {
      break;
    }
  }
  if (const auto* v = std::get_if<syntax::TypeVar>(&head->node)) {
    const TypeBinding* b = naming_.find_type(v->name);
    if (b && b->lifted != syntax::Liftedness::kUnlifted) return true;
  }
  return vars_.liftedness(type) != syntax::Liftedness::kUnlifted;
}

TypePtr TypeExps::type_exp(const syntax::TypeExp& te, TypeSizes& sizes) {
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(te.range, "This type is nested too deeply.");
  if (reports_.failed()) return core::tuple_type({});
  return std::visit(
      Overloaded{
          [&](const syntax::TypeVar& v) { return type_name(v.name, {}, te.range, sizes); },
          [&](const syntax::TypeParens& p) { return type_exp(*p.inner, sizes); },
          [&](const syntax::TypeTuple& t) {
            std::vector<TypePtr> elems;
            for (const auto& e : t.elems) elems.push_back(type_exp(*e, sizes));
            return core::tuple_type(std::move(elems));
          },
          [&](const syntax::TypeRecord& r) {
            std::vector<std::pair<std::string, TypePtr>> fields;
            std::set<std::string> names;
            for (const auto& [name, f] : r.fields) {
              if (!names.insert(name).second) {
                reports_.error(te.range, "Duplicate record field: \"" + name + "\".");
              }
              fields.emplace_back(name, type_exp(*f, sizes));
            }
            return core::record_type(std::move(fields));
          },
          [&](const syntax::TypeArray& a) {
            Size dim = size_exp(a.size, sizes);
            TypePtr elem = type_exp(*a.elem, sizes);
            if (!reports_.failed() && is_lifted(*a.elem, elem)) {
              reports_.error(te.range, "Cannot create array with elements of lifted type \"" +
                                           syntax::pretty(*a.elem) + "\": " +
                                           (core::contains_function(elem)
                                                ? "arrays cannot have functions as elements."
                                                : "it might contain functions, or values whose "
                                                  "sizes differ."));
            }
            return core::array_type(dim, elem);
          },
          [&](const syntax::TypeApply&) { return type_apply(te, sizes); },
          [&](const syntax::TypeArrow& a) { return type_arrow(a, te.range, sizes); },
          [&](const syntax::TypeSum& s) {
            core::TSum sum;
            std::set<std::string> names;
            for (const auto& c : s.constructors) {
              std::vector<TypePtr> payload;
              for (const auto& p : c.payload) payload.push_back(type_exp(*p, sizes));
              if (!names.insert(c.name).second) {
                reports_.error(te.range, "Duplicate constructor: #" + c.name + ".");
              }
              sum.constructors.emplace_back(c.name, std::move(payload));
            }
            if (s.constructors.size() > kMaxConstructors) {
              reports_.error(te.range, "A sum type may have at most " +
                                           std::to_string(kMaxConstructors) + " constructors.");
            }
            std::sort(sum.constructors.begin(), sum.constructors.end(),
                      [](const auto& a, const auto& b) { return a.first < b.first; });
            return core::make_type(std::move(sum));
          },
          [&](const syntax::TypeUnique& u) {
            const TypePtr t = type_exp(*u.inner, sizes);
            if (!reports_.failed() && !may_contain_array(t)) {
              reports_.warn(Warning::kUniqueNoEffect, te.range, infer_.type_text(t));
            }
            return core::with_unique(t, true);
          },
          [&](const syntax::TypeExists& x) {
            const size_t mark = lookup_.here().locals.size();
            for (const auto& name : x.sizes) {
              VarId v = vars_.new_var(name);
              sizes.ext.push_back(v);
              naming_.local_value(name, v, core::prim_type(PrimType::kI64));
            }
            const std::vector<VarId> declared(sizes.ext.end() - x.sizes.size(), sizes.ext.end());
            TypePtr t = type_exp(*x.inner, sizes);
            lookup_.here().locals.resize(mark);
            std::unordered_set<VarId> given;
            core::whole_sizes(t, given);
            for (VarId v : declared) {
              if (given.count(v)) continue;
              reports_.error(te.range, "Existential size \"" + vars_.name(v) +
                                           "\" not used as array size: no array in the type itself "
                                           "has just that size.");
            }
            return t;
          }},
      te.node);
}

TypePtr TypeExps::type_arrow(const syntax::TypeArrow& a, const SourceRange& range,
                             TypeSizes& sizes) {
  TypeSizes from_sizes, to_sizes;
  TypePtr from = type_exp(*a.from, from_sizes);
  const size_t mark = lookup_.here().locals.size();
  VarId param;
  if (a.param) {
    param = vars_.new_var(*a.param);
    naming_.local_value(*a.param, param, from);
  }
  TypePtr to = type_exp(*a.to, to_sizes);
  lookup_.here().locals.resize(mark);
  if (param.valid() && !core::mentions_size(to, param)) param = {};
  for (const TypeSizes* part : {&from_sizes, &to_sizes}) {
    if (!sizes.unique) sizes.unique = part->unique;
  }
  for (const auto* list : {&from_sizes.ext, &from_sizes.universals, &to_sizes.universals}) {
    sizes.universals.insert(sizes.universals.end(), list->begin(), list->end());
  }
  (void)range;
  return core::make_type(core::TArrow{param, from->unique, from, std::move(to_sizes.ext), to});
}

TypePtr TypeExps::type_apply(const syntax::TypeExp& te, TypeSizes& sizes) {
  std::vector<const std::variant<SizeExp, TypeExpPtr>*> args;
  const syntax::TypeExp* head = &te;
  for (;;) {
    if (const auto* a = std::get_if<syntax::TypeApply>(&head->node)) {
      args.push_back(&a->arg);
      head = a->fun.get();
    } else if (const auto* p = std::get_if<syntax::TypeParens>(&head->node)) {
      head = p->inner.get();
    } else {
      break;
    }
  }
  std::reverse(args.begin(), args.end());
  const auto* v = std::get_if<syntax::TypeVar>(&head->node);
  if (!v) {
    reports_.error(te.range, "Type constructor expected, but this is a type.");
    return core::tuple_type({});
  }
  return type_name(v->name, args, te.range, sizes);
}

TypePtr TypeExps::type_name(const syntax::QualName& name,
                            const std::vector<const std::variant<SizeExp, TypeExpPtr>*>& args,
                            const SourceRange& range, TypeSizes& sizes) {
  TypeBinding* b = naming_.find_type(name);
  lookup_.sound(b);
  if (!b) {
    lookup_.unknown();
    std::string full;
    for (const auto& q : name.quals) full += q + ".";
    reports_.error(name.range.file ? name.range : range,
                   "Unknown type \"" + full + name.name + "\"." + hints_.suggest_type(name));
    return core::tuple_type({});
  }
  if (args.size() != b->params.size()) {
    reports_.error(range, "Type constructor \"" + name.name + "\" requires " +
                              std::to_string(b->params.size()) + " arguments, but provided " +
                              std::to_string(args.size()) + ".");
    return core::tuple_type({});
  }
  core::Subst subst;
  for (size_t i = 0; i < args.size(); i++) {
    if (const auto* v = std::get_if<VarId>(&b->params[i])) {
      const auto* s = std::get_if<SizeExp>(args[i]);
      if (!s) {
        reports_.error(range, "Type argument of \"" + name.name + "\" must be a size.");
        return core::tuple_type({});
      }
      subst.sizes[*v] = size_exp(*s, sizes);
    } else {
      const auto* t = std::get_if<TypeExpPtr>(args[i]);
      if (!t) {
        reports_.error(range, "Type argument of \"" + name.name + "\" must be a type.");
        return core::tuple_type({});
      }
      subst.types[std::get<TyVarId>(b->params[i])] = type_exp(**t, sizes);
    }
  }
  for (VarId v : b->ext) {
    sizes.ext.push_back(vars_.new_var(vars_.name(v)));
    subst.sizes[v] = Size::of_var(sizes.ext.back());
  }
  for (VarId v : b->universals) {
    sizes.universals.push_back(vars_.new_var(vars_.name(v)));
    subst.sizes[v] = Size::of_var(sizes.universals.back());
  }
  TypePtr t = core::substitute(b->type, subst);
  infer_.check_size_of_type(t, range);
  return reports_.failed() ? core::tuple_type({}) : t;
}

/// Outside of definitions a size must be one that another can be the same as.
void TypeExps::check_comparable(const TypeSizes& sizes) {
  if (!sizes.unique) return;
  reports_.error(*sizes.unique,
                 "Size expression with binding is forbidden: no other size could be the same.");
}

Scheme TypeExps::spec_scheme(const syntax::SpecVal& v, EnvRef env) {
  Scheme out;
  fn_.inside(env, [&](FnState& state) {
    TypeParams params = type_params(v.params);
    TypeSizes sizes;
    TypePtr t = type_exp(*v.type, sizes);
    // Of the module type as it is written, not of one use in which more types are known.
    const bool written = reports_.is_written(v.type->range);
    check_comparable(sizes);
    if (written && !(sizes.ext.empty() && sizes.universals.empty())) {
      reports_.error(v.type->range,
                     "All function parameters must have non-anonymous sizes.\n"
                     "Hint: add size parameters to \"" +
                         v.name + "\".");
    }
    finishing_.finish(state);
    out.type = vars_.zonk(t, Zonk::kFinal);
    out.tparams = params.types;
    out.sparams = params.sizes;
    out.sparams.insert(out.sparams.end(), sizes.universals.begin(), sizes.universals.end());
  });
  return out;
}

}  // namespace kenaz::check
