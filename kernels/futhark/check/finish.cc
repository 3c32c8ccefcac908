#include "kernels/futhark/check/finish.h"

#include <algorithm>
#include <cmath>

#include "kernels/futhark/core/children.h"
#include "kernels/futhark/core/coverage.h"
#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TAbstract;
using core::TArray;
using core::TArrow;
using core::TRecord;
using core::TSum;

// ---- literals

// `v` is the literal's placeholder: the bits of an i64 for an integer, whose sign they need not
// have room for, a f64 for a decimal.
PrimValue Finishing::finish_literal(const PrimValue& v, bool negative, const TypePtr& type,
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
  const uint64_t magnitude = negative ? uint64_t{0} - v.bits : v.bits;
  if (is_float(p->prim)) {
    const double d = static_cast<double>(magnitude);
    const PrimValue out = PrimValue::of_float(p->prim, negative ? -d : d);
    if (std::isinf(out.as_double())) {
      reports_.error(range, "Literal " + std::to_string(magnitude) +
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
  if (magnitude > limit) {
    reports_.error(range, "Literal " + std::string(negative ? "-" : "") +
                              std::to_string(magnitude) + " out of bounds for inferred type " +
                              std::string(prim_name(p->prim)) + ".");
  }
  return PrimValue{p->prim, v.bits & max};
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

void Finishing::finish_exp(PendingExp& p) {
  core::Exp& e = *p.exp;
  e.type = vars_.zonk(e.type, Zonk::kFinal);
  auto instance = [&](std::vector<TypePtr>& targs, std::vector<Size>& sargs) {
    for (auto& t : targs) t = vars_.zonk(t, Zonk::kFinal);
    for (auto& s : sargs) s = vars_.zonk(s, Zonk::kFinal);
    for (size_t i : p.sizeless) {
      targs[i] = vars_.map_dims(targs[i], [](const Size&) { return Size::any(); });
    }
  };
  if (auto* v = std::get_if<core::EVar>(&e.node)) instance(v->targs, v->sargs);
  if (auto* i = std::get_if<core::EIntrinsic>(&e.node)) {
    instance(i->targs, i->sargs);
    const bool equality = i->op == core::Intrinsic::kEq || i->op == core::Intrinsic::kNe;
    if (equality && !comparing_.lenient && !supports_equality(i->targs[0])) {
      reports_.error(e.range,
                     "The type " + infer_.type_text(i->targs[0]) + " does not support equality.");
    }
  }
  if (p.kind == PendingExp::kIntLit) {
    auto& lit = std::get<core::ELit>(e.node);
    lit.value = finish_literal(lit.value, p.negative, e.type, e.range);
  }
  if (p.kind == PendingExp::kConvert) {  // a conversion of an index that turned out to be an i64
    ExpPtr operand = std::get<core::EApply>(e.node).args[0];
    if (core::is_prim(vars_.zonk(operand->type, Zonk::kFinal), PrimType::kI64)) {
      auto node = operand->node;
      e.node = std::move(node);
    }
  }
  if (std::holds_alternative<core::ELambda>(e.node)) return;
  std::unordered_set<VarId> vars;
  core::whole_sizes(e.type, vars);
  for (VarId v : vars) {
    if (v.index >= p.start && v.index < p.end && !vars_[v].param) e.ext.push_back(v);
  }
  std::sort(e.ext.begin(), e.ext.end());
}

/// A copy of an expression that stands for a size, whose leaves are finished.
ExpPtr Finishing::finished_size(const ExpPtr& e) {
  if (core::binds_names(*e)) return e;  // as it stands in the definition, so it is finished
  auto out = std::make_shared<core::Exp>(
      *core::map_children(e, [this](const ExpPtr& part) { return finished_size(part); }));
  out->type = vars_.zonk(e->type, Zonk::kFinal);
  return out;
}

/// Are there values that a pattern, or all cases of a match, do not fit?
void Finishing::check_coverage(const FnState& fn) {
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

void Finishing::finish(FnState& fn) {
  for (auto& p : fn.exps) {
    if (reports_.failed()) return;
    finish_exp(p);
  }
  for (auto& p : fn.pats) {
    if (reports_.failed()) return;
    p.pat->type = vars_.zonk(p.pat->type, Zonk::kFinal);
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
  for (const VarId v : fn.frame.computed) {
    const Size size = vars_.zonk(vars_[v].means, Zonk::kFinal);
    if (size.kind == Size::kExp) program_.computed_sizes.emplace(v, finished_size(size.exp));
  }
  fn.frame.computed.clear();
  for (auto& d : fn.defs) d->type = vars_.zonk(d->type, Zonk::kFinal);
  fn.exps.clear();
  fn.pats.clear();
  fn.whole.clear();
  fn.matches.clear();
  fn.defs.clear();
}

// ---- overloaded types

// Of `metas`, in the type of a definition whose name is at `name`, that could be several types.
void Finishing::warn_of_defaults(const std::vector<core::MetaId>& metas, const SourceRange& name,
                                 const FnState& fn) {
  for (core::MetaId id : metas) {
    const TypeMask mask = vars_[id].mask;
    if (is_open(mask) || (mask & (mask - 1)) == 0) continue;
    SourceRange place = name;
    for (const PendingExp& p : fn.exps) {  // the first expression of this type
      const TypePtr t = vars_.resolve(p.exp->type);
      const auto* m = std::get_if<core::TMeta>(&t->node);
      if (!m || m->id != id) continue;
      place = p.exp->range;
      break;
    }
    reports_.warn(Warning::kDefaultedType, place, std::string(prim_name(default_of(mask))));
  }
}

// Overloaded types take their default before anything is generalised.
void Finishing::default_constrained(const std::vector<TypePtr>& types, const SourceRange& name,
                                    const FnState& fn) {
  std::vector<core::MetaId> metas;
  for (const TypePtr& t : types) vars_.unsolved_metas(t, metas);
  warn_of_defaults(metas, name, fn);
  for (core::MetaId id : metas) {
    const Meta& m = vars_[id];
    if (!is_open(m.mask) || !m.fields.empty() || !m.constructors.empty()) {
      vars_.default_meta(id);
    }
  }
}

}  // namespace kenaz::check
