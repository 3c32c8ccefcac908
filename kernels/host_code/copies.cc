// Copies of arrays at host level.
#include "kernels/host_code/host_arrays.h"
#include "kernels/host_code/indices.h"
#include "kernels/host_code/launch.h"
#include "kernels/host_code/plan_launch.h"
#include "kernels/primitives/copy/plans.h"

namespace kenaz::host_code {

using kir::Value;
using kir::Values;

namespace {

/// The unsigned type of the same size: copies of all types of a size share a kernel.
PrimType same_size_unsigned(PrimType t) {
  switch (prim_size(t)) {
    case 1: return PrimType::kU8;
    case 2: return PrimType::kU16;
    case 4: return PrimType::kU32;
    default: return PrimType::kU64;
  }
}

/// The dimension along which neighbours lie beside each other in memory, if it is not the last one
/// of the array, as of the transpose of a matrix.
std::optional<size_t> lying_across(HostArrays& host, const HostArray& a) {
  if (a.kind != ArrayKind::kMemory || a.layout.dense) return std::nullopt;
  const auto& strides = a.layout.strides;
  std::optional<size_t> found;
  for (size_t d = 0; d < strides.size(); d++) {
    if (host.as_const(strides[d]) == 1) found = d;
  }
  return found && *found + 1 < strides.size() ? found : std::nullopt;
}

/// The inner dims of an array with strides, as few as say the same: those that lie in memory as one
/// dim would are one.
struct InnerDims {
  std::vector<Operand> sizes, strides;
};
InnerDims inner_dims(HostArrays& host, const body::Layout<Operand>& layout, size_t from) {
  InnerDims r;
  for (size_t d = from; d < layout.dims.size(); d++) {
    const Operand& size = layout.dims[d];
    const Operand& stride = layout.strides[d];
    if (!r.sizes.empty() && host.same(r.strides.back(), host.mul(stride, size))) {
      r.sizes.back() = host.mul(r.sizes.back(), size);
      r.strides.back() = stride;
    } else {
      r.sizes.push_back(size);
      r.strides.push_back(stride);
    }
  }
  return r;
}

/// A copy whose source has its neighbours along dimension `across`, to a dense array. Up to that
/// dimension all are segments, those along it alone make a matrix.
struct Transpose {
  const HostArray &from, &to;
  size_t across;
  std::vector<Operand> batch;  // the dims before `across`
  InnerDims inner;
  Operand segments, length;
};

plan::Rows source_rows(HostArrays& host, body::Thread& t, const Transpose& c) {
  const body::KernelArray source = t.args.array(c.from);
  Values strides;
  for (const Operand& s : c.inner.strides) strides.push_back(t.args.operand(s));
  plan::Rows rows;
  rows.base = source.base;
  rows.first = [&host, &t, &c, source, strides](kir::Builder& k, const Value& matrix,
                                                const Value& row) {
    Value first = source.layout.offset;
    const auto go = [&](const Value& index, const Value& stride) {
      first = k.add(first, k.mul(index, stride));
    };
    if (!c.batch.empty()) {
      const Values at = indices_of(host, t, c.batch, matrix);
      for (size_t d = 0; d < at.size(); d++) go(at[d], source.layout.strides[d]);
    }
    const Values at = indices_of(host, t, c.inner.sizes, row);
    for (size_t d = 0; d < at.size(); d++) go(at[d], strides[d]);
    return first;
  };
  if (strides.size() == 1) rows.step = strides[0];
  return rows;
}

plan::Rows result_rows(body::Thread& t, const Transpose& c) {
  const body::KernelArray target = t.args.array(c.to);
  const Value length = t.args.operand(c.length), size = target.layout.dims[c.across];
  plan::Rows rows;
  rows.base = target.base;
  rows.first = [=, offset = target.layout.offset](kir::Builder& k, const Value& matrix,
                                                  const Value& row) {
    return k.add(offset, k.mul(k.add(k.mul(matrix, size), row), length));
  };
  rows.step = length;
  return rows;
}

/// The bits of all these numbers.
Operand joined(HostArrays& host, const std::vector<Operand>& numbers) {
  Operand all = host.konst(0);
  for (const Operand& n : numbers) {
    all = host.emit_op(ScalarOp::kOr, PrimType::kI64, PrimType::kI64, {all, n});
  }
  return all;
}

/// Facts::begins.
Operand begins(HostArrays& host, const Transpose& c) {
  std::vector<Operand> numbers = {c.from.layout.offset, c.to.layout.offset};
  const auto& strides = c.from.layout.strides;
  numbers.insert(numbers.end(), strides.begin(),
                 strides.begin() + static_cast<std::ptrdiff_t>(c.across));
  return joined(host, numbers);
}

/// Facts::aligned: the bits of all numbers that rows begin or end at.
Operand aligned(HostArrays& host, const Transpose& c, const Operand& begins) {
  std::vector<Operand> numbers = c.inner.strides;
  numbers.insert(numbers.end(), {begins, c.from.layout.dims[c.across], c.length});
  return joined(host, numbers);
}

/// By the plans for copies, which go through shared memory.
void transpose(HostArrays& host, const HostArray& from, const HostArray& to, size_t across,
               ir::ProvId place) {
  const std::vector<Operand>& dims = from.layout.dims;
  const auto middle = dims.begin() + static_cast<std::ptrdiff_t>(across);
  Transpose c{from, to, across, {dims.begin(), middle}, inner_dims(host, from.layout, across + 1),
              {},   {}};
  c.length = host.count({middle + 1, dims.end()}).operand();
  c.segments = host.count({dims.begin(), middle + 1}).operand();
  PlanRequest request;
  request.facts.name = host.kernel_name("copy");
  request.facts.prov = place;
  request.facts.carried = {from.elem};
  request.facts.segments = plan::HostExpr::size(0);
  request.facts.length = plan::HostExpr::size(1);
  request.facts.across = true;
  if (across > 0) request.facts.matrix = plan::HostExpr::size(2);
  request.facts.aligned = plan::HostExpr::size(3);
  request.facts.begins = plan::HostExpr::size(4);
  const bool even = c.inner.strides.size() == 1;
  if (even) request.facts.step = plan::HostExpr::size(5);
  const Operand first = begins(host, c);
  request.sizes = {c.segments,   c.length,
                   dims[across], aligned(host, c, first),
                   first,        even ? c.inner.strides[0] : host.konst(0)};
  request.bind = [&](body::Thread& t, plan::Asks) {
    plan::Problem problem;
    problem.from = source_rows(host, t, c);
    problem.to = result_rows(t, c);
    const body::KernelArray source = t.args.array(from), target = t.args.array(to);
    const std::vector<Operand> outer(dims.begin(), middle + 1), inner(middle + 1, dims.end());
    problem.elements.at = [&host, &t, source, outer, inner](kir::Builder&, const plan::Place& at) {
      Values index = indices_of(host, t, outer, at.segment);
      const Values rest = indices_of(host, t, inner, at.position);
      index.insert(index.end(), rest.begin(), rest.end());
      return Values{body::element(t, source, index)};
    };
    const Value row = t.args.operand(c.length);
    problem.sink.put = [&t, target, row](kir::Builder& k, const plan::Place& at, const Values& x) {
      const Value number = k.add(k.mul(at.segment, row), at.position);
      body::store(t, target, k.add(target.layout.offset, number), x[0]);
    };
    return problem;
  };
  launch_plans(host, primitives::copy_plans(), request);
}

/// By the elements of the result, which are stored one by one.
void copy_elements(HostArrays& host, const HostArray& src, const HostArray& dst, ir::ProvId place) {
  const Operand total = host.count(dst.layout.dims).operand();
  body::Thread t(host, host.kernel_name("copy"), place);
  const body::KernelArray d = t.args.array(dst);
  // The element, and where it goes.
  const auto elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const Values& args) {
    const body::KernelArray s = t.args.array(src);
    const Values at = indices_of(host, t, dst.layout.dims, args[0]);
    body::Math kernel_math{t.k};
    return Values{body::element(t, s, at), body::LayoutMath(kernel_math).element(d.layout, at)};
  });
  const auto store = [&](const Value&, const Values& made) { body::store(t, d, made[1], made[0]); };
  launch_elements(host, t, elem, store, total, items_per_thread(host, prim_size(dst.elem)));
}

