// From inference to finished core: solved variables replaced, literals encoded, existential sizes
// listed.
#include <algorithm>
#include <cmath>

#include "kernels/futhark/check/checker.h"
#include "kernels/futhark/core/coverage.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TAbstract;
using core::TArray;
using core::TArrow;
using core::TMeta;
using core::TRecord;
using core::TSum;

TypePtr Checker::default_meta(core::MetaId id, Zonk mode) {
  Meta& meta = metas_[id.index];
  TypePtr t;
  if (mode == Zonk::kKeep) return nullptr;
  if (!meta.fields.empty() || !meta.constructors.empty()) {
    if (meta.range.file) {
      std::string names;
      for (const auto& f : meta.fields) names += (names.empty() ? "" : ", ") + f.first;
      for (const auto& c : meta.constructors) names += (names.empty() ? "#" : ", #") + c.first;
      reports_.error(meta.range, "Type is ambiguous (must be a " +
                                     std::string(meta.fields.empty() ? "sum type with constructors"
                                                                     : "record with fields") +
                                     " " + names +
                                     ").\nAdd a type annotation to disambiguate the type.");
    }
    t = unit_;
  } else if (is_open(meta.mask)) {
    t = unit_;
  } else {
    auto allowed = [&](PrimType p) { return (meta.mask >> static_cast<int>(p)) & 1; };
    PrimType pick = PrimType::kI32;
    for (int p = kPrimTypeCount - 1; p >= 0; p--) {
      if (allowed(static_cast<PrimType>(p))) pick = static_cast<PrimType>(p);
    }
    for (PrimType p : {PrimType::kBool, PrimType::kF64, PrimType::kI32}) {
      if (allowed(p)) pick = p;
    }
    t = core::prim_type(pick);
  }
  meta.solution = t;
  return t;
}

Size Checker::zonk(const Size& s, Zonk mode) {
  switch (s.kind) {
    case Size::kVar: {
      const Var& v = vars_[s.var.index];
      if (v.solved) return zonk(Size(v.solution), mode);
      if (v.flex && mode == Zonk::kFinal) return Size::any();
      return s;
    }
    case Size::kExp: {
      std::unordered_set<VarId> vars;
      core::free_sizes(s, vars);
      core::Subst subst;
      for (VarId v : vars) {
        const Var& info = vars_[v.index];
        if (info.solved || (info.flex && mode == Zonk::kFinal)) {
          subst.sizes[v] = zonk(Size::of_var(v), mode);
        }
      }
      return core::substitute(s, subst);
    }
    default: return s;
  }
}

TypePtr Checker::zonk(const TypePtr& t, Zonk mode) {
  return std::visit(
      Overloaded{[&](const TMeta& m) {
                   TypePtr solution = metas_[m.id.index].solution;
                   if (!solution) solution = default_meta(m.id, mode);
                   if (!solution) return t;
                   solution = zonk(solution, mode);
                   return t->unique ? core::with_unique(solution, true) : solution;
                 },
                 [&](const TArray& a) {
                   return core::make_type(TArray{zonk(a.dim, mode), zonk(a.elem, mode)}, t->unique);
                 },
                 [&](const TRecord& r) {
                   TRecord out;
                   for (const auto& [name, f] : r.fields)
                     out.fields.emplace_back(name, zonk(f, mode));
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const TSum& s) {
                   TSum out;
                   for (const auto& [name, payload] : s.constructors) {
                     std::vector<TypePtr> types;
                     for (const auto& p : payload) types.push_back(zonk(p, mode));
                     out.constructors.emplace_back(name, std::move(types));
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const TArrow& a) {
                   return core::make_type(
                       TArrow{a.param, a.consumes, zonk(a.from, mode), a.ext, zonk(a.to, mode)},
                       t->unique);
                 },
                 [&](const TAbstract& a) {
                   TAbstract out{a.id, {}};
                   for (const auto& arg : a.args) {
                     if (const auto* type = std::get_if<TypePtr>(&arg)) {
                       out.args.emplace_back(zonk(*type, mode));
                     } else {
                       out.args.emplace_back(zonk(std::get<Size>(arg), mode));
                     }
                   }
                   return core::make_type(std::move(out), t->unique);
                 },
                 [&](const auto&) { return t; }},
      t->node);
}

void Checker::unsolved_metas(const TypePtr& type, std::vector<core::MetaId>& out) {
  TypePtr t = resolve(type);
  std::visit(Overloaded{[&](const TMeta& m) {
                          if (std::find(out.begin(), out.end(), m.id) == out.end()) {
                            out.push_back(m.id);
                          }
                        },
                        [&](const TArray& a) { unsolved_metas(a.elem, out); },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields) unsolved_metas(f.second, out);
                        },
                        [&](const TSum& s) {
                          for (const auto& c : s.constructors) {
                            for (const auto& p : c.second) unsolved_metas(p, out);
                          }
                        },
                        [&](const TArrow& a) {
                          unsolved_metas(a.from, out);
                          unsolved_metas(a.to, out);
                        },
                        [&](const TAbstract& a) {
                          for (const auto& arg : a.args) {
                            if (const auto* x = std::get_if<TypePtr>(&arg)) unsolved_metas(*x, out);
                          }
                        },
                        [](const auto&) {}},
             t->node);
}

