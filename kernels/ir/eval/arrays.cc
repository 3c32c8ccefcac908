// Arrays: access, construction, shape changes. Views are materialised; only rows of combinators
// share memory with their array.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/ir/eval/machine.h"
#include "protocol/base/overloaded.h"

namespace kenaz::ir::eval {
namespace {

/// Calls f(source element, index) for every element of a strided region in row-major order, until
/// it says no. False: it did.
template <class F>
bool walk(int64_t start, std::span<const int64_t> lens, std::span<const int64_t> strides, F f) {
  if (std::find(lens.begin(), lens.end(), 0) != lens.end()) return true;
  std::vector<int64_t> at(lens.size(), 0);
  int64_t element = start;
  for (int64_t i = 0;; i++) {
    if (!f(element, i)) return false;
    size_t d = lens.size();
    while (d > 0 && ++at[d - 1] == lens[d - 1]) {
      element -= strides[d - 1] * (lens[d - 1] - 1);
      at[d - 1] = 0;
      d--;
    }
    if (d == 0) return true;
    element += strides[d - 1];
  }
}

std::vector<int64_t> row_major(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = wrapping_mul(strides[d], shape[d]);
  return strides;
}

}  // namespace

bool Machine::region(const Array& a, const std::vector<Dim>& dims, Region& r) {
  const auto strides = row_major(a.shape);
  r.start = a.offset;
  for (size_t d = 0; d < dims.size(); d++) {
    const int64_t size = a.shape[d];
    if (const auto* fix = std::get_if<DimFix>(&dims[d])) {
      const int64_t i = integer(fix->index);
      if (i < 0 || i >= size) {
        return internal(fmt::format("unchecked index {} is out of bounds {}", i, size));
      }
      r.start = wrapping_add(r.start, wrapping_mul(i, strides[d]));
      continue;
    }
    const auto& range = std::get<DimRange>(dims[d]);
    const int64_t start = integer(range.start);
    const int64_t len = integer(range.len);
    const int64_t stride = integer(range.stride);
    if (len < 0) return internal(fmt::format("unchecked slice of length {}", len));
    if (len > 0) {
      const auto last = start + static_cast<__int128>(len - 1) * stride;
      if (start < 0 || start >= size || last < 0 || last >= size) {
        return internal(
            fmt::format("an unchecked slice of {} elements from {}, {} apart, is out of "
                        "bounds {}",
                        len, start, stride, size));
      }
      r.start = wrapping_add(r.start, wrapping_mul(start, strides[d]));
    }
    r.lens.push_back(len);
    r.strides.push_back(wrapping_mul(stride, strides[d]));
  }
  return true;
}

bool Machine::index(const EIndex& e, const Stm& s) {
  const Array* a = array(e.array);
  if (!a) return false;
  const PrimType t = prim(e.array);
  const int size = bytes_of(t);
  if (e.dims.size() == 1 && std::holds_alternative<DimFix>(e.dims[0])) {  // the common case
    const int64_t i = integer(std::get<DimFix>(e.dims[0]).index);
    if (i < 0 || i >= a->shape[0]) {
      return internal(fmt::format("unchecked index {} is out of bounds {}", i, a->shape[0]));
    }
    scalars_[s.pat[0].index] = load(a->buffer->data.get() + (a->offset + i) * size, size);
    return true;
  }
  Region r;
  if (!region(*a, e.dims, r)) return false;
  if (r.lens.empty()) {
    scalars_[s.pat[0].index] = load(a->buffer->data.get() + r.start * size, size);
    return true;
  }
  Array out;
  if (!allocate(t, r.lens, out)) return false;
  const std::byte* from = a->buffer->data.get();
  std::byte* to = out.buffer->data.get();
  const bool all = walk(r.start, r.lens, r.strides, [&](int64_t element, int64_t i) {
    save(to + i * size, size, load(from + element * size, size));
    return go_on_after(i + 1);
  });
  if (!all) return false;
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

bool Machine::update(const EUpdate& e, const Stm& s) {
  if (!array(e.array)) return false;
  const PrimType t = prim(e.array);
  const int size = bytes_of(t);
  Array value;
  if (is_array(e.value)) {
    const Array* v = array(e.value.var());
    if (!v) return false;
    value = *v;  // keeps it alive; if it is a part of the array itself, make_unique copies
  }
  Array a = std::exchange(arrays_[e.array.index], {});
  if (!a.buffer->has_places && !make_unique(a, t)) return false;
  Region r;
  if (!region(a, e.dims, r)) return false;
  bool there = false;
  if (is_array(e.value) && !is_there(e.value.var(), Place{e.array, {}}, a, r.start, there)) {
    return false;
  }
  std::byte* to = a.buffer->data.get();
  if (there) {
    if (r.lens != value.shape || r.strides != row_major(r.lens)) {
      return internal("a value lies where it is not put");
    }
  } else if (r.lens.empty()) {
    save(to + r.start * size, size, bits(e.value));
  } else {
    if (value.shape != r.lens)
      return internal("an update's value has another shape than its slice");
    const std::byte* from = value.buffer->data.get() + value.offset * size;
    const bool all = walk(r.start, r.lens, r.strides, [&](int64_t element, int64_t i) {
      save(to + element * size, size, load(from + i * size, size));
      return go_on_after(i + 1);
    });
    if (!all) return false;
  }
  arrays_[s.pat[0].index] = std::move(a);
  return true;
}

bool Machine::iota(const EIota& e, const Stm& s) {
  Array out;
  if (!allocate(e.type, {std::max<int64_t>(0, integer(e.n))}, out)) return false;
  const int size = bytes_of(e.type);
  const ScalarFn add = scalar_fn(ScalarOp::kAdd, e.type, e.type);
  const ScalarFn mul = scalar_fn(ScalarOp::kMul, e.type, e.type);
  const ScalarFn convert = scalar_fn(ScalarOp::kConvert, PrimType::kI64, e.type);
  const uint64_t start = bits(e.start);
  const uint64_t stride = bits(e.stride);
  std::byte* to = out.buffer->data.get();
  for (int64_t i = 0; i < out.shape[0]; i++) {
    const uint64_t n = convert(static_cast<uint64_t>(i), 0, 0);
    save(to + i * size, size, add(start, mul(n, stride, 0), 0));
    if (!go_on_after(i + 1)) return false;
  }
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

bool Machine::replicate(const EReplicate& e, const Stm& s) {
  std::vector<int64_t> shape;
  shape_of(e.dims, shape);
  const int64_t times = count_elements(shape).value();
  const PrimType t = program.type_of(e.value).prim;
  const int size = bytes_of(t);
  Array out;
  if (!is_array(e.value)) {
    if (!allocate(t, shape, out)) return false;
    const uint64_t v = bits(e.value);
    for (int64_t i = 0; i < times; i++) {
      save(out.buffer->data.get() + i * size, size, v);
      if (!go_on_after(i + 1)) return false;
    }
  } else {
    const Array* row = array(e.value.var());
    if (!row) return false;
    const int64_t bytes = (count_elements(row->shape) * Size(size)).value();
    shape.insert(shape.end(), row->shape.begin(), row->shape.end());
    if (!allocate(t, shape, out)) return false;
    for (int64_t i = 0; i < times && bytes > 0; i++) {
      if (!copy_bytes(out.buffer->data.get() + i * bytes,
                      row->buffer->data.get() + row->offset * size, bytes) ||
          !go_on_after(i + 1)) {
        return false;
      }
    }
  }
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

bool Machine::array_lit(const EArrayLit& e, const Stm& s) {
  std::vector<int64_t> shape;
  shape_of(e.elem_type.dims, shape);
  shape.insert(shape.begin(), static_cast<int64_t>(e.elems.size()));
  Array out;
  if (!make(s.pat[0], shape, out, true)) return false;
  const auto& place = program.vars[s.pat[0].index].place;
  for (size_t i = 0; i < e.elems.size(); i++) {
    bool there = false;
    if (is_array(e.elems[i])) {
      const VarId row = e.elems[i].var();
      if (array(row) == nullptr) return false;
      const int64_t start = count_elements(arrays_[row.index].shape).value();
      if (!is_there(row, place, out, out.offset + static_cast<int64_t>(i) * start, there))
        return false;
    }
    if (there) continue;
    if (!store_row(out, e.elem_type.prim, static_cast<int64_t>(i), e.elems[i])) return false;
  }
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

bool Machine::concat(const EConcat& e, const Stm& s) {
  const PrimType t = prim(e.arrays[0]);
  std::vector<int64_t> shape;
  for (const VarId v : e.arrays) {
    const Array* a = array(v);
    if (!a) return false;
    if (shape.empty()) {
      shape = a->shape;
      shape[0] = 0;
    }
    if (!std::equal(shape.begin() + 1, shape.end(), a->shape.begin() + 1, a->shape.end())) {
      return internal("concatenated arrays differ in the shape of their rows");
    }
    shape[0] = wrapping_add(shape[0], a->shape[0]);  // if so, it is not the total either
  }
  if (shape[0] != integer(e.total))
    return internal("a concatenation has another size than it says");
  Array out;
  if (!make(s.pat[0], shape, out, true)) return false;
  const auto& place = program.vars[s.pat[0].index].place;
  int64_t start = out.offset;
  for (const VarId v : e.arrays) {
    Array to{out.buffer, start, arrays_[v.index].shape};
    bool there = false;
    if (!is_there(v, place, out, start, there)) return false;
    if (!there && !copy_elements(arrays_[v.index], t, to)) return false;
    start += count_elements(to.shape).value();
  }
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

bool Machine::rearrange(const ERearrange& e, const Stm& s) {
  const Array* a = array(e.array);
  if (!a) return false;
  const auto strides = row_major(a->shape);
  std::vector<int64_t> lens;
  std::vector<int64_t> steps;
  for (const int p : e.perm) {
    lens.push_back(a->shape[static_cast<size_t>(p)]);
    steps.push_back(strides[static_cast<size_t>(p)]);
  }
  const PrimType t = prim(e.array);
  const int size = bytes_of(t);
  Array out;
  if (!allocate(t, lens, out)) return false;
  const std::byte* from = a->buffer->data.get();
  std::byte* to = out.buffer->data.get();
  const bool all = walk(a->offset, lens, steps, [&](int64_t element, int64_t i) {
    save(to + i * size, size, load(from + element * size, size));
    return go_on_after(i + 1);
  });
  if (!all) return false;
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

bool Machine::reshape(const EReshape& e, const Stm& s) {
  const Array* a = array(e.array);
  if (!a) return false;
  std::vector<int64_t> shape;
  shape_of(e.dims, shape);
  if (count_elements(shape) != count_elements(a->shape))
    return internal("a reshape changes the number of elements");
  Array out = *a;
  out.shape = std::move(shape);
  arrays_[s.pat[0].index] = std::move(out);
  return true;
}

}  // namespace kenaz::ir::eval