/// kAnd or kOr of bools, as far as it folds.
Operand joined(HostArrays& host, ScalarOp op, const Operand& a, const Operand& b) {
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto* known = std::get_if<PrimValue>(&one);
    if (known != nullptr) return known->as_bool() == (op == ScalarOp::kOr) ? one : other;
  }
  return host.emit_op(op, PrimType::kBool, PrimType::kBool, {a, b});
}
Operand both(HostArrays& host, const Operand& a, const Operand& b) {
  return joined(host, ScalarOp::kAnd, a, b);
}

/// Whether an array lies in memory as a dense one does: a dim of size 1 may have any stride. So
/// does the transpose of a matrix with one row. A bool; of a size that is known at run time only it
/// is not known before either.
Operand lies_dense(HostArrays& host, const body::Layout<Operand>& layout) {
  if (layout.dense) return PrimValue::of_bool(host.as_const(layout.unit) == 1);
  const auto is = [&](const Operand& a, const Operand& b) -> Operand {
    if (host.same(a, b)) return PrimValue::of_bool(true);
    return host.emit_op(ScalarOp::kEq, PrimType::kI64, PrimType::kBool, {a, b});
  };
  Operand all = PrimValue::of_bool(true), expected = host.konst(1);
  for (size_t d = layout.dims.size(); d-- > 0;) {
    all = both(host, all,
               joined(host, ScalarOp::kOr, is(layout.dims[d], host.konst(1)),
                      is(layout.strides[d], expected)));
    expected = host.mul(expected, layout.dims[d]);
  }
  return all;
}

