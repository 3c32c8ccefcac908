#include "kernels/futhark/check/exp_array.h"

#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/check/warn.h"

namespace kenaz::check {

using core::DimIndex;

// An index as i64: other integer types are converted by value. Only signed ones, as in Futhark.
ExpPtr Arrays::index_value(const syntax::Exp& e) {
  const auto* lit = std::get_if<syntax::ELiteral>(&e.node);
  if (lit && std::holds_alternative<syntax::IntLit>(lit->value)) {
    return exps_.check(e, i64_, "An index must be a signed integer.");
  }
  TypePtr t = vars_.new_meta(kMaskSigned);
  ExpPtr x = exps_.check(e, t, "An index must be a signed integer.");
  if (reports_.failed() || core::is_prim(vars_.resolve(x->type), PrimType::kI64)) return x;
  auto fun = make(e.range, core::make_type(core::TArrow{{}, false, x->type, {}, i64_}),
                  core::EIntrinsic{core::Intrinsic::kConvert, {x->type, i64_}, {}});
  auto converted = make(e.range, i64_, core::EApply{fun, {x}});
  fn_->exps.back().kind = PendingExp::kConvert;
  return converted;
}

std::vector<DimIndex> Arrays::dim_indexes(const std::vector<syntax::DimIndex>& slice) {
  std::vector<DimIndex> out;
  auto part = [&](const syntax::ExpPtr& e) {
    return e ? exps_.check(*e, i64_, "The parts of a slice must be of type i64.") : nullptr;
  };
  for (const auto& d : slice) {
    DimIndex x;
    if (d.is_slice) {
      x.start = part(d.start);
      x.end = part(d.end);
      x.stride = part(d.stride);
    } else {
      x.index = index_value(*d.index);
    }
    out.push_back(std::move(x));
  }
  return out;
}

ExpPtr Arrays::index(ExpPtr array, std::vector<DimIndex> dims, const SourceRange& range) {
  if (dims.empty())
    reports_.error(range, "An index has at least one position between its brackets.");
  if (reports_.failed()) return bad_exp(range);
  TypePtr elem = vars_.new_meta(), type = elem;
  // With a known type its row is used as it is, sizes and all.
  std::vector<Size> sizes;
  TypePtr t = vars_.resolve(array->type);
  size_t known = 0;
  while (known < dims.size()) {
    const auto* a = std::get_if<core::TArray>(&t->node);
    if (!a) break;
    sizes.push_back(a->dim);
    t = vars_.resolve(a->elem);
    known++;
  }
  if (known < dims.size()) {
    std::vector<Size> fresh;
    for (size_t i = 0; i < dims.size(); i++) fresh.push_back(Size::of_var(vars_.new_flex()));
    for (size_t i = dims.size(); i-- > 0;) type = core::array_type(fresh[i], type);
    infer_.unify_or_error(type, array->type, range,
                          "Cannot index this value: it is no array, or has too "
                          "few dimensions.");
    if (reports_.failed()) return bad_exp(range);
    sizes = fresh;
    t = elem;
  }
  TypePtr result = core::with_unique(t, false);
  for (size_t i = dims.size(); i-- > 0;) {
    if (!dims[i].index) result = core::array_type(sizes_.slice_size(dims[i], sizes[i]), result);
  }
  return make(range, result, core::EIndex{std::move(array), std::move(dims)});
}

// ---- updates

// `keep`: every index is used more than once, so bind it to a name.
std::vector<Arrays::Step> Arrays::path_steps(const std::vector<syntax::UpdateStep>& path, bool keep,
                                             std::vector<Let>& lets) {
  std::vector<Step> out;
  for (const auto& s : path) {
    Step step;
    step.is_field = s.is_field;
    step.field = s.field;
    if (!s.is_field) step.dims = dim_indexes(s.slice);
    if (keep) {
      for (auto& d : step.dims) {
        for (ExpPtr* e : {&d.index, &d.start, &d.end, &d.stride}) {
          if (*e) *e = exps_.share(*e, lets);
        }
      }
    }
    out.push_back(std::move(step));
  }
  return out;
}

// The type of what a slice is replaced with: its size is compared when the program runs.
TypePtr Arrays::flexible_slices(const TypePtr& type, const std::vector<DimIndex>& dims) {
  TypePtr t = vars_.resolve(type);
  const auto* a = std::get_if<core::TArray>(&t->node);
  size_t at = 0;
  while (at < dims.size() && dims[at].index) at++;
  if (!a || at == dims.size()) return type;
  return core::array_type(
      Size::of_var(vars_.new_flex()),
      flexible_slices(a->elem, {dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, dims.end()}));
}

// The type of a record in which a field got a value of type `field`.
static TypePtr with_field(const TypePtr& record, const std::string& name, const TypePtr& field) {
  const auto* r = std::get_if<core::TRecord>(&record->node);
  if (!r) return record;
  core::TRecord out = *r;
  for (auto& [known, type] : out.fields) {
    if (known == name) type = core::with_unique(field, type->unique);
  }
  return core::make_type(std::move(out), record->unique);
}

ExpPtr Arrays::update_steps(const ExpPtr& source, const std::vector<Step>& steps, size_t at,
                            const syntax::Exp& value, const SourceRange& range) {
  const Step& step = steps[at];
  const bool last = at + 1 == steps.size();
  const char* what = "Type of the new value does not match what it replaces.";
  TypePtr type = core::with_unique(source->type, false);
  if (step.is_field) {
    ExpPtr x;
    if (last) {  // the new value may have other sizes
      TypePtr field = vars_.fresh_dims(infer_.field_of(source->type, step.field, range));
      x = exps_.exp(value, field);
      if (!reports_.failed() && !infer_.unify(field, x->type)) {
        reports_.error(value.range, "Cannot set record field \"" + step.field +
                                        "\" to a value of type " + infer_.type_text(x->type) +
                                        ", as its type is " + infer_.type_text(field) + "." +
                                        comparing_.mismatch.str());
      }
    } else {
      x = update_steps(exps_.project(source, step.field, range), steps, at + 1, value, range);
    }
    return make(range, with_field(vars_.resolve(type), step.field, x->type),
                core::ERecordUpdate{source, step.field, x, !last});
  }
  ExpPtr old = index(source, step.dims, range);
  ExpPtr x = last ? exps_.check(value, flexible_slices(old->type, step.dims), what)
                  : update_steps(old, steps, at + 1, value, range);
  return make(range, type, core::EUpdate{source, step.dims, x, !last});
}

ExpPtr Arrays::update_path(ExpPtr source, const std::vector<syntax::UpdateStep>& path,
                           const syntax::Exp& value, const SourceRange& range) {
  std::vector<Let> lets;
  if (path.size() > 1) source = exps_.share(source, lets);
  std::vector<Step> steps = path_steps(path, path.size() > 1, lets);
  if (reports_.failed()) return bad_exp(range);
  ExpPtr e = update_steps(source, steps, 0, value, range);
  return exps_.wrap(lets, e);
}

// ---- ranges

ExpPtr Arrays::range_exp(const syntax::ERange& r, const SourceRange& range) {
  TypePtr t = vars_.new_meta(kMaskInt);
  const char* what = "The parts of a range must be integers of one type.";
  core::ERange out;
  out.start = exps_.check(*r.start, t, what);
  if (r.second) out.second = exps_.check(*r.second, t, what);
  out.end = exps_.check(*r.end, t, what);
  if (reports_.failed()) return bad_exp(range);
  warn_of_range(reports_, r, core::is_prim(vars_.resolve(t), PrimType::kI64), range);
  out.kind = static_cast<core::ERange::End>(r.kind);
  auto is_const = [&](const ExpPtr& e, uint64_t c) {
    const auto* l = std::get_if<core::ELit>(&e->node);
    return l && is_integer(l->value.type) && l->value.bits == c;
  };
  const bool up = r.kind == syntax::ERange::kUpExclusive;
  const bool through = r.kind == syntax::ERange::kInclusive;
  // Only these are as long as their end says: 0..<n, 0..1..<n and 1..2...n.
  const bool counts = up ? is_const(out.start, 0) && (!out.second || is_const(out.second, 1))
                         : is_const(out.start, 1) && out.second && is_const(out.second, 2);
  Size size = Size::of_var(VarId{});
  if (core::is_prim(vars_.resolve(t), PrimType::kI64) && (up || through)) {
    if (counts) {
      size = sizes_.size_of(out.end);
    } else if (!out.second) {
      size = sizes_.arithmetic(core::Intrinsic::kSub, sizes_.size_of(out.end),
                               sizes_.size_of(out.start));
      if (through) size = sizes_.arithmetic(core::Intrinsic::kAdd, size, Size::of_const(1));
    }
  }
  if (size.kind == Size::kVar && !size.var.valid()) {
    size.var = vars_.new_unknown("unknown length of range", range);
  }
  return make(range, core::array_type(sizes_.bound_size(size), t), std::move(out));
}

}  // namespace kenaz::check
