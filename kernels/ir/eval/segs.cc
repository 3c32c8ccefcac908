// Segmented operations, run so that wrong claims show: the points of a space in a random order,
// reductions and scans split at random points, operands swapped where the operator is said to be
// commutative.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/ir/eval/machine.h"

namespace kenaz::ir::eval {
namespace {

/// The numbers below n in a random order that takes no memory: x -> (x * factor + start) mod n,
/// where the factor and n have no common divisor.
class RandomOrder {
 public:
  RandomOrder(uint64_t n, std::mt19937_64& random) : n_(n), start_(random() % n) {
    do {
      factor_ = 1 + random() % n;
    } while (std::gcd(factor_, n) != 1);
  }
  int64_t at(int64_t x) const {
    const auto product = static_cast<unsigned __int128>(x) * factor_ + start_;
    return static_cast<int64_t>(product % n_);
  }

 private:
  uint64_t n_, start_, factor_ = 1;
};

}  // namespace

/// One execution of an ESeg with dims.
class SegRun {
 public:
  SegRun(Machine& m, const ESeg& e, const Stm& s) : m_(m), e_(e), s_(s) {}

  bool run() {
    if (e_.kind == SegKind::kPack) return arrange(Packing(m_, s_, e_.classes, e_.rest));
    if (e_.kind == SegKind::kSort) return arrange(Sorting(m_, s_));
    if (!prepare()) return false;
    const int64_t n = points(sizes_.size());
    if (e_.kind == SegKind::kReduce ? !reduce() : !all_points(n)) return false;
    if (e_.kind == SegKind::kScan && n > 0 && !scan(n)) return false;
    for (size_t k = 0; k < outs_.size(); k++) {
      Loose value;
      if (m_.is_array(s_.pat[k])) {
        value.array = std::move(outs_[k]);
      } else if (!load(k, 0, 0, value)) {
        return false;
      }
      m_.put(s_.pat[k], std::move(value));
    }
    return true;
  }

 private:
  using Loose = Machine::Loose;
  using Values = std::vector<Loose>;  // of one monoid

  // ---- before and after
  int64_t points(size_t dims) const {
    int64_t n = 1;
    for (size_t d = 0; d < dims; d++) n = wrapping_mul(n, std::max<int64_t>(0, sizes_[d]));
    return n;
  }
  size_t rank() const { return sizes_.size(); }
  size_t rank_of_reductions() const { return rank() - (e_.kind == SegKind::kReduce ? 1 : 0); }

  bool prepare() {
    for (const SegDim& d : e_.space.dims) sizes_.push_back(m_.integer(d.size));
    outs_.resize(s_.pat.size());
    size_t k = 0;
    for (size_t end = operands_of(e_); k < end; k++) {
      if (!make_output(k, rank_of_reductions())) return false;
    }
    for (const SegWrite& w : e_.writes) {
      for (const VarId d : w.dests) {
        if (!m_.array(d)) return false;
        outs_[k] = std::exchange(m_.arrays_[d.index], {});
        if (!m_.make_unique(outs_[k++], m_.prim(d))) return false;
      }
    }
    for (; k < s_.pat.size(); k++) {
      if (!make_output(k, rank())) return false;
    }
    return true;
  }
  /// The array of result k, whose leading dims are those of the space. A reduction of everything
  /// may be a scalar, and stands in an array of one element then.
  bool make_output(size_t k, size_t dims) {
    std::vector<int64_t> shape;
    m_.shape_of(m_.program.type_of(s_.pat[k]).dims, shape);
    if (shape.size() < dims ||
        !std::equal(sizes_.begin(), sizes_.begin() + offset(dims), shape.begin())) {
      return m_.internal("a result has other dims than its space");
    }
    if (shape.empty()) return m_.allocate(m_.prim(s_.pat[k]), shape, outs_[k]);
    return m_.make(s_.pat[k], shape, outs_[k]);
  }
  static std::ptrdiff_t offset(size_t n) { return static_cast<std::ptrdiff_t>(n); }

  bool store(size_t k, size_t dims, int64_t at, const Atom& value) {
    Array rows = as_rows(outs_[k], static_cast<int>(dims));
    return m_.store_row(rows, m_.prim(s_.pat[k]), at, value);
  }

