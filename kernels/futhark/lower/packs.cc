// Elements that go elsewhere: packings and sorts.
#include "kernels/futhark/lower/lowerer.h"

namespace kenaz::lower {

using ir::Atom;

std::vector<Atom> Lowerer::side_by_side(const std::vector<V>& arrays, const Atom& width) {
  std::vector<Atom> all;
  for (const V& array : arrays) {
    for (const auto& l : leaves(as_array(array).elem)) {
      if (!l.is_dim()) all.push_back(l.atom);
    }
  }
  if (failed()) return {};
  for (Atom& a : all) {
    std::vector<Atom> dims = b_.type_of(a).dims;
    dims[0] = width;
    a = reshape(a, dims, {});
  }
  return all;
}

V Lowerer::pack(const V& classes, const V& array, int count, bool rest) {
  ir::EPack e;
  e.width = as_array(classes).dim;
  e.classes = count;
  e.rest = rest;
  const std::vector<Atom> all = side_by_side({classes, array}, e.width);
  if (failed()) return unit();
  e.map = identity_lambda(all, e.inputs);
  std::vector<ir::VarId> vars = {b_.var({PrimType::kI64, {ir::i64(count)}}, "counts")};
  size_t k = 1;
  V packed = map_leaves(as_array(array).elem, [&](const Atom&) -> Atom {
    vars.push_back(b_.var(b_.type_of(all[k++]), "packed"));
    return vars.back();
  });
  const Atom width = e.width, counts = vars[0];
  b_.emit(std::move(vars), std::move(e));
  VRec out;
  for (int c = 0; c < count; ++c) {
    const ir::EIndex at{counts.var(), {ir::DimFix{ir::i64(c)}}};
    out.fields.emplace_back(std::to_string(c), leaf(b_.let({PrimType::kI64, {}}, at, "count")));
  }
  out.fields.emplace_back(std::to_string(count), make(VArr{width, packed}));
  return make(std::move(out));
}

V Lowerer::sort_keys(const V& keys) {
  ir::ESort e;
  e.width = as_array(keys).dim;
  const std::vector<Atom> all = side_by_side({keys}, e.width);
  if (failed()) return unit();
  if (!are_keys(all)) return broken("keys of a sort");
  e.map = identity_lambda(all, e.inputs);
  return make(VArr{e.width, leaf(b_.let(b_.type_of(all[0]), std::move(e), "sorted"))});
}

V Lowerer::sort_by(const V& keys, const V& array) {
  ir::ESort e;
  e.width = as_array(keys).dim;
  const std::vector<Atom> all = side_by_side({keys, array}, e.width);
  if (failed()) return unit();
  if (!are_keys(all)) return broken("keys of a sort");
  e.map = identity_lambda(all, e.inputs);
  std::vector<ir::VarId> vars = {b_.var(b_.type_of(all[0]), "keys")};
  V sorted = map_leaves(as_array(array).elem, [&](const Atom&) -> Atom {
    vars.push_back(b_.var(b_.type_of(all[vars.size()]), "sorted"));
    return vars.back();
  });
  const Atom width = e.width;
  b_.emit(std::move(vars), std::move(e));
  return make(VArr{width, sorted});
}

bool Lowerer::are_keys(const std::vector<Atom>& arrays) {
  if (arrays.empty()) return false;
  const ir::Type t = b_.type_of(arrays[0]);
  return t.rank() == 1 && prim_kind(t.prim) == PrimKind::kUnsigned;
}

}  // namespace kenaz::lower
