// Packings and sortings: all elements first, then where they go.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/ir/eval/machine.h"

namespace kenaz::ir::eval {

namespace {

/// Row order[n] of `from` becomes row n of `to`.
void move_rows(const Array& from, PrimType type, const std::vector<int64_t>& order, Array& to) {
  int64_t bytes = prim_size(type);
  const int64_t start = to.offset * bytes;
  for (size_t d = 1; d < from.shape.size(); d++) bytes *= from.shape[d];
  if (bytes == 0) return;
  for (size_t n = 0; n < order.size(); n++) {
    std::memcpy(to.buffer->data.get() + start + static_cast<int64_t>(n) * bytes,
                from.buffer->data.get() + order[n] * bytes, static_cast<size_t>(bytes));
  }
}

}  // namespace

Packing::Packing(Machine& m, const Stm& s, int classes, bool rest)
    : m_(m), s_(s), classes_(classes), rest_(rest) {}

bool Packing::prepare(int64_t width) {
  class_of_.assign(static_cast<size_t>(std::max<int64_t>(width, 0)), 0);
  made_.resize(s_.pat.size());
  packed_.resize(s_.pat.size());
  for (size_t k = 1; k < made_.size(); k++) {
    if (!m_.make_output(s_.pat[k], width, made_[k])) return false;
    if (!m_.make(s_.pat[k], made_[k].shape, packed_[k])) return false;
  }
  return m_.make(s_.pat[0], {classes_}, packed_[0]);
}

bool Packing::put(int64_t i, std::span<const Atom> element) {
  const auto found = static_cast<int32_t>(m_.bits(element[0]));
  class_of_[static_cast<size_t>(i)] = found >= 0 && found < classes_ ? found : classes_;
  for (size_t k = 1; k < made_.size(); k++) {
    if (!m_.store_row(made_[k], m_.prim(s_.pat[k]), i, element[k])) return false;
  }
  return true;
}

bool Packing::finish() {
  std::vector<int64_t> counts(static_cast<size_t>(classes_) + 1, 0), order;
  for (int c = 0; c < classes_ + (rest_ ? 1 : 0); c++) {
    for (size_t i = 0; i < class_of_.size(); i++) {
      if (class_of_[i] != c) continue;
      order.push_back(static_cast<int64_t>(i));
      counts[static_cast<size_t>(c)]++;
    }
  }
  for (size_t k = 1; k < made_.size(); k++) {
    move_rows(made_[k], m_.prim(s_.pat[k]), order, packed_[k]);
  }
  for (int c = 0; c < classes_; c++) {
    const Atom count = i64(counts[static_cast<size_t>(c)]);
    if (!m_.store_row(packed_[0], PrimType::kI64, c, count)) return false;
  }
  for (size_t k = 0; k < packed_.size(); k++) m_.put(s_.pat[k], {0, std::move(packed_[k])});
  return true;
}

bool Sorting::prepare(int64_t width) {
  keys_.assign(static_cast<size_t>(std::max<int64_t>(width, 0)), 0);
  made_.resize(s_.pat.size());
  sorted_.resize(s_.pat.size());
  for (size_t k = 0; k < made_.size(); k++) {
    if (!m_.make_output(s_.pat[k], width, made_[k])) return false;
    if (!m_.make(s_.pat[k], made_[k].shape, sorted_[k])) return false;
  }
  return true;
}

bool Sorting::put(int64_t i, std::span<const Atom> element) {
  keys_[static_cast<size_t>(i)] = m_.bits(element[0]);
  for (size_t k = 0; k < made_.size(); k++) {
    if (!m_.store_row(made_[k], m_.prim(s_.pat[k]), i, element[k])) return false;
  }
  return true;
}

bool Sorting::finish() {
  std::vector<int64_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys_[static_cast<size_t>(a)] < keys_[static_cast<size_t>(b)];
  });
  for (size_t k = 0; k < made_.size(); k++) {
    move_rows(made_[k], m_.prim(s_.pat[k]), order, sorted_[k]);
    m_.put(s_.pat[k], {0, std::move(sorted_[k])});
  }
  return true;
}

bool Machine::pack(const EPack& e, const Stm& s) {
  const int64_t width = integer(e.width);
  Packing packing(*this, s, e.classes, e.rest);
  if (!packing.prepare(width)) return false;
  for (int64_t i = 0; i < width; i++) {
    if (!bind_rows(e.inputs, e.map, i, width) || !run(e.map.body) ||
        !packing.put(i, e.map.body.results)) {
      return false;
    }
  }
  drop_rows(e.map);
  return packing.finish();
}

bool Machine::sort(const ESort& e, const Stm& s) {
  const int64_t width = integer(e.width);
  Sorting sorting(*this, s);
  if (!sorting.prepare(width)) return false;
  for (int64_t i = 0; i < width; i++) {
    if (!bind_rows(e.inputs, e.map, i, width) || !run(e.map.body) ||
        !sorting.put(i, e.map.body.results)) {
      return false;
    }
  }
  drop_rows(e.map);
  return sorting.finish();
}

}  // namespace kenaz::ir::eval