  template <class Arrangement>
  bool arrange(Arrangement to) {
    const int64_t n = m_.integer(e_.space.dims[0].size);
    sizes_.push_back(n);
    if (!to.prepare(n)) return false;
    if (n <= 0) return to.finish();
    const RandomOrder order(static_cast<uint64_t>(n), m_.random_);
    for (int64_t i = 0; i < n; i++) {
      const int64_t point = order.at(i);
      enter(point);
      if (!m_.run(e_.body) || !to.put(point, e_.body.results)) return false;
    }
    return to.finish();
  }

  // ---- points
  void enter(int64_t point) {
    for (size_t d = rank(); d-- > 0;) {
      m_.scalars_[e_.space.dims[d].index.index] = static_cast<uint64_t>(point % sizes_[d]);
      point /= sizes_[d];
    }
  }
  /// Runs the body, writes, and stores the plain results.
  bool run_point(int64_t point) {
    enter(point);
    if (!m_.run(e_.body)) return false;
    const std::span<const Atom> results = e_.body.results;
    size_t at = operands_of(e_);
    size_t out = at;
    for (const SegWrite& w : e_.writes) {
      const auto index_rank = static_cast<size_t>(w.index_rank);
      if (!write(w, out, results.subspan(at, index_rank + w.dests.size()))) return false;
      at += index_rank + w.dests.size();
      out += w.dests.size();
    }
    for (; at < results.size(); at++, out++) {
      if (!store(out, rank(), point, results[at])) return false;
    }
    return true;
  }
  bool all_points(int64_t n) {
    if (n == 0) return true;
    const RandomOrder order(static_cast<uint64_t>(n), m_.random_);
    for (int64_t i = 0; i < n; i++) {
      const int64_t point = order.at(i);
      if (!run_point(point)) return false;
      for (size_t k = 0; k < operands_of(e_); k++) {  // of scans
        if (!store(k, rank(), point, e_.body.results[k])) return false;
      }
    }
    return true;
  }

  // ---- writes
  bool write(const SegWrite& w, size_t out, std::span<const Atom> results) {
    const auto index_rank = static_cast<size_t>(w.index_rank);
    std::vector<Atom> index;
    for (int d = 0; d < w.segment_rank; d++) {
      index.emplace_back(e_.space.dims[static_cast<size_t>(d)].index);
    }
    index.insert(index.end(), results.begin(), results.begin() + offset(index_rank));
    const int64_t row = m_.row_number(outs_[out], index);
    if (row < 0) return true;
    const std::span<const Atom> values = results.subspan(index_rank);
    if (w.combine) return combine_into(w, out, index.size(), row, values);
    for (size_t k = 0; k < values.size(); k++) {
      if (!store(out + k, index.size(), row, values[k])) return false;
    }
    return true;
  }
  bool combine_into(const SegWrite& w, size_t out, size_t dims, int64_t row,
                    std::span<const Atom> values) {
    Values old(values.size()), value, made;
    if (!take(values, value)) return false;
    for (size_t k = 0; k < values.size(); k++) {
      if (!load(out + k, dims, row, old[k])) return false;
    }
    if (!combine(*w.combine, old, value, made)) return false;
    for (size_t k = 0; k < values.size(); k++) {
      if (!store(out + k, dims, row, made[k])) return false;
    }
    return true;
  }

