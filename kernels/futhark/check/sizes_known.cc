#include "kernels/futhark/check/sizes_known.h"

#include <algorithm>
#include <set>

#include "kernels/futhark/core/type_util.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TArrow;

namespace {

void names_inside(const core::Pat& p, bool nested, std::unordered_set<VarId>& out) {
  if (const auto* b = std::get_if<core::PBind>(&p.node); b && nested) out.insert(b->id);
  if (const auto* r = std::get_if<core::PRecord>(&p.node)) {
    for (const auto& f : r->fields) names_inside(*f.second, true, out);
  }
  if (const auto* c = std::get_if<core::PConstr>(&p.node)) {
    for (const auto& x : c->args) names_inside(*x, true, out);
  }
}

}  // namespace

/// A declared result may only mention what callers know: parameters, not parts of them.
void KnownSizes::check_accessible(const std::vector<PatPtr>& params, const TypePtr& ret,
                                  const SourceRange& range) {
  if (reports_.failed()) return;
  std::unordered_set<VarId> hidden, mentioned;
  for (const PatPtr& p : params) names_inside(*p, false, hidden);
  if (hidden.empty()) return;
  core::free_sizes(vars_.zonk(ret, Zonk::kKeep), mentioned);
  for (VarId v : std::set<VarId>(mentioned.begin(), mentioned.end())) {
    if (!hidden.count(v)) continue;
    const std::string& name = vars_.name(v);
    reports_.error(range,
                   "The return type refers to size \"" + name +
                       "\", which will not be accessible to the caller: it is nested in a tuple or "
                       "record.\nHint: make it a parameter of its own, or the size existential: "
                       "?[" +
                       name + "].",
                   "inaccessible-size");
    return;
  }
}

/// A size parameter that is no part of the type could never be told from outside.
void KnownSizes::check_used(const core::Def& def, const std::vector<syntax::TypeParam>& tparams) {
  if (reports_.failed()) return;
  std::unordered_set<VarId> used;
  core::free_sizes(vars_.zonk(def.type, Zonk::kKeep), used);
  auto size = def.sparams.begin();  // those that are written come first
  for (const auto& p : tparams) {
    if (p.kind != syntax::TypeParam::kSize || used.count(*size++)) continue;
    reports_.error(p.range,
                   "Cannot generalise the type of \"" + def.name + "\".\nSize [" + p.name +
                       "] unused in pattern: no parameter says what it is.",
                   "unused-size");
    return;
  }
}

/// The sizes in the type of a definition that has been generalised: a function in its result may
/// not have a parameter of a size that callers cannot know, and a value that stands for any size
/// may not have one of its own.
void KnownSizes::check_generalised(const core::Def& def, size_t params, uint32_t start,
                                   const SourceRange& range) {
  if (reports_.failed()) return;
  const TypePtr type = vars_.zonk(def.type, Zonk::kKeep);
  std::unordered_set<VarId> known;
  const TypePtr* result = &type;
  for (size_t i = 0; i < params; i++) {
    const auto* arrow = std::get_if<TArrow>(&(*result)->node);
    if (!arrow) return;
    core::free_sizes(arrow->from, known);
    if (arrow->param.valid()) known.insert(arrow->param);
    result = &arrow->to;
  }
  const auto is_own = [&](VarId v) {
    const Var& var = vars_[v];
    return v.index >= start && !var.flex && !var.param && !known.count(v) &&
           var.means.kind == Size::kAny;
  };
  std::unordered_set<VarId> free;
  core::free_sizes(*result, free);
  if (params == 0 && !def.sparams.empty() && !std::holds_alternative<TArrow>(type->node) &&
      std::any_of(free.begin(), free.end(), is_own)) {
    reports_.error(
        range,
        "A size-polymorphic value binding may not have a type with an existential size:\n  " +
            infer_.type_text(type));
    return;
  }
  core::whole_sizes(*result, known);
  const VarId unknown = unknown_in_parameter(*result, known, is_own);
  if (!unknown.valid()) return;
  reports_.error(range,
                 "Cannot generalise the type of \"" + def.name + "\".\nUnknown size \"" +
                     vars_.name(unknown) +
                     "\" in parameter of a function in its result, which is inferred as:\n  " +
                     infer_.type_text(*result));
}

/// A size for which `is_own` holds, not in `known`, that a parameter of a function in `type` has.
VarId KnownSizes::unknown_in_parameter(const TypePtr& type, std::unordered_set<VarId> known,
                                       const std::function<bool(VarId)>& is_own) {
  VarId found;
  auto part = [&](const TypePtr& t) {
    if (!found.valid()) found = unknown_in_parameter(t, known, is_own);
  };
  std::visit(Overloaded{[&](const TArrow& a) {
                          std::unordered_set<VarId> taken;
                          core::free_sizes(a.from, taken);
                          for (VarId v : taken) {
                            if (is_own(v) && !known.count(v)) found = v;
                          }
                          known.insert(taken.begin(), taken.end());
                          if (a.param.valid()) known.insert(a.param);
                          core::whole_sizes(a.to, known);
                          part(a.to);
                        },
                        [&](const core::TRecord& r) {
                          for (const auto& f : r.fields) part(f.second);
                        },
                        [&](const core::TSum& s) {
                          for (const auto& c : s.constructors) {
                            std::for_each(c.second.begin(), c.second.end(), part);
                          }
                        },
                        [](const auto&) {}},
             type->node);
  return found;
}

/// Is there a size that neither inference nor generalisation has given a meaning?
void KnownSizes::check_open(const std::vector<OpenSize>& sizes) {
  const auto open = [&](const OpenSize& s) {
    const Size size = vars_.resolve(Size::of_var(s.size));
    if (size.kind != Size::kVar) return false;
    const Var& var = vars_[size.var];
    return s.kind == OpenSize::kBinder ? var.binder && var.means.kind == Size::kAny : var.flex;
  };
  if (auto found = first_open(sizes, open, *vars_.names().vars)) {
    reports_.error(std::move(*found));
  }
}

/// Is this a size that is known only when a value of that size is?
bool KnownSizes::is_unknown(VarId v) const {
  const Var& var = vars_[v];
  return !var.origin.empty() && !var.vague && var.means.kind == Size::kAny;
}

/// The operator of a section is made before its operand is evaluated.
void KnownSizes::check_sections(const std::vector<Section>& sections) {
  for (const Section& s : sections) {
    std::unordered_set<VarId> sizes;
    core::free_sizes(s.op->type, sizes);
    for (VarId v : std::set<VarId>(sizes.begin(), sizes.end())) {
      if (v.index < s.start || v.index >= s.end || !is_unknown(v)) continue;
      const std::string name = "\"" + vars_.name(v) + "\"";
      reports_.later({Severity::kError,
                      s.op->range,
                      "Causality check: size " + name +
                          " needed for type of operator section:\n  " +
                          infer_.type_text(s.op->type) + "\nBut " + name + " is computed at " +
                          vars_[v].range.str() + ".\nHint: bind the expression that computes " +
                          name + " with \"let\" beforehand.",
                      "causality-check",
                      {}});
    }
  }
}

}  // namespace kenaz::check
