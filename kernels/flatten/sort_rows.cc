// Sorts at the points of a nest: one sort of the elements of all points, by the number of their
// point first and by their key then.
#include <algorithm>
#include <utility>

#include "kernels/flatten/distribution.h"
#include "kernels/ir/builder.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

/// Numbers of points have so many bits.
constexpr int kPointBits = 32;

PrimValue u64(int64_t n) { return PrimValue::of_int(PrimType::kU64, n); }

/// The number of the point whose indices these are, as u64.
Atom number_of(Builder& b, const Nest& nest) {
  Atom at = nest.levels[0].index;
  for (size_t k = 1; k < nest.depth(); k++) {
    at = b.add(b.mul(at, nest.levels[k].size), nest.levels[k].index);
  }
  return b.convert(at, PrimType::kU64);
}

}  // namespace

// Arrays of all elements, one behind the other, in the order of their keys.
Vars Distribution::sorted(const Vars& arrays, const Atom& total, const Stm& s, Stms& out) {
  Vars flat;
  for (const VarId array : arrays) {
    flat.push_back(p_.new_var({p_.type_of(array).prim, {total}}, "flat"));
    out.push_back(Stm{{flat.back()}, EReshape{{total}, array}, certs_, s.prov, {}});
  }
  ESeg seg;
  seg.kind = SegKind::kSort;
  const VarId i = p_.new_var({PrimType::kI64, {}}, "i");
  seg.space.dims.push_back({i, total});
  for (const VarId array : flat) {
    const VarId x = p_.new_var({p_.type_of(array).prim, {}}, "x");
    seg.body.stms.push_back(Stm{{x}, EIndex{array, {DimFix{i}}}, {}, s.prov, {}});
    seg.body.results.emplace_back(x);
  }
  return emit(std::move(seg), s, out);
}

Vars Distribution::sort_rows(const Nest& nest, const Stm& s, ESort e, Stms& out) {
  const Nest in = enter(nest, e.width, e.inputs, e.map, s);
  prov_ = s.prov;
  Body& elements = e.map.body;
  Stms group;
  walk(in, elements, group, out);
  if (failed_) return {};
  const PrimType key = e.map.ret[0].prim;
  const int key_bits = 8 * static_cast<int>(prim_size(key));
  const bool in_one = key_bits + kPointBits <= 64;

  // Of every element: its key, with the number of its point in front or beside it, and its values.
  Body numbers;
  Builder b(p_, numbers, s.prov);
  Atom point = number_of(b, nest);
  std::vector<Atom> atoms = elements.results;
  if (in_one) {
    point = b.prim(ScalarOp::kShl, {point, u64(key_bits)});
    atoms[0] = b.prim(ScalarOp::kOr, {point, b.convert(atoms[0], PrimType::kU64)});
  } else {
    atoms.push_back(b.convert(point, PrimType::kU32));
  }
  for (Stm& made : numbers.stms) {
    parallelism_.is_varying(made.pat[0]);
    group.push_back(std::move(made));
  }
  const Vars unsorted = results(in, std::move(group), atoms, out);

  Body sizes;
  Builder host(p_, sizes, s.prov);
  host.certs() = certs_;
  std::vector<Atom> points;
  for (const SegDim& d : nest.levels) points.push_back(d.size);
  const Atom count = host.product(points);
  const Atom few = host.le(count, i64(int64_t{1} << kPointBits));
  const VarId check = p_.new_var({PrimType::kBool, {}}, "check");
  host.emit_to({check}, EAssert{few, {"Cannot sort ", count, " arrays at once."}});
  const Atom total = host.mul(count, e.width);
  for (Stm& made : sizes.stms) out.push_back(std::move(made));

  certs_.push_back(check);
  Vars flat = sorted(unsorted, total, s, out);
  if (!in_one) {
    // Those of equal numbers stay in their order.
    std::rotate(flat.begin(), flat.end() - 1, flat.end());
    flat = sorted(flat, total, s, out);
    flat.erase(flat.begin());
  }
  Vars all;
  for (const VarId v : flat) {
    const Type t = nest.array_of({p_.type_of(v).prim, {e.width}});
    all.push_back(p_.new_var(t, "sorted"));
    out.push_back(Stm{{all.back()}, EReshape{t.dims, v}, certs_, s.prov, {}});
  }
  if (in_one) all[0] = low_bits(in, all[0], key, s, out);
  certs_.pop_back();
  return all;
}

// The keys without the numbers of their points.
VarId Distribution::low_bits(const Nest& in, VarId keys, PrimType key, const Stm& s, Stms& out) {
  ESeg seg;
  std::vector<Dim> at;
  for (const SegDim& level : in.levels) {
    const VarId i = p_.new_var({PrimType::kI64, {}}, "i");
    seg.space.dims.push_back({i, level.size});
    at.emplace_back(DimFix{i});
  }
  Builder b(p_, seg.body, s.prov);
  const Atom both = b.emit(EIndex{keys, std::move(at)}, Type{PrimType::kU64, {}}, "both");
  seg.body.results.push_back(b.convert(both, key));
  return emit(std::move(seg), s, out)[0];
}

}  // namespace kenaz::flatten
