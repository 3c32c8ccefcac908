#include "kernels/mfg/lower/lowerer.h"

namespace kenaz::mfg {

Atom Lowerer::wide(Builder& b, const Atom& a) {
  if (!a.is_const()) {
    const auto known = ranges_.find(a.var().index);
    if (known != ranges_.end()) return known->second.wide;
    const auto size = size_of_.find(a.var().index);
    if (size != size_of_.end()) return size->second;
  }
  return b.convert(a, PrimType::kI64);
}

Atom Lowerer::narrow(Builder& b, const Atom& a) {
  const Atom result = b.convert(a, PrimType::kI32);
  if (!result.is_const()) size_of_.emplace(result.var().index, a);
  return result;
}

void Lowerer::note_range(const Atom& a, const Atom& wide, const Atom& size) {
  if (!a.is_const()) ranges_.insert_or_assign(a.var().index, Range{wide, size});
}

bool Lowerer::in_range(const Atom& a, const Atom& size) const {
  if (a.is_const()) {
    const int64_t k = a.constant().as_i64();
    return k == 0 || (size.is_const() && k >= 0 && k < size.constant().as_i64());
  }
  const auto known = ranges_.find(a.var().index);
  if (known == ranges_.end()) return false;
  const Atom& below = known->second.size;
  if (below == size) return true;
  return below.is_const() && size.is_const() &&
         below.constant().as_i64() <= size.constant().as_i64();
}

Atom Lowerer::clamped(Builder& b, const Atom& a, const Atom& size) {
  if (in_range(a, size)) return a;
  const Atom last = b.sub(narrow(b, size), PrimValue::i32(1));
  const Atom inside = b.max(b.min(a, last), PrimValue::i32(0));
  note_range(inside, b.convert(inside, PrimType::kI64), size);
  return inside;
}

Atoms Lowerer::picture_components(Builder& b, const Placed& p, ir::VarId array, Atoms index) {
  Atoms all;
  index.push_back(ir::i64(0));
  for (int k = 0; k < 4; ++k) {
    index.back() = ir::i64(k);
    Atom c = b.index(array, index);
    if (p.bits < p.wanted_bits) {
      c = b.mul(b.convert(c, PrimType::kU16), PrimValue::of_int(PrimType::kU16, 257));
    } else if (p.bits > p.wanted_bits) {
      c = b.prim(ScalarOp::kLShr, {c, PrimValue::of_int(PrimType::kU16, 8)});
      c = b.convert(c, PrimType::kU8);
    }
    all.push_back(c);
  }
  return all;
}

Atoms Lowerer::element(Builder& b, const Placed& p, Atom x, Atom y) {
  if (p.arrays.empty() && !p.picture) return flat_element(b, p, b.add(b.mul(y, p.width), x));
  const Atoms index = p.rank == 1 ? Atoms{x} : Atoms{y, x};
  if (p.picture) return picture_components(b, p, p.array, index);
  Atoms all;
  for (const ir::VarId a : p.arrays) all.push_back(b.index(a, index));
  return all;
}

Atoms Lowerer::flat_element(Builder& b, const Placed& p, Atom at) {
  if (p.picture) return picture_components(b, p, p.flat, {at});
  if (!p.values.empty() && at.is_const()) {
    return {p.values[static_cast<size_t>(at.constant().as_i64())]};
  }
  Atoms all;
  for (const ir::VarId a : p.flats) all.push_back(b.index(a, std::vector{at}));
  return all;
}

Atom Lowerer::flat_place(Builder& b, const Placed& p, Atom x, Atom y, Atom* inside) {
  const Atom place = p.rank == 1 ? wide(b, x) : b.add(b.mul(wide(b, y), p.width), wide(b, x));
  if (inside != nullptr) {
    *inside = b.in_bounds(wide(b, x), p.width);
    if (p.rank == 2) *inside = b.logical_and(*inside, b.in_bounds(wide(b, y), p.height));
  }
  if (in_range(x, p.width) && in_range(y, p.height)) return place;
  const Atom last = b.sub(b.mul(p.width, p.height), ir::i64(1));
  return b.max(b.min(place, last), ir::i64(0));
}

Atoms Lowerer::read(Builder& b, TensorId t, Atom x, Atom y, Outside outside) {
  const Placed& p = tensors_.at(t.index);
  if (outside == Outside::kEdge) {
    x = clamped(b, x, p.width);
    if (p.rank == 2) y = clamped(b, y, p.height);
  } else if (outside == Outside::kFlat && !(in_range(x, p.width) && in_range(y, p.height))) {
    return flat_element(b, p, flat_place(b, p, x, y, nullptr));
  }
  return element(b, p, wide(b, x), wide(b, y));
}

}  // namespace kenaz::mfg
