// Flat slices: flat_index_Nd and flat_update_Nd read and write a one-dimensional array as N
// dimensions with a stride each. Element (i1, .., iN) is at offset + i1 * s1 + .. + iN * sN.
//
// They become maps and scatters. So every pass, derivatives among them, knows them already.
#include "kernels/futhark/lower/lowerer.h"
#include "kernels/scalar/size.h"

namespace kenaz::lower {

using ir::Atom;

/// The check that all elements of the slice are in an array of `size` elements. No part of it
/// wraps: the distances from the offset to the lowest and the highest element are sums and products
/// of sizes, which stay at Size::kMaxSize, and no array is that long.
void Lowerer::check_flat_slice(const FlatSlice& s, const Atom& size, Certs& certs) {
  const PrimType t = PrimType::kI64;
  const Atom zero = ir::i64(0), most = ir::i64(Size::kMaxSize);
  Atom valid = PrimValue::of_bool(true), empty = PrimValue::of_bool(false);
  Atom below = zero, above = zero;
  Message message{"Flat slice of shape "};
  for (size_t k = 0; k < s.counts.size(); ++k) {
    const Atom& n = s.counts[k];
    valid = b_.both(valid, b_.le(zero, n));
    empty = b_.either(empty, b_.eq(n, zero));
    // A size operation takes what is negative for 0.
    const Atom down = b_.sub(zero, b_.prim(ScalarOp::kMax, t, {s.strides[k], b_.sub(zero, most)}));
    const Atom steps = b_.sub(n, ir::i64(1));
    const auto reach = [&](const Atom& stride) {
      const Atom distance = b_.prim(ScalarOp::kMax, t, {stride, zero});
      return b_.prim(ScalarOp::kSizeMul, t, {steps, distance});
    };
    below = b_.prim(ScalarOp::kSizeAdd, t, {below, reach(down)});
    above = b_.prim(ScalarOp::kSizeAdd, t, {above, reach(s.strides[k])});
    message.insert(message.end(), {"[", n, "]"});
  }
  const Atom start = b_.both(b_.le(zero, s.offset), b_.lt(s.offset, size));
  const Atom ends = b_.both(b_.le(below, s.offset), b_.lt(above, b_.sub(size, s.offset)));
  message.insert(message.end(), {" from ", s.offset, " with strides "});
  for (size_t k = 0; k < s.strides.size(); ++k) {
    if (k > 0) message.emplace_back(", ");
    message.emplace_back(s.strides[k]);
  }
  message.insert(message.end(), {" is out of bounds for array of shape [", size, "]."});
  check(b_.both(valid, b_.either(empty, b_.both(start, ends))), std::move(message), certs);
}

/// A nest of maps over the dimensions from `depth` on.
V Lowerer::flat_gather(const V& array, const FlatSlice& s, size_t depth, const Atom& base,
                       const Certs& certs) {
  if (depth == s.counts.size()) return index_value(array, {ir::DimFix{base}}, certs);
  ir::ESoac soac;
  soac.width = s.counts[depth];
  const ir::Type type{PrimType::kI64, {soac.width}};
  soac.inputs = {
      b_.let(type, ir::EIota{soac.width, ir::i64(0), ir::i64(1), PrimType::kI64}, "iota", certs)};
  b_.open();
  soac.map.params = {b_.var({PrimType::kI64, {}}, "i")};
  const Atom next = b_.add(base, b_.mul(soac.map.params[0], s.strides[depth]));
  const V row = flat_gather(array, s, depth + 1, next, certs);
  for (const auto& l : leaves(row)) {
    if (l.is_dim()) continue;
    soac.map.body.results.push_back(l.atom);
    soac.map.ret.push_back(b_.type_of(l.atom));
  }
  soac.map.body.stms = b_.close();
  std::vector<ir::VarId> vars;
  const Atom width = soac.width;
  V out = result_arrays(width, row, vars);
  if (!vars.empty()) b_.emit(std::move(vars), std::move(soac));
  return out;
}

/// The arguments: array, offset, then per dimension its size and its stride.
V Lowerer::flat_index(const std::vector<V>& args, bool unsafe) {
  const VArr& array = as_array(args[0]);
  FlatSlice s{as_atom(args[1]), {}, {}};
  for (size_t k = 2; k + 1 < args.size(); k += 2) {
    const Atom n = as_atom(args[k]);
    // Unchecked, a negative size is none, as for iota.
    s.counts.push_back(unsafe ? b_.prim(ScalarOp::kMax, PrimType::kI64, {n, ir::i64(0)}) : n);
    s.strides.push_back(as_atom(args[k + 1]));
  }
  if (failed()) return unit();
  Certs certs;
  if (!unsafe) check_flat_slice(s, array.dim, certs);
  return flat_gather(args[0], s, 0, s.offset, certs);
}

/// The arguments: array, offset, a stride per dimension, then the values, which have the shape.
V Lowerer::flat_update(const std::vector<V>& args, bool unsafe) {
  const VArr& array = as_array(args[0]);
  FlatSlice s{as_atom(args[1]), {}, {}};
  for (size_t k = 2; k + 1 < args.size(); ++k) s.strides.push_back(as_atom(args[k]));
  V values = args.back();
  Atom total = ir::i64(1);
  for (size_t k = 0; k < s.strides.size() && !failed(); ++k) {
    const VArr& dim = as_array(values);
    s.counts.push_back(dim.dim);
    total = size_product(total, dim.dim);
    values = V(dim.elem);
  }
  if (failed()) return unit();
  Certs certs;
  if (!unsafe) check_flat_slice(s, array.dim, certs);
  const V flat = make(VArr{total, map_leaves(values, [&](const Atom& x) -> Atom {
                             std::vector<Atom> dims = b_.type_of(x).dims;
                             if (dims.size() < s.counts.size()) return x;
                             dims.erase(dims.begin(), dims.begin() + s.counts.size());
                             dims.insert(dims.begin(), total);
                             return reshape(x, dims, certs);
                           })});
  return scatter(args[0], flat_places(s, total, certs), flat, 1);
}

/// Where the elements of a slice are, in the order of the slice's elements.
V Lowerer::flat_places(const FlatSlice& s, const Atom& total, const Certs& certs) {
  const PrimType t = PrimType::kI64;
  ir::ESoac soac;
  soac.width = total;
  soac.inputs = {b_.let({t, {total}}, ir::EIota{total, ir::i64(0), ir::i64(1), t}, "iota", certs)};
  b_.open();
  soac.map.params = {b_.var({t, {}}, "i")};
  Atom rest = soac.map.params[0], place = s.offset;
  for (size_t k = s.counts.size(); k-- > 0;) {
    // A dimension of no elements is never walked; the divisor is positive whatever is moved.
    const Atom n = b_.prim(ScalarOp::kMax, t, {s.counts[k], ir::i64(1)});
    const Atom i = k > 0 ? b_.prim(ScalarOp::kRem, t, {rest, n}) : rest;
    place = b_.add(place, b_.mul(i, s.strides[k]));
    if (k > 0) rest = b_.prim(ScalarOp::kQuot, t, {rest, n});
  }
  soac.map.body.stms = b_.close();
  soac.map.body.results = {place};
  soac.map.ret = {{t, {}}};
  const ir::VarId places = b_.var({t, {total}}, "places");
  b_.emit({places}, std::move(soac), certs);
  return make(VArr{total, leaf(places)});
}

}  // namespace kenaz::lower