/// The elements from one place to another, in order: 16 bytes at a time.
struct Flat {
  const HostArray &from, &to;
  constexpr static int kBytes = 16;
  int size() const { return prim_size(to.elem); }
  int neighbours() const { return kBytes / size(); }
  /// Vectors are of words, if not of larger elements.
  int packed() const { return std::max(1, 4 / size()); }
  kir::Type vector() const {
    return {size() < 4 ? PrimType::kU32 : to.elem, static_cast<uint8_t>(neighbours() / packed())};
  }
};

/// Whether both sides of it begin at 16 bytes.
Operand begins_at_vectors(HostArrays& host, const Flat& f) {
  const Operand offsets = joined(host, {f.from.layout.offset, f.to.layout.offset});
  const Operand rest = host.emit_op(ScalarOp::kAnd, PrimType::kI64, PrimType::kI64,
                                    {offsets, host.konst(f.neighbours() - 1)});
  return host.emit_op(ScalarOp::kEq, PrimType::kI64, PrimType::kBool, {rest, host.konst(0)});
}

void copy_flat(HostArrays& host, const Flat& f, ir::ProvId place) {
  constexpr int kInFlight = 4;
  body::Thread t(host, host.kernel_name("copy"), place);
  kir::Builder& k = t.k;
  const body::KernelArray from = t.args.array(f.from), to = t.args.array(f.to);
  const auto at = [](kir::Builder& b, const body::KernelArray& a, const Value& i) {
    return b.add(a.layout.offset, i);
  };
  const auto vector = [&](kir::Builder& b, const body::KernelArray& a, const Value& i) {
    return kir::Address{a.base, b.quot(at(b, a, i), kir::i64(f.packed()))};
  };
  ElementsAndNeighbours e;
  e.n = f.neighbours();
  e.elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const Values& args) {
    return Values{k.load(f.to.elem, from.base, at(k, from, args[0]))};
  });
  e.store = [&](const Value& i, const Values& made) { k.store(to.base, at(k, to, i), made[0]); };
  e.many = body::function(t, "neighbours", {{PrimType::kI64}}, [&](const Values& args) {
    const Value all = k.load(f.vector(), vector(k, from, args[0]));
    Values lanes;
    for (int i = 0; i < f.vector().lanes; i++) lanes.push_back(k.extract(all, i));
    return lanes;
  });
  e.store_many = [&](const Value& first, const Values& made) {
    k.store(vector(k, to, first), k.compose(made));
  };
  launch_neighbours(host, t, e, host.count(f.to.layout.dims).operand(), kInFlight * e.n);
}

}  // namespace

void HostArrays::copy(const HostArray& from, const HostArray& to) {
  HostArray src = from, dst = to;
  if (src.kind == ArrayKind::kMemory) {
    src.elem = dst.elem = same_size_unsigned(to.elem);
    if (src.layout.dense && dst.layout.dense) {
      // Flat: rank does not matter.
      const Operand total = count(dst.layout.dims).operand();
      src.layout.dims = dst.layout.dims = {total};
    }
  }
  const bool plain = src.kind == ArrayKind::kMemory && dst.layout.dense &&
                     as_const(dst.layout.unit) == 1 && hides_latency_by_threads(*this);
  if (!plain) {
    copy_elements(*this, src, dst, place_);
    return;
  }
  const auto across = lying_across(*this, src);
  const Operand flat =
      both(*this, lies_dense(*this, src.layout), begins_at_vectors(*this, Flat{src, dst}));
  choose(
      *this, flat,
      [&] {
        copy_flat(*this, {src, dst}, place_);
      },
      [&] {
        across ? transpose(*this, src, dst, *across, place_)
               : copy_elements(*this, src, dst, place_);
      });
}

}  // namespace kenaz::host_code
