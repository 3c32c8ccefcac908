// Combinators, one element after the other.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/ir/eval/machine.h"

namespace kenaz::ir::eval {

bool Machine::wrong_width(int64_t rows, int64_t width) {
  return internal(fmt::format("an input has {} rows, not {}", rows, width));
}

bool Machine::bind_rows(const std::vector<VarId>& inputs, const Lambda& f, int64_t i,
                        int64_t width) {
  for (size_t k = 0; k < inputs.size(); k++) {
    const Array* a = array(inputs[k]);
    if (!a) return false;
    if (a->shape[0] != width) return wrong_width(a->shape[0], width);
    const VarId p = f.params[k];
    const int size = bytes_of(prim(inputs[k]));
    if (a->shape.size() == 1) {
      scalars_[p.index] = load(a->buffer->data.get() + (a->offset + i) * size, size);
      continue;
    }
    Array& row = arrays_[p.index];
    row.buffer = a->buffer;
    row.shape.assign(a->shape.begin() + 1, a->shape.end());
    row.offset = a->offset + i * count_elements(row.shape).value();
  }
  return true;
}

void Machine::drop_rows(const Lambda& f) {
  for (const VarId p : f.params) arrays_[p.index].buffer.reset();
}

bool Machine::make_output(VarId v, int64_t width, Array& out) {
  std::vector<int64_t> shape;
  shape_of(program.type_of(v).dims, shape);
  if (shape.empty() || shape[0] != width)
    return internal("a result has another width than its SOAC");
  return allocate(prim(v), shape, out);
}

bool Machine::store_row(Array& out, PrimType type, int64_t i, const Atom& row) {
  const int size = bytes_of(type);
  if (!is_array(row)) {
    if (out.shape.size() != 1) return internal("a scalar is stored as a row");
    save(out.buffer->data.get() + (out.offset + i) * size, size, bits(row));
    return true;
  }
  const Array* a = array(row.var());
  if (!a) return false;
  if (!std::equal(out.shape.begin() + 1, out.shape.end(), a->shape.begin(), a->shape.end())) {
    return internal("rows of a result differ in shape");
  }
  const int64_t bytes = (count_elements(a->shape) * Size(size)).value();
  if (bytes > 0) {
    std::memcpy(out.buffer->data.get() + out.offset * size + i * bytes,
                a->buffer->data.get() + a->offset * size, static_cast<size_t>(bytes));
  }
  return true;
}

bool Machine::start(const Monoid& m) {
  for (size_t k = 0; k < m.neutral.size(); k++) {
    if (!bind(m.op.params[k], m.neutral[k], false)) return false;
  }
  return true;
}

bool Machine::combine(const Monoid& m, std::span<const Atom> elems) {
  const size_t n = m.neutral.size();
  for (size_t k = 0; k < n; k++) {
    if (!bind(m.op.params[n + k], elems[k], false)) return false;
  }
  if (!run(m.op.body)) return false;
  next_.resize(std::max(next_.size(), n));
  for (size_t k = 0; k < n; k++) {
    const Atom& r = m.op.body.results[k];
    if (!is_array(r)) {
      next_[k].bits = bits(r);
      continue;
    }
    const Array* a = array(r.var());
    if (!a) return false;
    next_[k].array = *a;
  }
  put_next(n, [&](size_t k) { return m.op.params[k]; });
  return true;
}

bool Machine::soac_step(const ESoac& e, int64_t i, int64_t width, std::vector<Array>& outs,
                        const Stm& s) {
  if (!bind_rows(e.inputs, e.map, i, width) || !run(e.map.body)) return false;
  const std::span<const Atom> results = e.map.body.results;
  size_t at = 0;
  for (const Monoid& m : e.scans) {
    if (!combine(m, results.subspan(at))) return false;
    for (size_t k = 0; k < m.neutral.size(); k++, at++) {
      if (!store_row(outs[at], prim(s.pat[at]), i, m.op.params[k])) return false;
    }
  }
  for (const Monoid& m : e.reduces) {
    if (!combine(m, results.subspan(at))) return false;
    at += m.neutral.size();
  }
  for (; at < results.size(); at++) {
    if (!store_row(outs[at], prim(s.pat[at]), i, results[at])) return false;
  }
  return true;
}

bool Machine::soac(const ESoac& e, const Stm& s) {
  const int64_t width = integer(e.width);
  size_t scanned = 0;
  size_t reduced = 0;
  for (const Monoid& m : e.scans) scanned += m.neutral.size();
  for (const Monoid& m : e.reduces) reduced += m.neutral.size();
  std::vector<Array> outs(s.pat.size());
  for (size_t k = 0; k < s.pat.size(); k++) {
    const bool is_reduction = k >= scanned && k < scanned + reduced;
    if (!is_reduction && !make_output(s.pat[k], width, outs[k])) return false;
  }
  for (const Monoid& m : e.scans) {
    if (!start(m)) return false;
  }
  for (const Monoid& m : e.reduces) {
    if (!start(m)) return false;
  }
  for (int64_t i = 0; i < width; i++) {
    if (!soac_step(e, i, width, outs, s)) return false;
  }
  drop_rows(e.map);
  size_t at = scanned;
  for (const Monoid& m : e.reduces) {
    for (size_t k = 0; k < m.neutral.size(); k++, at++) {
      if (!bind(s.pat[at], m.op.params[k], true)) return false;
    }
  }
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (outs[k].buffer) arrays_[s.pat[k].index] = std::move(outs[k]);
  }
  return true;
}

