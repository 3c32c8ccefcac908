#include "kernels/flatten/pieces.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"

namespace kenaz::flatten {

using namespace ir;

Vars Pieces::emit(ESeg seg, const Stm& of, Stms& out) {
  count_++;
  Vars pat;
  for (const Type& t : seg_types(p_, seg)) pat.push_back(p_.new_var(t, "seg"));
  out.push_back(Stm{pat, std::move(seg), certs_, of.prov, {}});
  return pat;
}

Vars Pieces::new_arrays(const Nest& nest, const Vars& pat) {
  Vars arrays;
  for (const VarId v : pat) {
    arrays.push_back(p_.new_var(nest.array_of(p_.type_of(v)), p_.vars[v.index].name));
  }
  return arrays;
}

std::vector<VarId> Pieces::varying_certs(const Stm& s) const {
  std::vector<VarId> certs;
  for (const VarId c : s.certs) {
    if (parallelism_.varies(c)) certs.push_back(c);
  }
  return certs;
}

bool Pieces::depends_on(const VarSet& made, const Atom& a) const {
  VarSet needed;
  if (!a.is_const()) values_.add_needs(a.var(), needed);
  return std::any_of(needed.begin(), needed.end(), [&](VarId v) { return made.contains(v); });
}

// Arrays of the values at all points; one ESeg makes those that are not there yet.
Vars Pieces::results(const Nest& nest, Stms group, const std::vector<Atom>& atoms, Stms& out) {
  VarSet made;
  for (const Stm& s : group) made.insert(s.pat.begin(), s.pat.end());
  Vars arrays(atoms.size());
  std::vector<Atom> todo;
  std::vector<size_t> places;
  const ProvId prov = group.empty() ? prov_ : group.back().prov;
  for (size_t k = 0; k < atoms.size(); k++) {
    const Atom& a = atoms[k];
    if (!a.is_const() && !made.contains(a.var())) {
      if (const VarId* there = values_.stored(a.var(), nest)) {
        const bool is_own = !views_.contains(*there);
        arrays[k] = is_own ? *there : elementwise(nest, {}, a.var(), prov, out);
        continue;
      }
      if (!p_.type_of(a).is_scalar() && !depends_on(made, a)) {
        arrays[k] = elementwise(nest, {}, a.var(), prov, out);
        continue;
      }
    }
    if (!a.is_const() && made.contains(a.var())) {
      if (const auto array = viewed_array(nest, group, a.var(), out)) {
        arrays[k] = *array;
        continue;
      }
    }
    todo.push_back(a);
    places.push_back(k);
  }
  if (todo.empty()) return arrays;
  ESeg seg;
  Stm of{{}, EAtom{}, {}, prov, {}};
  seg.body = values_.body_at_point(nest, group, std::move(todo), seg.space);
  const Vars pat = emit(std::move(seg), of, out);
  for (size_t k = 0; k < pat.size(); k++) arrays[places[k]] = pat[k];
  return arrays;
}

// A copy of an array at every point, by a thread for each element, which runs the statements
// before.
VarId Pieces::elementwise(const Nest& nest, Stms before, VarId v, ProvId prov, Stms& out) {
  std::vector<Dim> dims;
  const Nest in = with_elements(nest, p_.type_of(v).dims, dims);
  const VarId x = p_.new_var({p_.type_of(v).prim, {}}, "x");
  ESeg seg;
  before.push_back(Stm{{x}, EIndex{v, std::move(dims)}, {}, prov, {}});
  seg.body = values_.body_at_point(in, before, {Atom(x)}, seg.space);
  return emit(std::move(seg), Stm{{}, EAtom{}, {}, prov, {}}, out)[0];
}

namespace {

/// What an array is put together of: `size` rows of each part, which are those of an array, or that
/// one if it is a row itself.
struct Part {
  VarId array;
  Atom size;
  bool is_row;
};

std::vector<Part> parts_of(const Program& p, const Exp& exp) {
  std::vector<Part> parts;
  if (const auto* e = std::get_if<EConcat>(&exp)) {
    for (const VarId v : e->arrays) parts.push_back({v, p.type_of(v).dims[0], false});
  } else if (const auto* l = std::get_if<EArrayLit>(&exp)) {
    for (const Atom& a : l->elems) parts.push_back({a.var(), i64(1), true});
  } else {
    const auto& r = std::get<EReplicate>(exp);
    parts.push_back({r.value.var(), r.dims[0], true});
  }
  return parts;
}

/// The element at `at` of the parts from number `n` on, the first of which begins at `before`.
Atom element_of(Builder& b, const std::vector<Part>& parts, size_t n, const Atom& before,
                const std::vector<Atom>& at) {
  const Part& part = parts[n];
  const Type t = b.program().type_of(part.array);  // of variables there will be more
  const auto load = [&](Builder& k) -> std::vector<Atom> {
    // A row may be repeated along several dims.
    const size_t own = t.dims.size() - static_cast<size_t>(!part.is_row);
    std::vector<Atom> inside(at.end() - static_cast<std::ptrdiff_t>(own), at.end());
    if (!part.is_row)
      inside.insert(inside.begin(), part.size.is_int(1) ? i64(0) : k.sub(at[0], before));
    return {k.index(part.array, inside)};
  };
  if (n + 1 == parts.size()) return load(b)[0];
  const Atom end = b.add(before, part.size);
  const auto behind = [&](Builder& k) -> std::vector<Atom> {
    return {element_of(k, parts, n + 1, end, at)};
  };
  return b.if_(b.lt(at[0], end), load, behind, {Type{t.prim, {}}}, "x")[0];
}

}  // namespace

VarId Pieces::put_together(const Nest& nest, const Stm& s, Stms& out) {
  std::vector<Dim> dims;
  const Nest in = with_elements(nest, p_.type_of(s.pat[0]).dims, dims);
  std::vector<Atom> at;
  for (const Dim& d : dims) at.push_back(std::get<DimFix>(d).index);
  Body body;
  Builder b(p_, body, s.prov);
  b.certs() = varying_certs(s);
  const Atom x = element_of(b, parts_of(p_, s.exp), 0, i64(0), at);
  ESeg seg;
  seg.body = values_.body_at_point(in, body.stms, {x}, seg.space);
  return emit(std::move(seg), s, out)[0];
}

namespace {

/// Whether the statement moves no elements.
bool is_view(const Stm& s) {
  return std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EAssert>(s.exp) ||
         std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
         std::holds_alternative<ERearrange>(s.exp);
}

}  // namespace

// Of an array that the group makes as a view or copy of another one, by arithmetic and checks
// alone: a thread for each point would copy all of it, even if that is the only one.
std::optional<VarId> Pieces::viewed_array(const Nest& nest, const Stms& group, VarId v, Stms& out) {
  VarSet needed;
  values_.add_needs(v, needed);
  Stms stms;
  for (size_t k = group.size(); k-- > 0;) {
    const auto& pat = group[k].pat;
    if (std::none_of(pat.begin(), pat.end(), [&](VarId w) { return needed.contains(w); })) continue;
    stms.insert(stms.begin(), group[k]);
    for (const VarId w : free_vars(p_, group[k])) values_.add_needs(w, needed);
  }
  const Type t = p_.type_of(v);
  const Stm* again = values_.recipe(v);
  if ((stms.empty() && again == nullptr) || t.is_scalar() || nest.depth() == 0 ||
      parallelism_.varies(t)) {
    return std::nullopt;
  }
  const Stm& last = again != nullptr ? *again : stms.back();
  if (const auto* e = std::get_if<EReshape>(&last.exp)) {
    if (!varying_certs(last).empty()) return std::nullopt;
    const auto rows = viewed_array(nest, group, e->array, out);
    if (!rows) return std::nullopt;
    const Type all = nest.array_of(t);
    const VarId array = p_.new_var(all, p_.vars[v.index].name);
    std::vector<VarId> certs = certs_;
    certs.insert(certs.end(), last.certs.begin(), last.certs.end());
    out.push_back(Stm{{array}, EReshape{all.dims, *rows}, std::move(certs), last.prov, {}});
    return array;
  }
  const ProvId prov = last.prov;
  VarId from = v;
  if (const auto* e = std::get_if<ECopy>(&last.exp); e != nullptr && last.certs.empty()) {
    from = e->array;
    stms.pop_back();
  } else if (!is_view(last)) {
    return std::nullopt;
  }
  if (!std::all_of(stms.begin(), stms.end(), is_view)) return std::nullopt;
  return elementwise(nest, std::move(stms), from, prov, out);
}

// An array of the value at every point which may be overwritten.
VarId Pieces::own_array(const Nest& nest, const Atom& value, ProvId prov, Stms& out) {
  prov_ = prov;
  if (value.is_const() || p_.type_of(value).is_scalar()) {
    if (!value.is_const() && values_.stored(value.var(), nest) != nullptr) {
      return *values_.stored(value.var(), nest);
    }
    return results(nest, {}, {value}, out)[0];
  }
  const VarId v = value.var();
  if (nest.depth() == 0) return v;
  const VarId* there = values_.stored(v, nest);
  if (there != nullptr && !views_.contains(*there)) return *there;
  return elementwise(nest, {}, v, prov, out);
}

bool Pieces::is_stored(const Nest& nest, const Stm& update) const {
  const auto* e = std::get_if<EUpdate>(&update.exp);
  return e != nullptr && nest.depth() > 0 && values_.stored(e->array, nest) != nullptr;
}

VarId Pieces::updated(const Nest& nest, const Stm& s, Stms& out) {
  const auto& e = std::get<EUpdate>(s.exp);
  const VarId dest = own_array(nest, Atom(e.array), s.prov, out);
  std::vector<Dim> of_value;
  const Nest in = with_elements(nest, slice_dims(e.dims), of_value);
  Body body;
  Builder b(p_, body, s.prov);
  b.certs() = varying_certs(s);
  std::vector<Atom> results;
  auto next = of_value.begin();
  for (const Dim& d : e.dims) {
    if (const auto* range = std::get_if<DimRange>(&d)) {
      const Atom k = std::get<DimFix>(*next++).index;
      results.push_back(b.add(range->start, b.mul(k, range->stride)));
    } else {
      results.emplace_back(b.emit(EAtom{std::get<DimFix>(d).index}, {PrimType::kI64, {}}));
    }
  }
  Exp value = EAtom{e.value};
  if (!of_value.empty()) value = EIndex{e.value.var(), std::move(of_value)};
  results.emplace_back(b.emit(std::move(value), {p_.type_of(e.value).prim, {}}, "x"));
  ESeg seg;
  seg.body = values_.body_at_point(in, body.stms, results, seg.space);
  seg.writes.push_back(
      {{dest}, static_cast<int>(e.dims.size()), static_cast<int>(nest.depth()), {}});
  return emit(std::move(seg), s, out)[0];
}

// As that of the values, also of what is rearranged at each point: then all are, in one step.
std::optional<VarId> Pieces::whole(const Nest& nest, VarId v, ProvId prov, Stms& out) {
  if (const auto there = values_.whole(v, nest)) return there;
  const Stm* made = values_.recipe(v);
  const auto* e = made == nullptr ? nullptr : std::get_if<ERearrange>(&made->exp);
  if (e == nullptr || !made->certs.empty()) return std::nullopt;
  const auto there = whole(nest, e->array, prov, out);
  if (!there) return std::nullopt;
  std::vector<int> perm(nest.depth());
  std::iota(perm.begin(), perm.end(), 0);
  for (const int d : e->perm) perm.push_back(d + static_cast<int>(nest.depth()));
  const VarId all = p_.new_var(nest.array_of(p_.type_of(v)), p_.vars[v.index].name);
  out.push_back(Stm{{all}, ERearrange{std::move(perm), *there}, certs_, prov, {}});
  return all;
}

// Of an array that is there at all points, in one step: of rows that are not dense a thread would
// make a copy.
bool Pieces::reshape(const Nest& nest, const Stm& s, Stms& out) {
  const auto* e = std::get_if<EReshape>(&s.exp);
  if (e == nullptr || nest.depth() == 0 || !varying_certs(s).empty() ||
      parallelism_.varies(p_.type_of(s.pat[0]))) {
    return false;
  }
  const auto there = whole(nest, e->array, s.prov, out);
  if (!there) return false;
  const Type all = nest.array_of(p_.type_of(s.pat[0]));
  const VarId array = p_.new_var(all, p_.vars[s.pat[0].index].name);
  std::vector<VarId> certs = certs_;
  certs.insert(certs.end(), s.certs.begin(), s.certs.end());
  out.push_back(Stm{{array}, EReshape{all.dims, *there}, std::move(certs), s.prov, {}});
  values_.store(s.pat[0], array, nest);
  views_.insert(array);
  return true;
}

// Levels for the elements of arrays with these dims; `at` gets their indices.
Nest Pieces::with_elements(Nest nest, std::vector<Atom> dims, std::vector<Dim>& at) {
  for (Atom& size : dims) {
    const VarId index = p_.new_var({PrimType::kI64, {}}, "e");
    parallelism_.is_varying(index);
    nest = nest.with({index, std::move(size)});
    at.emplace_back(DimFix{Atom(index)});
  }
  return nest;
}

Stms Pieces::read_elements(const std::vector<Atom>& arrays, const std::vector<Dim>& at, ProvId prov,
                           std::vector<Atom>& elements) {
  Stms reads;
  for (const Atom& a : arrays) {
    const VarId x = p_.new_var({p_.type_of(a).prim, {}}, "x");
    reads.push_back(Stm{{x}, EIndex{a.var(), at}, {}, prov, {}});
    elements.emplace_back(x);
  }
  return reads;
}

// One scan or reduction of values that can be had at every point of `in`.
Vars Pieces::combined(SegKind kind, const Nest& in, const Monoid& m, const std::vector<Atom>& atoms,
                      const Stm& s, Stms& out) {
  const auto lifted = parallelism_.lifted(m);
  ESeg seg;
  seg.kind = kind;
  if (!lifted || lifted->dims.empty()) {
    seg.body = values_.body_at_point(in, {}, atoms, seg.space);
    seg.monoids.push_back({m, {}});
    return emit(std::move(seg), s, out);
  }
  // Element by element: their dims stand before the one that is reduced.
  Nest nest = in;
  nest.levels.pop_back();
  std::vector<Dim> at;
  nest = with_elements(nest, lifted->dims, at);
  nest = nest.with(in.levels.back());
  std::vector<Atom> elements;
  const Stms reads = read_elements(atoms, at, s.prov, elements);
  seg.body = values_.body_at_point(nest, reads, elements, seg.space);
  seg.monoids.push_back({lifted->scalar, {}});
  Vars made = emit(std::move(seg), s, out);
  if (kind == SegKind::kReduce) return made;
  // The scanned dim goes back to its place.
  std::vector<int> perm;
  const int before = static_cast<int>(in.depth()) - 1;
  const int rank = static_cast<int>(nest.depth());
  for (int d = 0; d < before; d++) perm.push_back(d);
  perm.push_back(rank - 1);
  for (int d = before; d + 1 < rank; d++) perm.push_back(d);
  Body after;
  Builder builder(p_, after, s.prov);
  for (VarId& v : made) v = builder.rearrange(perm, v);
  out.insert(out.end(), after.stms.begin(), after.stms.end());
  return made;
}

// One histogram, of values that can be had at every point of `in`.
Vars Pieces::written(const Nest& in, SegWrite w, std::vector<Atom> index,
                     const std::vector<Atom>& values, const Stm& s, Stms& out) {
  ESeg seg;
  Nest nest = in;
  Stms reads;
  std::vector<Atom> elements = values;
  const auto lifted = parallelism_.lifted(w.combine->op);
  if (lifted && !lifted->dims.empty()) {
    std::vector<Dim> at;
    nest = with_elements(in, lifted->dims, at);
    elements.clear();
    reads = read_elements(values, at, s.prov, elements);
    for (const Dim& d : at) index.push_back(std::get<DimFix>(d).index);
    w.index_rank += static_cast<int>(at.size());
    w.combine->op = lifted->scalar;
  }
  index.insert(index.end(), elements.begin(), elements.end());
  seg.body = values_.body_at_point(nest, reads, index, seg.space);
  seg.writes.push_back(std::move(w));
  return emit(std::move(seg), s, out);
}

}  // namespace kenaz::flatten
