#include "kernels/futhark/check/patterns.h"

#include <algorithm>
#include <map>
#include <set>

#include "protocol/base/overloaded.h"

namespace kenaz::check {

MutPat Patterns::make_pat(const SourceRange& range, TypePtr type, decltype(core::Pat::node) node) {
  auto p = std::make_shared<core::Pat>();
  p->type = std::move(type);
  p->range = range;
  p->node = std::move(node);
  fn_->pats.push_back({p, false, false});
  return p;
}

PatPtr Patterns::pat(const syntax::Pat& p, const TypePtr& expected, bool ascribed) {
  DepthGuard guard(fn_.depth());
  if (!guard.ok()) reports_.error(p.range, "This pattern is nested too deeply.");
  if (reports_.failed()) return make_pat(p.range, expected, core::PWildcard{});
  return std::visit(
      Overloaded{
          [&](const syntax::PatName& n) -> PatPtr {
            VarId v = vars_.new_var(n.name);
            vars_[v].level++;  // it is in scope behind the pattern
            naming_.local_value(n.name, v, core::with_unique(expected, false), p.range);
            return make_pat(p.range, expected, core::PBind{v, ascribed});
          },
          [&](const syntax::PatWildcard&) -> PatPtr {
            return make_pat(p.range, expected, core::PWildcard{});
          },
          [&](const syntax::PatParens& x) { return pat(*x.inner, expected, ascribed); },
          [&](const syntax::PatTuple&) { return pat_record(p, expected, ascribed); },
          [&](const syntax::PatRecord&) { return pat_record(p, expected, ascribed); },
          [&](const syntax::PatAscript& a) {
            TypePtr t = types_.param_type(*a.type);
            infer_.unify_or_error(t, expected, p.range,
                                  "The type of the pattern cannot match the value's.");
            return pat(*a.inner, t, true);
          },
          [&](const syntax::PatLiteral& l) { return pat_literal(l.value, p.range, expected); },
          [&](const syntax::PatConstr& c) { return pat_constr(c, p.range, expected, ascribed); },
          [&](const syntax::PatAttr& a) { return pat(*a.inner, expected, ascribed); }},
      p.node);
}

PatPtr Patterns::pat_record(const syntax::Pat& p, const TypePtr& expected, bool ascribed) {
  TypePtr known = vars_.resolve(expected);
  const auto* target = std::get_if<core::TRecord>(&known->node);
  auto field_type = [&](const std::string& name) {
    if (target) {
      for (const auto& f : target->fields) {
        if (f.first == name) return f.second;
      }
    }
    return vars_.new_meta();
  };
  std::vector<std::pair<std::string, PatPtr>> fields;
  std::vector<std::pair<std::string, TypePtr>> types;
  auto add = [&](const std::string& name, const syntax::Pat* sub) {
    TypePtr t = field_type(name);
    types.emplace_back(name, t);
    if (sub) {
      fields.emplace_back(name, pat(*sub, t, ascribed));
    } else {
      VarId v = vars_.new_var(name);
      vars_[v].level++;
      naming_.local_value(name, v, core::with_unique(t, false), p.range);
      fields.emplace_back(name, make_pat(p.range, t, core::PBind{v, ascribed}));
    }
  };
  if (const auto* t = std::get_if<syntax::PatTuple>(&p.node)) {
    for (size_t i = 0; i < t->elems.size(); i++) add(std::to_string(i), t->elems[i].get());
  } else {
    for (const auto& f : std::get<syntax::PatRecord>(p.node).fields) add(f.name, f.pat.get());
  }
  std::set<std::string> names;
  for (size_t i = 0; i < fields.size(); i++) {
    // What an ascription inside says (uniqueness, names of sizes) belongs to the type.
    types[i].second = fields[i].second->type;
    if (!names.insert(types[i].first).second) {
      reports_.error(p.range, "Duplicate fields in this pattern: \"" + types[i].first + "\".");
    }
  }
  std::sort(fields.begin(), fields.end(),
            [](const auto& a, const auto& b) { return core::field_less(a.first, b.first); });
  TypePtr type = core::record_type(std::move(types));
  infer_.unify_or_error(type, expected, p.range, "Pattern does not match the type of the value.");
  return make_pat(p.range, core::with_unique(type, expected->unique),
                  core::PRecord{std::move(fields)});
}

PatPtr Patterns::pat_constr(const syntax::PatConstr& c, const SourceRange& range,
                            const TypePtr& expected, bool ascribed) {
  TypePtr known = vars_.resolve(expected);
  std::vector<TypePtr> payload;
  if (const auto* s = std::get_if<core::TSum>(&known->node)) {
    for (const auto& [name, types] : s->constructors) {
      if (name == c.name && types.size() == c.args.size()) payload = types;
    }
  }
  while (payload.size() < c.args.size()) payload.push_back(vars_.new_meta());
  comparing_.mismatch = {};
  if (!infer_.has_constructor(expected, c.name, payload, range)) {
    reports_.error(range, infer_.constructor_error(expected, c.name, payload));
  }
  std::vector<PatPtr> args;
  for (size_t i = 0; i < c.args.size(); i++) args.push_back(pat(*c.args[i], payload[i], ascribed));
  return make_pat(range, expected, core::PConstr{c.name, std::move(args)});
}

PatPtr Patterns::pat_literal(const syntax::Literal& l, const SourceRange& range,
                             const TypePtr& expected) {
  PrimValue value;
  bool placeholder = true, negative = false;
  TypePtr type;
  if (const auto* i = std::get_if<syntax::IntLit>(&l)) {
    negative = i->negative;
    value = PrimValue{PrimType::kI64, negative ? uint64_t{0} - i->value : i->value};
    type = vars_.new_meta(kMaskNum);
  } else if (const auto* f = std::get_if<syntax::FloatLit>(&l)) {
    value = PrimValue::f64(f->value);
    type = vars_.new_meta(kMaskFloat);
  } else if (const auto* c = std::get_if<syntax::CharLit>(&l)) {
    value = PrimValue{PrimType::kI64, c->code_point};
    type = vars_.new_meta(kMaskNum);
  } else {
    value = std::get<syntax::PrimLit>(l).value;
    placeholder = false;
    type = core::prim_type(value.type);
  }
  infer_.unify_or_error(type, expected, range, "Pattern does not match the type of the value.");
  MutPat p = make_pat(range, type, core::PLit{value});
  fn_->pats.back().placeholder = placeholder;
  fn_->pats.back().negative = negative;
  return p;
}

namespace {

void names_of(const syntax::Pat& p, std::vector<std::pair<std::string, SourceRange>>& out) {
  std::visit(
      Overloaded{[&](const syntax::PatName& n) { out.emplace_back(n.name, p.range); },
                 [&](const syntax::PatParens& x) { names_of(*x.inner, out); },
                 [&](const syntax::PatTuple& t) {
                   for (const auto& e : t.elems) names_of(*e, out);
                 },
                 [&](const syntax::PatRecord& r) {
                   for (const auto& f : r.fields) {
                     if (f.pat) {
                       names_of(*f.pat, out);
                     } else {
                       out.emplace_back(f.name, p.range);
                     }
                   }
                 },
                 [&](const syntax::PatAscript& a) { names_of(*a.inner, out); },
                 [&](const syntax::PatConstr& c) {
                   for (const auto& a : c.args) names_of(*a, out);
                 },
                 [&](const syntax::PatAttr& a) { names_of(*a.inner, out); }, [](const auto&) {}},
      p.node);
}

}  // namespace

void Patterns::check_duplicate_names(const std::vector<const syntax::Pat*>& pats,
                                     NamedRanges others) {
  NamedRanges names = std::move(others);
  for (const auto* p : pats) names_of(*p, names);
  std::map<std::string, SourceRange> seen;
  for (const auto& [name, range] : names) {
    auto [it, added] = seen.emplace(name, range);
    if (!added)
      reports_.error(range, "Name \"" + name + "\" also bound at " + it->second.str() + ".");
  }
}

}  // namespace kenaz::check