int64_t Machine::row_number(const Array& a, std::span<const Atom> index) {
  int64_t row = 0;
  for (size_t d = 0; d < index.size(); d++) {
    const int64_t i = integer(index[d]);
    if (i < 0 || i >= a.shape[d]) return -1;
    row = wrapping_add(wrapping_mul(row, a.shape[d]), i);
  }
  // Rows without elements may have numbers that wrap: nothing is stored there.
  return std::max<int64_t>(row, 0);
}

Array as_rows(const Array& a, int rank) {
  Array rows = a;
  const auto split = a.shape.begin() + rank;
  rows.shape.assign(1, count_elements({a.shape.begin(), split}).value());
  rows.shape.insert(rows.shape.end(), split, a.shape.end());
  return rows;
}

bool Machine::scatter(const EScatter& e, const Stm& s) {
  const int64_t width = integer(e.width);
  std::vector<Array> dests;
  for (const auto& d : e.dests) {
    if (!array(d.array)) return false;
    dests.push_back(std::exchange(arrays_[d.array.index], {}));
    if (!make_unique(dests.back(), prim(d.array))) return false;
  }
  size_t indices = 0;
  for (const auto& d : e.dests) indices += static_cast<size_t>(d.index_rank);
  for (int64_t i = 0; i < width; i++) {
    if (!bind_rows(e.inputs, e.map, i, width) || !run(e.map.body)) return false;
    const std::span<const Atom> results = e.map.body.results;
    size_t at = 0;
    for (size_t k = 0; k < dests.size(); k++) {
      const auto rank = static_cast<size_t>(e.dests[k].index_rank);
      const int64_t row = row_number(dests[k], results.subspan(at, rank));
      at += rank;
      if (row < 0) continue;
      Array rows = as_rows(dests[k], e.dests[k].index_rank);
      if (!store_row(rows, prim(e.dests[k].array), row, results[indices + k])) return false;
    }
  }
  drop_rows(e.map);
  for (size_t k = 0; k < dests.size(); k++) arrays_[s.pat[k].index] = std::move(dests[k]);
  return true;
}

bool Machine::load_row(const Array& a, PrimType type, int64_t row, int index_rank, VarId into) {
  const int size = bytes_of(type);
  if (!is_array(into)) {
    scalars_[into.index] = load(a.buffer->data.get() + (a.offset + row) * size, size);
    return true;
  }
  Array view = as_rows(a, index_rank);
  view.shape.erase(view.shape.begin());
  view.offset = a.offset + row * count_elements(view.shape).value();
  return copy_of(view, type, arrays_[into.index]);
}

bool Machine::hist_step(const EHist& e, std::vector<std::vector<Array>>& dests) {
  const std::span<const Atom> results = e.map.body.results;
  size_t index_at = 0;
  size_t value_at = 0;
  for (const auto& op : e.ops) value_at += static_cast<size_t>(op.index_rank);
  for (size_t o = 0; o < e.ops.size(); o++) {
    const auto& op = e.ops[o];
    const auto rank = static_cast<size_t>(op.index_rank);
    const auto index = results.subspan(index_at, rank);
    const auto values = results.subspan(value_at, op.dests.size());
    index_at += rank;
    value_at += op.dests.size();
    const int64_t row = row_number(dests[o][0], index);
    if (row < 0) continue;
    for (size_t k = 0; k < op.dests.size(); k++) {
      const VarId acc = op.monoid.op.params[k];
      if (!load_row(dests[o][k], prim(op.dests[k]), row, op.index_rank, acc)) return false;
    }
    if (!combine(op.monoid, values)) return false;
    for (size_t k = 0; k < op.dests.size(); k++) {
      Array rows = as_rows(dests[o][k], op.index_rank);
      if (!store_row(rows, prim(op.dests[k]), row, op.monoid.op.params[k])) return false;
    }
  }
  return true;
}

bool Machine::hist(const EHist& e, const Stm& s) {
  const int64_t width = integer(e.width);
  std::vector<std::vector<Array>> dests;
  for (const auto& op : e.ops) {
    auto& list = dests.emplace_back();
    for (const VarId d : op.dests) {
      if (!array(d)) return false;
      list.push_back(std::exchange(arrays_[d.index], {}));
      if (!make_unique(list.back(), prim(d))) return false;
    }
  }
  for (int64_t i = 0; i < width; i++) {
    if (!bind_rows(e.inputs, e.map, i, width) || !run(e.map.body) || !hist_step(e, dests)) {
      return false;
    }
  }
  drop_rows(e.map);
  size_t at = 0;
  for (auto& list : dests) {
    for (auto& a : list) arrays_[s.pat[at++].index] = std::move(a);
  }
  return true;
}

}  // namespace kenaz::ir::eval
