#include "kernels/futhark/check/variables.h"

#include <algorithm>

#include "kernels/futhark/core/children.h"
#include "kernels/futhark/core/parts.h"
#include "protocol/base/overloaded.h"

namespace kenaz::check {

using core::TAbstract;
using core::TArray;
using core::TArrow;
using core::TMeta;
using core::TParam;
using core::TRecord;
using core::TSum;

VarId Variables::new_var(const std::string& name) {
  VarId v{next_var()};
  vars_.emplace_back();
  vars_.back().level = frame_->level;
  program_.var_names.push_back(name);
  return v;
}

// A size of a value that is known only when the value is. For messages it is "the `origin`".
VarId Variables::new_unknown(const std::string& origin, const SourceRange& range) {
  const VarId v = new_var("d");
  vars_[v.index].origin = origin;
  vars_[v.index].range = range;
  return v;
}

VarId Variables::new_flex(const std::string& name) {
  VarId v = new_var(name);
  vars_[v.index].flex = true;
  return v;
}

void Variables::determine(VarId size, OpenSize::Kind kind, const SourceRange& range, VarId of) {
  frame_->open_sizes.push_back({kind, size, of, range});
}

TyVarId Variables::new_tyvar(const std::string& name, syntax::Liftedness lifted) {
  tyvar_names_.push_back(name);
  tyvar_lifted_.push_back(lifted);
  tyvar_level_.push_back(frame_->level);
  deepest_tyvar_ = std::max(deepest_tyvar_, tyvar_level_.back());
  return TyVarId{static_cast<uint32_t>(tyvar_names_.size() - 1)};
}

TypePtr Variables::new_meta(TypeMask mask, bool regular) {
  core::MetaId id{static_cast<uint32_t>(metas_.size())};
  Meta m;
  m.mask = mask;
  m.level = frame_->level;
  m.regular = regular;
  metas_.push_back(std::move(m));
  return core::make_type(TMeta{id});
}

core::AbstractId Variables::new_abstract(core::AbstractType type, syntax::Liftedness lifted) {
  const core::AbstractId id{static_cast<uint32_t>(program_.abstract_types.size())};
  program_.abstract_types.push_back(std::move(type));
  abstract_lifted_.push_back(lifted);
  return id;
}

void Variables::name_abstract(core::AbstractId id, const std::string& full) {
  if (abstract_names_.size() <= id.index) abstract_names_.resize(id.index + 1);
  std::string& known = abstract_names_[id.index];
  const bool inside = full.size() > known.size() && full.ends_with("." + known);
  if (known.empty() || inside) known = full;
}

core::Names Variables::names() const {
  return {&program_.var_names, &tyvar_names_, &program_.abstract_types};
}

TypePtr Variables::resolve(TypePtr t) {
  while (const auto* m = std::get_if<TMeta>(&t->node)) {
    const TypePtr& solution = metas_[m->id.index].solution;
    if (!solution) break;
    t = solution;
  }
  return t;
}

Size Variables::resolve(const Size& s) {
  Size r = s;
  while (r.kind == Size::kVar && r.var.index < vars_.size() && vars_[r.var.index].solved) {
    r = vars_[r.var.index].solution;
  }
  if (r.kind == Size::kExp) return zonk(r, Zonk::kKeep);
  return r;
}

/// What a size is, for comparisons: names that are equal to something replaced by it.
Size Variables::meaning(const Size& size, int depth) {
  Size s = resolve(size);
  if (depth > 50) return s;
  if (s.kind == Size::kVar) {
    const Size& means = vars_[s.var.index].means;
    return means.kind == Size::kAny ? s : meaning(Size(means), depth + 1);
  }
  if (s.kind != Size::kExp) return s;
  std::unordered_set<VarId> vars;
  core::free_sizes(s, vars);
  core::Subst subst;
  for (VarId v : vars) {
    if (vars_[v.index].means.kind != Size::kAny) {
      subst.sizes[v] = meaning(Size::of_var(v), depth + 1);
    }
  }
  if (subst.sizes.empty() || core::size_nodes(s.exp, kMaxSizeNodes) >= kMaxSizeNodes) return s;
  return core::substitute(s, subst);
}

// What an argument for this type parameter may be.
TypeMask Variables::instance_mask(TyVarId t) const {
  switch (lifted(t)) {
    case syntax::Liftedness::kFullyLifted: return kMaskAny;
    case syntax::Liftedness::kSizeLifted: return kMaskData;
    case syntax::Liftedness::kUnlifted: return kMaskElement;
  }
  return kMaskAny;
}

syntax::Liftedness Variables::liftedness(const TypePtr& type) {
  const TypePtr t = resolve(type);
  auto out = syntax::Liftedness::kUnlifted;
  auto part = [&](const TypePtr& x) { out = std::max(out, liftedness(x)); };
  std::visit(Overloaded{[&](const TArrow&) { out = syntax::Liftedness::kFullyLifted; },
                        [&](const TParam& p) { out = lifted(p.id); },
                        [&](const TArray& a) { part(a.elem); },
                        [&](const TRecord& r) {
                          for (const auto& f : r.fields) part(f.second);
                        },
                        [&](const TSum& s) {
                          for (const auto& c : s.constructors) {
                            std::for_each(c.second.begin(), c.second.end(), part);
                          }
                        },
                        [&](const TAbstract& a) { out = lifted(a.id); }, [](const auto&) {}},
             t->node);
  return out;
}

// ---- whole types

// `t` with every size outside function types replaced by f(size), from left to right.
TypePtr Variables::map_dims(const TypePtr& type, const std::function<Size(const Size&)>& f) {
  const TypePtr t = resolve(type);
  if (std::holds_alternative<TArrow>(t->node)) return t;
  return core::map_parts(
      t, [&](const TypePtr& x) { return map_dims(x, f); }, f);
}

TypePtr Variables::fresh_dims(const TypePtr& t) {
  return map_dims(t, [&](const Size&) { return Size::of_var(new_flex()); });
}

TypePtr Variables::branch_hint(const TypePtr& t) {
  if (!t) return t;
  return map_dims(t, [&](const Size&) {
    const VarId v = new_flex();
    vars_[v.index].shape_only = true;
    return Size::of_var(v);
  });
}

void Variables::unsolved_metas(const TypePtr& type, std::vector<core::MetaId>& out) {
  const TypePtr t = resolve(type);
  if (const auto* m = std::get_if<TMeta>(&t->node)) {
    if (std::find(out.begin(), out.end(), m->id) == out.end()) out.push_back(m->id);
  }
  core::for_each_part(*t, [&](const TypePtr& part) { unsolved_metas(part, out); });
}

bool Variables::contains_meta(const TypePtr& t) {
  std::vector<core::MetaId> metas;
  unsolved_metas(t, metas);
  return !metas.empty();
}

std::vector<VarId> Variables::unsolved_flex(const TypePtr& t) {
  std::unordered_set<VarId> vars;
  core::free_sizes(zonk(t, Zonk::kKeep), vars);
  std::vector<VarId> out;
  for (VarId v : vars) {
    if (vars_[v.index].flex && !vars_[v.index].solved) out.push_back(v);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TypePtr Variables::default_meta(core::MetaId id) {
  Meta& meta = metas_[id.index];
  TypePtr t;
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
    t = core::tuple_type({});
  } else if (is_open(meta.mask)) {
    t = core::tuple_type({});
  } else {
    t = core::prim_type(default_of(meta.mask));
  }
  meta.solution = t;
  return t;
}

PrimType default_of(TypeMask mask) {
  auto allowed = [&](PrimType p) { return (mask >> static_cast<int>(p)) & 1; };
  PrimType pick = PrimType::kI32;
  for (int p = kPrimTypeCount - 1; p >= 0; p--) {
    if (allowed(static_cast<PrimType>(p))) pick = static_cast<PrimType>(p);
  }
  for (PrimType p : {PrimType::kU32, PrimType::kBool, PrimType::kF64, PrimType::kI32}) {
    if (allowed(p)) pick = p;
  }
  return pick;
}

PrimValue literal_as(const PrimValue& v, PrimType type) {
  if (v.type == type) return v;
  if (is_float(v.type)) return is_float(type) ? PrimValue::of_float(type, v.as_double()) : v;
  if (is_float(type)) return PrimValue::of_float(type, static_cast<double>(v.as_i64()));
  return is_integer(v.type) && is_integer(type) ? PrimValue::of_int(type, v.as_i64()) : v;
}

// `e` with solved variables replaced in what its uses of definitions are instances of. kFinal: in
// all its types, by which its literals go, too.
ExpPtr Variables::zonk_instances(const ExpPtr& e, Zonk mode) {
  const auto* v = std::get_if<core::EVar>(&e->node);
  if (!v) {
    const ExpPtr parts =
        core::map_children(e, [&](const ExpPtr& part) { return zonk_instances(part, mode); });
    if (mode == Zonk::kKeep || core::binds_names(*e)) return parts;
    auto copy = std::make_shared<core::Exp>(*parts);
    copy->type = zonk(e->type, mode);
    if (auto* i = std::get_if<core::EIntrinsic>(&copy->node)) {
      for (TypePtr& t : i->targs) t = zonk(t, mode);
    }
    auto* literal = std::get_if<core::ELit>(&copy->node);
    const auto* prim = core::as_prim(copy->type);
    if (literal && prim) literal->value = literal_as(literal->value, prim->prim);
    return copy;
  }
  core::EVar out{v->id, {}, {}, v->narrowed};
  for (const TypePtr& t : v->targs) out.targs.push_back(zonk(t, mode));
  bool changed = out.targs != v->targs;
  for (const Size& s : v->sargs) {
    out.sargs.push_back(zonk(s, mode));
    changed |= !core::same_repr(out.sargs.back(), s);
  }
  const TypePtr type = zonk(e->type, mode);
  if (!changed && type == e->type) return e;
  auto copy = std::make_shared<core::Exp>(*e);
  copy->type = type;
  copy->node = std::move(out);
  return copy;
}

Size Variables::zonk(const Size& s, Zonk mode) {
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
      const Size out = core::substitute(s, subst);
      return out.kind == Size::kExp ? core::size_of_exp(zonk_instances(out.exp, mode)) : out;
    }
    default: return s;
  }
}

