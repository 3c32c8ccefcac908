// Making arrays, and moving them.
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;
using kir::Values;

KernelArray dest_for(Thread& t, VarId v) {
  if (const auto d = t.dests.of(v)) return *d;
  const ir::Type& type = t.ir().type_of(v);
  return allocate(t, type.prim, type.dims);
}

KernelArray in_memory(Thread& t, const KernelArray& a, const std::vector<ir::Atom>& dims) {
  if (a.kind == ArrayKind::kMemory) return a;
  const KernelArray d = allocate(t, a.elem, dims);
  copy(t, a, d);
  return d;
}

// ---- moving

void for_elements(Thread& t, const Value& n, const std::function<void(Value)>& body) {
  const ir::ProvId prov = t.k.prov();
  t.k.for_(n, [&](const Value& i) {
    const Value mark = t.heap.mark(t.k);
    body(i);
    t.k.set_prov(prov);
    t.heap.reset(t.k, mark);
  });
}

namespace {
/// A loop of which some turns are one, where the device counts these and it is known how many there
/// are.
void for_few_turns(Thread& t, const Value& n, const std::function<void(const Value&)>& body) {
  constexpr int64_t kTogether = 8;
  if (!t.host.limits_turns() || !n.is_const() || n.constant().as_i64() < 2 * kTogether) {
    t.k.for_(n, body);
    return;
  }
  const int64_t size = n.constant().as_i64();
  t.k.for_(kir::i64(size / kTogether), [&](const Value& turn) {
    const Value first = t.k.mul(turn, kTogether);
    for (int64_t j = 0; j < kTogether; j++) body(t.k.add(first, j));
  });
  for (int64_t j = size - size % kTogether; j < size; j++) body(kir::i64(j));
}

/// Calls body(indices) for all elements of an array of these dims, in nested loops.
void for_all(Thread& t, const Values& dims, const std::function<void(const Values&)>& body,
             const Values& outer = {}) {
  if (outer.size() == dims.size()) {
    body(outer);
    return;
  }
  const auto turn = [&](const Value& i) {
    Values at = outer;
    at.push_back(i);
    for_all(t, dims, body, at);
  };
  const Value& n = dims[outer.size()];
  outer.size() + 1 == dims.size() ? for_few_turns(t, n, turn) : t.k.for_(n, turn);
}
}  // namespace

void copy(Thread& t, const KernelArray& from, const KernelArray& to) {
  if (identical(from, to)) return;
  for_all(t, to.layout.dims, [&](const Values& at) { copy_element(t, from, to, at); });
}

void copy_element(Thread& t, const KernelArray& from, const KernelArray& to, const Values& at) {
  const Value v = element(t, from, at);
  Math math{t.k};
  store(t, to, LayoutMath(math).element(to.layout, at), v);
}

void place(Thread& t, const KernelValue& v, const KernelArray& to) {
  if (const auto* x = std::get_if<Value>(&v)) {
    store(t, to, to.layout.offset, *x);
  } else {
    copy(t, std::get<KernelArray>(v), to);
  }
}

// ---- statements

namespace {
/// An array without memory; copied to where it is wanted.
void bind_virtual(Thread& t, VarId v, KernelArray a) {
  if (const auto d = t.dests.of(v)) {
    copy(t, a, *d);
    a = *d;
  }
  t.env.bind(v, std::move(a));
}
}  // namespace

void iota(Thread& t, const ir::Stm& s, const ir::EIota& e) {
  KernelArray a;
  a.elem = e.type;
  a.kind = ArrayKind::kIota;
  a.layout.dims = {t.env.scalar(e.n)};
  a.start = t.env.scalar(e.start);
  a.stride = t.env.scalar(e.stride);
  bind_virtual(t, s.pat[0], std::move(a));
}

void replicate(Thread& t, const ir::Stm& s, const ir::EReplicate& e) {
  const KernelValue v = t.env.value(e.value);
  const Values dims = t.env.scalars(e.dims);
  if (const auto* x = std::get_if<Value>(&v)) {
    KernelArray a;
    a.elem = x->type.prim;
    a.kind = ArrayKind::kReplicate;
    a.layout.dims = dims;
    a.value = *x;
    bind_virtual(t, s.pat[0], std::move(a));
    return;
  }
  const KernelArray d = dest_for(t, s.pat[0]);
  for_all(t, dims, [&](const Values& at) {
    KernelArray inner = d;
    for (const Value& i : at) inner = row_place(t, inner, i);
    copy(t, std::get<KernelArray>(v), inner);
  });
  t.env.bind(s.pat[0], d);
}

void array_literal(Thread& t, const ir::Stm& s, const ir::EArrayLit& e) {
  const KernelArray d = dest_for(t, s.pat[0]);
  for (size_t k = 0; k < e.elems.size(); k++) {
    place(t, t.env.value(e.elems[k]), row_place(t, d, kir::i64(static_cast<int64_t>(k))));
  }
  t.env.bind(s.pat[0], d);
}

void concat(Thread& t, const ir::Stm& s, const ir::EConcat& e) {
  const KernelArray d = dest_for(t, s.pat[0]);
  Value start = kir::i64(0);
  for (VarId v : e.arrays) {
    const KernelArray part = t.env.array(v);
    copy(t, part, rows_place(t, d, start, part.layout.dims[0]));
    start = t.k.add(start, part.layout.dims[0]);
  }
  t.env.bind(s.pat[0], d);
}

void copy(Thread& t, const ir::Stm& s, const ir::ECopy& e) {
  const KernelArray d = dest_for(t, s.pat[0]);
  copy(t, t.env.array(e.array), d);
  t.env.bind(s.pat[0], d);
}

}  // namespace kenaz::body
