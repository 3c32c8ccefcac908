#include "kernels/ad/adjoint.h"

#include <utility>

#include "kernels/ad/values.h"

namespace kenaz::ad {

using namespace ir;

bool is_prefix(const Type& type, const std::vector<Dim>& dims) {
  bool ranges = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto* r = std::get_if<DimRange>(&dims[d]);
    if (r == nullptr && ranges) return false;
    if (r == nullptr) continue;
    ranges = true;
    if (!r->start.is_int(0) || !r->stride.is_int(1) || r->len != type.dims[d]) return false;
  }
  return true;
}

std::vector<Atom> value_dims(const Type& type, const Part& part) {
  if (part.is_slice()) return slice_dims(part.slice);
  std::vector<Atom> dims = part.batch;
  dims.insert(dims.end(), type.dims.begin() + static_cast<std::ptrdiff_t>(part.index.size()),
              type.dims.end());
  return dims;
}

namespace {

/// Slices whose elements may coincide are added by index.
bool may_overlap(const std::vector<Dim>& dims) {
  for (const Dim& d : dims) {
    const auto* r = std::get_if<DimRange>(&d);
    if (r != nullptr && r->stride.is_int(0)) return true;
  }
  return false;
}

VarId add_slice(Builder& b, VarId base, const Part& part) {
  const std::vector<VarId> before = b.certs();
  b.certs().insert(b.certs().end(), part.certs.begin(), part.certs.end());
  const Type t = b.program().type_of(base);
  Atom old = b.emit(EIndex{base, part.slice}, Type{t.prim, slice_dims(part.slice)}, "old");
  const Atom sum = add_values(b, old, part.value);
  const VarId out = b.update(base, part.slice, sum, "adj");
  b.certs() = before;
  return out;
}

VarId add_at_indices(Builder& b, VarId base, const Part& part) {
  const Type t = b.program().type_of(base);
  const size_t rank = part.index.size();
  // Arrays of one dim stay as they are, so that what makes them is seen.
  const bool flat = part.batch.size() == 1;
  const Atom total = flat ? part.batch[0] : b.product(part.batch);
  const std::vector<Atom> rest(t.dims.begin() + static_cast<std::ptrdiff_t>(rank), t.dims.end());
  EHist h;
  h.width = total;
  std::vector<Type> rows;
  for (const Atom& i : part.index) {
    h.inputs.push_back(flat ? i.var() : b.reshape({total}, i.var()));
    rows.push_back({PrimType::kI64, {}});
  }
  std::vector<Atom> dims{total};
  dims.insert(dims.end(), rest.begin(), rest.end());
  h.inputs.push_back(flat ? part.value.var() : b.reshape(dims, part.value.var()));
  const Type row{t.prim, rest};
  rows.push_back(row);
  h.map = identity_lambda(b.program(), rows);
  h.ops.push_back({{base}, static_cast<int>(rank), sum_of(b, row)});
  return b.emit(std::move(h), t, "adj");
}

/// The batch without dims: at one index.
VarId add_at_index(Builder& b, VarId base, const Part& part) {
  const Type t = b.program().type_of(base);
  const Atom inside = is_inside(b, part.index, t);
  return b.if_(
      inside,
      [&](Builder& in) {
        Part slice;
        slice.slice = row_dims(t, part.index);
        slice.value = part.value;
        return std::vector<Atom>{add_slice(in, base, slice)};
      },
      [&](Builder&) { return std::vector<Atom>{base}; }, {t}, "adj")[0];
}

/// `base` (null: zero), and the value if the condition holds.
Atom add_where(Builder& b, const Atom& holds, const Atom& value, const std::optional<Atom>& base) {
  const Type t = b.program().type_of(value);
  if (t.is_scalar()) {
    const Atom zero = zero_of(b, t);
    return base ? b.select(holds, add_values(b, *base, value), *base)
                : b.select(holds, value, zero);
  }
  std::vector<VarId> inputs{value.var()};
  if (base) inputs.push_back(base->var());
  const Lambda rows = b.lambda(std::vector<Type>(inputs.size(), row_type(t)),
                               [&](Builder& in, const std::vector<VarId>& v) {
                                 const auto old = base ? std::optional<Atom>(v[1]) : std::nullopt;
                                 return std::vector<Atom>{add_where(in, holds, v[0], old)};
                               },
                               {row_type(t)});
  return b.map(t.dims[0], inputs, rows, "adj")[0];
}

/// Adds the value of a part that was found. By a map, for that needs no branch.
Atom add_found(Builder& b, const Type& t, const Part& part, const std::optional<Atom>& base) {
  std::vector<VarId> inputs{b.iota(t.dims[0])};
  std::vector<Type> rows{{PrimType::kI64, {}}};
  if (base) {
    inputs.push_back(base->var());
    rows.push_back(row_type(t));
  }
  const Lambda row = b.lambda(rows,
                              [&](Builder& in, const std::vector<VarId>& v) {
                                const Atom holds = in.eq(v[0], part.index[0]);
                                const auto old = base ? std::optional<Atom>(v[1]) : std::nullopt;
                                return std::vector<Atom>{add_where(in, holds, part.value, old)};
                              },
                              {row_type(t)});
  return b.map(t.dims[0], inputs, row, "adj")[0];
}

}  // namespace