TypePtr Variables::zonk(const TypePtr& t, Zonk mode) {
  if (const auto* m = std::get_if<TMeta>(&t->node)) {
    TypePtr solution = metas_[m->id.index].solution;
    if (!solution && mode == Zonk::kKeep) return t;
    if (!solution) solution = default_meta(m->id);
    solution = zonk(solution, mode);
    return t->unique ? core::with_unique(solution, true) : solution;
  }
  return core::map_parts(
      t, [&](const TypePtr& x) { return zonk(x, mode); },
      [&](const Size& x) { return zonk(x, mode); });
}

std::string describe(const Meta& meta) {
  std::string names;
  for (const auto& f : meta.fields) names += (names.empty() ? "" : ", ") + f.first;
  if (!names.empty()) return "a record with " + names;
  for (const auto& c : meta.constructors) names += (names.empty() ? "#" : ", #") + c.first;
  if (!names.empty()) return "a sum type with " + names;
  if (meta.mask == kMaskEquality) return "a type that supports equality";
  if (is_open(meta.mask)) return "_";
  switch (meta.mask) {
    case kMaskScalar: return "a scalar type";
    case kMaskSigned: return "a signed integer type";
    case kMaskUnsigned: return "an unsigned integer type";
    case kMaskInt: return "an integer type";
    case kMaskFloat: return "a floating-point type";
    case kMaskNum: return "a numeric type";
    case kMaskIntBool: return "an integer type or bool";
    default: return "a scalar type of some sort";
  }
}

}  // namespace kenaz::check
