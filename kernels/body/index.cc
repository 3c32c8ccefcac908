// Views of arrays, and their elements.
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"
#include "kernels/body/views.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;
using kir::Values;

SliceDims<Value> slice_dims(Thread& t, const std::vector<ir::Dim>& dims) {
  return slice_dims(dims, [&](const ir::Atom& a) { return t.env.scalar(a); });
}

KernelArray sliced(Thread& t, const KernelArray& a, const SliceDims<Value>& dims) {
  Math math{t.k};
  return ViewMath(math).sliced(a, dims);
}

Value load(Thread& t, const KernelArray& a, const Value& index) {
  if (a.shared) return t.k.load(*a.shared, index);
  if (a.local) return t.k.load(*a.local, index);
  return t.k.load(a.elem, a.base, index);
}
void store(Thread& t, const KernelArray& a, const Value& index, const Value& value) {
  if (a.shared) {
    t.k.store(*a.shared, index, value);
  } else if (a.local) {
    t.k.store(*a.local, index, value);
  } else {
    t.k.store(a.base, index, value);
  }
}

Value element(Thread& t, const KernelArray& a, const Values& at) {
  Math math{t.k};
  switch (a.kind) {
    case ArrayKind::kIota: return ViewMath(math).iota_element(a, at[0]);
    case ArrayKind::kReplicate: return a.value;
    case ArrayKind::kMemory: break;
  }
  return load(t, a, LayoutMath(math).element(a.layout, at));
}

KernelArray row_place(Thread& t, const KernelArray& a, const Value& i) {
  Math math{t.k};
  KernelArray r = a;
  r.layout = LayoutMath(math).row(a.layout, i);
  return r;
}

KernelArray rows_place(Thread& t, const KernelArray& a, const Value& start, const Value& n) {
  Math math{t.k};
  KernelArray r = a;
  r.layout = LayoutMath(math).rows(a.layout, start, n);
  return r;
}

KernelValue row(Thread& t, const KernelArray& a, const Value& i) {
  if (a.layout.dims.size() == 1) return element(t, a, {i});
  if (a.kind == ArrayKind::kMemory) return row_place(t, a, i);
  KernelArray r = a;
  r.layout.dims.erase(r.layout.dims.begin());
  return r;
}

void bind_rows(Thread& t, const std::vector<VarId>& params, const std::vector<VarId>& inputs,
               const Value& i) {
  for (size_t k = 0; k < inputs.size(); k++) {
    t.env.bind_param(params[k], row(t, t.env.array(inputs[k]), i));
  }
}

void index(Thread& t, const ir::Stm& s, const ir::EIndex& e) {
  const KernelArray a = t.env.array(e.array);
  const SliceDims<Value> dims = slice_dims(t, e.dims);
  Values at;
  for (const auto& d : dims) {
    if (const auto* fix = std::get_if<0>(&d)) at.push_back(*fix);
  }
  if (at.size() == dims.size()) {
    t.env.bind(s.pat[0], element(t, a, at));
  } else {
    t.env.bind(s.pat[0], sliced(t, a, dims));
  }
}

void rearrange(Thread& t, const ir::Stm& s, const ir::ERearrange& e) {
  Math math{t.k};
  t.env.bind(s.pat[0], ViewMath(math).rearranged(t.env.array(e.array), e.perm));
}

void reshape(Thread& t, const ir::Stm& s, const ir::EReshape& e) {
  KernelArray a = t.env.array(e.array);
  if (a.kind == ArrayKind::kReplicate) {
    a.layout.dims = t.env.scalars(e.dims);
  } else if (a.kind == ArrayKind::kMemory || e.dims.size() != 1) {
    if (a.kind != ArrayKind::kMemory || !a.layout.dense) {
      const ir::Type& type = t.ir().type_of(e.array);
      const KernelArray d = allocate(t, type.prim, type.dims);
      copy(t, a, d);
      a = d;
    }
    Math math{t.k};
    a.layout = *LayoutMath(math).reshape(a.layout, t.env.scalars(e.dims));
  }
  t.env.bind(s.pat[0], std::move(a));
}

}  // namespace kenaz::body