VarId add_part(Builder& b, VarId base, const Part& part) {
  if (part.is_slice() && !may_overlap(part.slice)) return add_slice(b, base, part);
  if (part.is_slice())
    return add_part(b, base, at_indices(b, Type(b.program().type_of(base)), part));
  return part.batch.empty() ? add_at_index(b, base, part) : add_at_indices(b, base, part);
}

VarId along(Builder& b, VarId array, const std::vector<Atom>& before,
            const std::vector<Atom>& behind) {
  if (!behind.empty()) {
    const VarId turned = b.replicate(behind, array);  // behind ++ [len]
    std::vector<int> perm{static_cast<int>(behind.size())};
    for (size_t k = 0; k < behind.size(); ++k) perm.push_back(static_cast<int>(k));
    array = b.rearrange(perm, turned);
  }
  return before.empty() ? array : b.replicate(before, array);
}

Part at_indices(Builder& b, const Type& type, const Part& part) {
  if (!part.is_slice()) return part;
  Part out;
  out.value = part.value;
  if (is_prefix(type, part.slice)) {
    for (const Dim& d : part.slice) {
      if (const auto* fix = std::get_if<DimFix>(&d)) out.index.push_back(fix->index);
    }
    if (!out.index.empty()) return out;
  }
  out.batch = slice_dims(part.slice);
  size_t axis = 0;
  for (const Dim& d : part.slice) {
    if (const auto* fix = std::get_if<DimFix>(&d)) {
      out.index.push_back(out.batch.empty() ? fix->index
                                            : Atom(b.replicate(out.batch, fix->index)));
      continue;
    }
    // The same along all axes of the batch but its own.
    const auto& r = std::get<DimRange>(d);
    const VarId at = b.emit(EIota{r.len, r.start, r.stride, PrimType::kI64},
                            Type{PrimType::kI64, {r.len}}, "at");
    const auto own = out.batch.begin() + static_cast<std::ptrdiff_t>(axis);
    const std::vector<Atom> before(out.batch.begin(), own), behind(own + 1, out.batch.end());
    out.index.emplace_back(along(b, at, before, behind));
    ++axis;
  }
  return out;
}

Frame Adjoints::in_frame(const std::function<void()>& f) {
  Frame outer = std::exchange(frame_, {});
  const Counters::Mark before = counters_.mark();
  f();
  counters_.forget(before);
  return std::exchange(frame_, std::move(outer));
}

void Adjoints::contribute(Builder& b, const Atom& to, const Atom& value) {
  if (!varies(to)) return;
  Adjoint& a = adjoint(to.var());
  a.value = a.value ? add_values(b, *a.value, value) : value;
}

void Adjoints::contribute(const Atom& to, Part part) {
  if (varies(to)) adjoint(to.var()).parts.push_back(std::move(part));
}

Atom Adjoints::total(Builder& b, VarId of, const Adjoint& a, const Maybe& base) {
  Maybe sum = base;
  if (a.value) sum = sum ? add_values(b, *sum, *a.value) : *a.value;
  const Type t = p_.type_of(of);
  std::vector<const Part*> others;
  for (const Part& part : a.parts) {
    if (part.found) {
      sum = add_found(b, t, part, sum);
    } else if (is_in_order(t, part)) {
      sum = sum ? add_values(b, *sum, part.value) : part.value;
    } else {
      others.push_back(&part);
    }
  }
  if (!sum) sum = zero_of(b, t);
  for (const Part* part : others) sum = add_part(b, sum->var(), *part);
  return *sum;
}

bool Adjoints::is_in_order(const Type& type, const Part& part) const {
  return part.index.size() == 1 && part.batch.size() == 1 && part.batch[0] == type.dims[0] &&
         counters_.length_of_iota(part.index[0].var()) == part.batch[0];
}

Adjoints::Maybe Adjoints::take(Builder& b, VarId v) {
  const auto it = frame_.find(v.index);
  if (it == frame_.end()) return std::nullopt;
  const Adjoint a = std::move(it->second);
  frame_.erase(it);
  return total(b, v, a, std::nullopt);
}

Atom Adjoints::take_or_zero(Builder& b, VarId v) {
  const Maybe a = take(b, v);
  return a ? *a : zero_of(b, p_.type_of(v));
}

void Adjoints::merge(Builder& b, const Frame& inner) {
  for (const auto& [index, a] : inner) {
    const VarId v{index};
    if (a.value) contribute(b, v, *a.value);
    for (const Part& part : a.parts) contribute(v, part);
  }
}

}  // namespace kenaz::ad