  // ---- values
  bool take(std::span<const Atom> atoms, Values& values) {
    values.resize(atoms.size());
    for (size_t k = 0; k < atoms.size(); k++) {
      if (!m_.take(atoms[k], values[k])) return false;
    }
    return true;
  }
  bool load(size_t k, size_t dims, int64_t at, Loose& value) {
    return load(outs_[k], m_.prim(s_.pat[k]), dims, at, value);
  }
  /// A copy of a row.
  bool load(const Array& a, PrimType type, size_t dims, int64_t at, Loose& value) {
    if (a.shape.size() == dims) {
      const int size = prim_size(type);
      value = {eval::load(a.buffer->data.get() + (a.offset + at) * size, size), {}};
      return true;
    }
    Array row = as_rows(a, static_cast<int>(dims));
    row.shape.erase(row.shape.begin());
    row.offset = a.offset + at * count_elements(row.shape).value();
    return m_.copy_of(row, type, value.array);
  }
  bool store(size_t k, size_t dims, int64_t at, const Loose& value) {
    return store(outs_[k], m_.prim(s_.pat[k]), dims, at, value);
  }
  bool store(const Array& to, PrimType type, size_t dims, int64_t at, const Loose& value) {
    const int size = prim_size(type);
    if (!value.array.buffer) {
      if (to.shape.size() != dims) return m_.internal("a scalar is stored as a row");
      save(to.buffer->data.get() + (to.offset + at) * size, size, value.bits);
      return true;
    }
    const Array& row = value.array;
    if (!std::equal(to.shape.begin() + offset(dims), to.shape.end(), row.shape.begin(),
                    row.shape.end())) {
      return m_.internal("rows of a result differ in shape");
    }
    const int64_t bytes = (count_elements(row.shape) * Size(size)).value();
    if (bytes == 0) return true;
    return m_.copy_bytes(to.buffer->data.get() + to.offset * size + at * bytes,
                         row.buffer->data.get() + row.offset * size, bytes);
  }

  // ---- operators
  bool neutral(const SegMonoid& m, Values& out) {
    if (!take(m.op.neutral, out)) return false;
    if (m.lifted.empty()) return true;
    for (size_t k = 0; k < out.size(); k++) {
      const PrimType type = m.op.op.ret[k].prim;
      Loose all;
      if (!make_lifted(m, k, all.array)) return false;
      for (int64_t i = 0; i < lifted_elements(m); i++) {
        if (!store(all.array, type, m.lifted.size(), i, out[k])) return false;
      }
      out[k] = std::move(all);
    }
    return true;
  }
  int64_t lifted_elements(const SegMonoid& m) {
    std::vector<int64_t> shape;
    m_.shape_of(m.lifted, shape);
    return count_elements(shape).value();
  }
  bool make_lifted(const SegMonoid& m, size_t k, Array& out) {
    std::vector<int64_t> shape;
    std::vector<Atom> dims = m.lifted;
    const Type& t = m.op.op.ret[k];
    dims.insert(dims.end(), t.dims.begin(), t.dims.end());
    m_.shape_of(dims, shape);
    return m_.allocate(t.prim, shape, out);
  }
  /// made = op(a, b)
  bool combine(const SegMonoid& m, const Values& a, const Values& b, Values& made) {
    if (m.lifted.empty()) return apply(m.op, a, b, made);
    Values all(a.size());
    for (size_t k = 0; k < a.size(); k++) {
      if (!make_lifted(m, k, all[k].array)) return false;
    }
    Values x(a.size()), y(a.size()), z;
    for (int64_t i = 0; i < lifted_elements(m); i++) {
      for (size_t k = 0; k < a.size(); k++) {
        const PrimType type = m.op.op.ret[k].prim;
        if (!load(a[k].array, type, m.lifted.size(), i, x[k])) return false;
        if (!load(b[k].array, type, m.lifted.size(), i, y[k])) return false;
      }
      if (!apply(m.op, x, y, z)) return false;
      for (size_t k = 0; k < a.size(); k++) {
        const PrimType type = m.op.op.ret[k].prim;
        if (!store(all[k].array, type, m.lifted.size(), i, z[k])) return false;
      }
    }
    made = std::move(all);
    return true;
  }
  bool apply(const Monoid& m, const Values& a, const Values& b, Values& made) {
    const size_t n = a.size();
    for (size_t k = 0; k < n; k++) {
      m_.put(m.op.params[k], a[k]);
      m_.put(m.op.params[n + k], b[k]);
    }
    if (!m_.run(m.op.body)) return false;
    Values fresh;
    if (!take(m.op.body.results, fresh)) return false;
    made = std::move(fresh);
    return true;
  }
  bool toss(uint64_t one_in) { return m_.random_() % one_in == 0; }