std::vector<VarId> Checker::unsolved_flex(const TypePtr& t) {
  std::unordered_set<VarId> vars;
  core::free_sizes(zonk(t, Zonk::kKeep), vars);
  std::vector<VarId> out;
  for (VarId v : vars) {
    if (vars_[v.index].flex && !vars_[v.index].solved) out.push_back(v);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// ---- literals

// `v` is the literal's placeholder: i64 bits for an integer, f64 for a decimal.
PrimValue Checker::finish_literal(const PrimValue& v, bool negative, const TypePtr& type,
                                  const SourceRange& range) {
  const core::TPrim* p = core::as_prim(type);
  if (!p) return v;
  if (v.type == PrimType::kF64) {
    if (!is_float(p->prim)) return v;
    const PrimValue out = PrimValue::of_float(p->prim, v.as_double());
    if (std::isinf(out.as_double())) {
      reports_.error(range, "Literal out of bounds for inferred type " +
                                std::string(prim_name(p->prim)) + ".");
    }
    return out;
  }
  if (is_float(p->prim)) {
    const double d = static_cast<double>(v.bits);
    const PrimValue out = PrimValue::of_float(p->prim, negative ? -d : d);
    if (std::isinf(out.as_double())) {
      reports_.error(range, "Literal " + std::to_string(v.bits) +
                                " out of bounds for inferred type " +
                                std::string(prim_name(p->prim)) + ".");
    }
    return out;
  }
  if (!is_integer(p->prim)) return v;
  const int bits = prim_bits(p->prim);
  const bool is_signed = prim_kind(p->prim) == PrimKind::kSigned;
  const uint64_t max = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  uint64_t limit = is_signed ? max >> 1 : max;
  if (negative) limit = is_signed ? limit + 1 : 0;
  if (v.bits > limit) {
    reports_.error(range, "Literal " + std::string(negative ? "-" : "") + std::to_string(v.bits) +
                              " out of bounds for inferred type " +
                              std::string(prim_name(p->prim)) + ".");
  }
  const uint64_t value = negative ? uint64_t{0} - v.bits : v.bits;
  return PrimValue{p->prim, value & max};
}

namespace {

/// Not functions, nor values of types of which nothing is known.
bool supports_equality(const TypePtr& t) {
  return std::visit(
      Overloaded{[](const TArray& a) { return supports_equality(a.elem); },
                 [](const TRecord& r) {
                   return std::all_of(r.fields.begin(), r.fields.end(),
                                      [](const auto& f) { return supports_equality(f.second); });
                 },
                 [](const TSum& s) {
                   return std::all_of(
                       s.constructors.begin(), s.constructors.end(), [](const auto& c) {
                         return std::all_of(c.second.begin(), c.second.end(), supports_equality);
                       });
                 },
                 [](const core::TParam&) { return false; }, [](const TAbstract&) { return false; },
                 [](const TArrow&) { return false; }, [](const auto&) { return true; }},
      t->node);
}

}  // namespace

void Checker::finish_exp(PendingExp& p) {
  core::Exp& e = *p.exp;
  e.type = zonk(e.type, Zonk::kFinal);
  auto instance = [&](std::vector<TypePtr>& targs, std::vector<Size>& sargs) {
    for (auto& t : targs) t = zonk(t, Zonk::kFinal);
    for (auto& s : sargs) s = zonk(s, Zonk::kFinal);
    for (size_t i : p.sizeless) {
      targs[i] = map_dims(targs[i], [](const Size&) { return Size::any(); });
    }
  };
  if (auto* v = std::get_if<core::EVar>(&e.node)) instance(v->targs, v->sargs);
  if (auto* i = std::get_if<core::EIntrinsic>(&e.node)) {
    instance(i->targs, i->sargs);
    const bool equality = i->op == core::Intrinsic::kEq || i->op == core::Intrinsic::kNe;
    if (equality && !lenient_ && !supports_equality(i->targs[0])) {
      reports_.error(e.range, "The type " + type_text(i->targs[0]) + " does not support equality.");
    }
  }
  if (p.kind == PendingExp::kIntLit) {
    auto& lit = std::get<core::ELit>(e.node);
    lit.value = finish_literal(lit.value, p.negative, e.type, e.range);
  }
  if (p.kind == PendingExp::kConvert) {  // a conversion of an index that turned out to be an i64
    ExpPtr operand = std::get<core::EApply>(e.node).args[0];
    if (core::is_prim(zonk(operand->type, Zonk::kFinal), PrimType::kI64)) {
      auto node = operand->node;
      e.node = std::move(node);
    }
  }
  if (std::holds_alternative<core::ELambda>(e.node)) return;
  std::unordered_set<VarId> vars;
  core::whole_sizes(e.type, vars);
  for (VarId v : vars) {
    if (v.index >= p.start && v.index < p.end && !vars_[v.index].param) e.ext.push_back(v);
  }
  std::sort(e.ext.begin(), e.ext.end());
}

/// A copy of an expression that stands for a size, whose leaves are finished.
ExpPtr Checker::finished_size(const ExpPtr& e) {
  auto out = std::make_shared<core::Exp>(*e);
  out->type = zonk(e->type, Zonk::kFinal);
  if (auto* a = std::get_if<core::EApply>(&out->node)) {
    a->fun = finished_size(a->fun);
    for (ExpPtr& x : a->args) x = finished_size(x);
  } else if (auto* p = std::get_if<core::EProject>(&out->node)) {
    p->record = finished_size(p->record);
  } else if (auto* i = std::get_if<core::EIndex>(&out->node)) {
    i->array = finished_size(i->array);
    for (auto& d : i->dims) d.index = finished_size(d.index);
  }
  return out;
}

/// Are there values that a pattern, or all cases of a match, do not fit?
void Checker::check_coverage(const FnState& fn) {
  for (const PatPtr& p : fn.whole) {
    const core::Covered c = core::coverage({p.get()});
    if (c.kind != core::Covered::kNotAll) continue;
    reports_.later(p->range,
                   "Refutable pattern not allowed here, as it does not fit every value.  "
                   "Unmatched values:\n  " +
                       c.witness);
  }
  for (const auto& e : fn.matches) {
    std::vector<const core::Pat*> cases;
    for (const auto& c : std::get<core::EMatch>(e->node).cases) cases.push_back(c.first.get());
    const core::Covered c = core::coverage(cases);
    if (c.kind != core::Covered::kNotAll) continue;
    reports_.later(e->range, "Unmatched cases in match expression:\n  " + c.witness);
  }
}

void Checker::finish(FnState& fn) {
  for (auto& p : fn.exps) {
    if (reports_.failed()) return;
    finish_exp(p);
  }
  for (auto& p : fn.pats) {
    if (reports_.failed()) return;
    p.pat->type = zonk(p.pat->type, Zonk::kFinal);
    if (p.placeholder) {
      auto& lit = std::get<core::PLit>(p.pat->node);
      lit.value = finish_literal(lit.value, p.negative, p.pat->type, p.pat->range);
    }
  }
  for (const ExpPtr& e : fn.equalities) {
    const auto* apply = std::get_if<core::EApply>(&e->node);
    const bool arrays = apply && std::holds_alternative<TArray>(apply->args[0]->type->node);
    if (arrays) reports_.warn(Warning::kArrayEquality, e->range);
  }
  fn.equalities.clear();
  check_coverage(fn);
  for (const VarId v : fn.computed_sizes) {
    const Size size = zonk(vars_[v.index].means, Zonk::kFinal);
    if (size.kind == Size::kExp) out_.computed_sizes.emplace(v, finished_size(size.exp));
  }
  fn.computed_sizes.clear();
  for (auto& d : fn.defs) d->type = zonk(d->type, Zonk::kFinal);
  fn.exps.clear();
  fn.pats.clear();
  fn.whole.clear();
  fn.matches.clear();
  fn.defs.clear();
}

}  // namespace kenaz::check