  // ---- reductions
  bool reduce() {
    const int64_t rows = points(rank() - 1);
    if (rows == 0) return true;
    const int64_t width = std::max<int64_t>(0, sizes_.back());
    const RandomOrder order(static_cast<uint64_t>(rows), m_.random_);
    for (int64_t i = 0; i < rows; i++) {
      const int64_t row = order.at(i);
      std::vector<Values> all(e_.monoids.size());
      if (width > 0 && !reduce(row * width, (row + 1) * width, all)) return false;
      size_t out = 0;
      for (size_t m = 0; m < all.size(); m++) {
        const SegMonoid& monoid = e_.monoids[m];
        Values start;
        if (!neutral(monoid, start)) return false;
        if (width > 0 && !combine(monoid, start, all[m], start)) return false;
        for (const Loose& value : start) {
          if (!store(out++, rank() - 1, row, value)) return false;
        }
      }
    }
    return true;
  }
  /// The points from `first` to `end`, split at random; which half is first is random, too.
  bool reduce(int64_t first, int64_t end, std::vector<Values>& all) {
    if (end - first == 1) return leaf(first, all);
    const auto inside = static_cast<uint64_t>(end - first - 1);
    const int64_t middle = first + 1 + static_cast<int64_t>(m_.random_() % inside);
    std::vector<Values> left(all.size()), right(all.size());
    const bool right_first = toss(2);
    if (right_first && !reduce(middle, end, right)) return false;
    if (!reduce(first, middle, left)) return false;
    if (!right_first && !reduce(middle, end, right)) return false;
    for (size_t m = 0; m < all.size(); m++) {
      const SegMonoid& monoid = e_.monoids[m];
      if (monoid.op.commutative && toss(2)) std::swap(left[m], right[m]);
      if (!combine(monoid, left[m], right[m], all[m])) return false;
    }
    return true;
  }
  bool leaf(int64_t point, std::vector<Values>& all) {
    if (!run_point(point)) return false;
    const std::span<const Atom> results = e_.body.results;
    size_t at = 0;
    for (size_t m = 0; m < all.size(); m++) {
      const size_t n = e_.monoids[m].op.neutral.size();
      if (!take(results.subspan(at, n), all[m])) return false;
      at += n;
    }
    for (size_t m = 0; m < all.size(); m++) {  // may run code that overwrites the results
      if (!toss(8)) continue;
      Values start;
      if (!neutral(e_.monoids[m], start)) return false;
      if (!combine(e_.monoids[m], start, all[m], all[m])) return false;
    }
    return true;
  }

  // ---- scans: the arrays hold the operands; parts of random lengths are scanned each by itself,
  // and then joined with what stands before them
  bool scan(int64_t n) {
    const int64_t width = sizes_.back();
    size_t out = 0;
    for (const SegMonoid& m : e_.monoids) {
      for (int64_t row = 0; row < n; row += width) {
        if (!scan_row(m, out, row, row + width)) return false;
      }
      out += m.op.neutral.size();
    }
    return true;
  }
  bool scan_row(const SegMonoid& m, size_t out, int64_t first, int64_t end) {
    Values before;
    if (!neutral(m, before)) return false;
    while (first < end) {
      const auto most = static_cast<uint64_t>(std::min<int64_t>(end - first, 64));
      const int64_t stop = first + 1 + static_cast<int64_t>(m_.random_() % most);
      Values acc, made, x(before.size());
      for (int64_t i = first; i < stop; i++) {
        for (size_t k = 0; k < x.size(); k++) {
          if (!load(out + k, rank(), i, x[k])) return false;
        }
        if (i == first) {
          acc = x;
        } else if (!combine(m, acc, x, acc)) {
          return false;
        }
        if (!combine(m, before, acc, made)) return false;
        for (size_t k = 0; k < made.size(); k++) {
          if (!store(out + k, rank(), i, made[k])) return false;
        }
      }
      before = std::move(made);
      first = stop;
    }
    return true;
  }

  Machine& m_;
  const ESeg& e_;
  const Stm& s_;
  std::vector<int64_t> sizes_;
  std::vector<Array> outs_;  // by variable of the pattern
};

bool Machine::seg(const ESeg& e, const Stm& s) {
  if (is_single(e)) return run(e.body) && bind_results(e.body, s.pat);
  return SegRun(*this, e, s).run();
}

}  // namespace kenaz::ir::eval
