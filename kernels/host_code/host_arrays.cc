#include "kernels/host_code/host_arrays.h"

#include <utility>

#include "kernels/host_code/launch.h"
#include "protocol/base/check.h"

namespace kenaz::host_code {

void HostArrays::begin_arrays() {
  scratch_.clear();
  in_cells_.clear();
  at_their_place_.clear();
}

BlockReg HostArrays::allocate_bytes(const HostSize& bytes) {
  const BlockReg b = new_block();
  allocate_bytes(b, bytes);
  return b;
}
void HostArrays::allocate_bytes(BlockReg into, const HostSize& bytes) {
  emit({program::OpAlloc{into, bytes.operand()}});
}

bool HostArrays::reads(ir::VarId v) {
  if (!host_uses_) host_uses_ = host_uses(ir_);
  return host_uses_->contains(v);
}

HostArray HostArrays::allocate(PrimType elem, std::vector<Operand> dims) {
  HostArray a;
  a.elem = elem;
  a.block = allocate_bytes(times(count(dims), size(prim_size(elem))));
  a.layout = LayoutMath(*this).dense(std::move(dims));
  return a;
}

HostArray HostArrays::block_array(const ir::Type& t, BlockReg block) {
  HostArray a;
  a.elem = t.prim;
  a.block = block;
  a.layout = LayoutMath(*this).dense(dims_of(t.dims));
  return a;
}

HostArray HostArrays::in_memory(HostArray a) {
  if (a.kind == ArrayKind::kMemory) return a;
  HostArray to = allocate(a.elem, a.layout.dims);
  copy(a, to);
  return to;
}

HostArray HostArrays::normalised(HostArray a) {
  a = in_memory(std::move(a));
  if (a.layout.dense && as_const(a.layout.offset) == 0 && as_const(a.layout.unit) == 1) return a;
  HostArray to = allocate(a.elem, a.layout.dims);
  copy(a, to);
  return to;
}

// ---- views

SliceDims<Operand> HostArrays::slice_dims(const std::vector<ir::Dim>& dims) {
  return body::slice_dims(dims, [&](const ir::Atom& a) { return scalar(a); });
}

HostArray HostArrays::sliced(const HostArray& a, const SliceDims<Operand>& dims) {
  return ViewMath(*this).sliced(a, dims);
}

void HostArrays::index(const ir::Stm& s, const ir::EIndex& e) {
  const HostArray a = array(e.array);
  const SliceDims<Operand> dims = slice_dims(e.dims);
  std::vector<Operand> at;
  for (const auto& d : dims) {
    if (const auto* fix = std::get_if<0>(&d)) at.push_back(*fix);
  }
  if (at.size() != dims.size()) {
    set(s.pat[0], sliced(a, dims));
    return;
  }
  if (const auto told = in_cells_.find(e.array); told != in_cells_.end() && as_const(at[0])) {
    set(s.pat[0], told->second.scalar(a.elem, static_cast<size_t>(*as_const(at[0]))));
    return;
  }
  switch (a.kind) {
    case ArrayKind::kIota:
      set(s.pat[0], HostScalar{a.elem, ViewMath(*this).iota_element(a, at[0])});
      return;
    case ArrayKind::kReplicate: set(s.pat[0], a.value); return;
    case ArrayKind::kMemory: break;
  }
  const Operand element = LayoutMath(*this).element(a.layout, at);
  set(s.pat[0],
      HostScalar{a.elem, DeviceScalar{a.block, mul(element, konst(prim_size(a.elem))), true}});
}

HostArray HostArrays::rearranged(const HostArray& a, const std::vector<int>& perm) {
  return ViewMath(*this).rearranged(a, perm);
}

void HostArrays::rearrange(const ir::Stm& s, const ir::ERearrange& e) {
  HostArray a = rearranged(array(e.array), e.perm);
  if (turned(e.array) != nullptr) a.layout = LayoutMath(*this).dense(std::move(a.layout.dims));
  set(s.pat[0], std::move(a));
}

void HostArrays::reshape(const ir::Stm& s, const ir::EReshape& e) {
  HostArray a = array(e.array);
  std::vector<Operand> dims = dims_of(e.dims);
  if (a.kind == ArrayKind::kReplicate || (a.kind == ArrayKind::kIota && dims.size() == 1)) {
    a.layout.dims = std::move(dims);
    set(s.pat[0], std::move(a));
    return;
  }
  if (a.kind != ArrayKind::kMemory || !a.layout.dense) a = normalised(std::move(a));
  a.layout = *LayoutMath(*this).reshape(a.layout, std::move(dims));
  set(s.pat[0], std::move(a));
}

// ---- making arrays

void HostArrays::store_scalar(const HostArray& to, const Operand& element, const HostScalar& v) {
  const Operand offset = mul(element, konst(prim_size(to.elem)));
  if (const auto* known = std::get_if<Operand>(&v.at)) {
    emit({program::OpWrite{to.elem, to.block, offset, {*known}}});
    return;
  }
  body::Thread t(*this, kernel_name("set"), {}, true);
  HostArray slot = to;
  slot.layout = LayoutMath(*this).dense({}, element, konst(1));
  const auto elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const kir::Values&) {
    const body::KernelArray d = t.args.array(slot);
    body::store(t, d, d.layout.offset, t.args.scalar(v));
    return kir::Values{};
  });
  launch_single(*this, t, elem);
}

BlockReg HostArrays::word_of(const HostScalar& v) {
  const auto* d = std::get_if<DeviceScalar>(&v.at);
  const auto offset = d == nullptr || d->borrowed ? std::nullopt : as_const(d->offset);
  if (offset && *offset == 0) return d->block;
  if (offset && *offset % program::kPartAlignment == 0) {
    const BlockReg part = new_block();
    emit({program::OpPart{part, d->block, d->offset, konst(prim_size(v.type))}});
    return part;
  }
  HostArray word;
  word.elem = v.type;
  word.block = allocate_bytes(size(prim_size(v.type)));
  store_scalar(word, konst(0), v);
  return word.block;
}

void HostArrays::scratch(const ir::Stm& s, const ir::EScratch& e) {
  set(s.pat[0], allocate(e.type, dims_of(e.dims)));
  scratch_.insert(s.pat[0]);
}

void HostArrays::array_literal(const ir::Stm& s, const ir::EArrayLit& e) {
  const ir::Type& t = ir_.type_of(s.pat[0]);
  const HostArray to = make_and_bind(s.pat[0]);
  if (!e.elem_type.is_scalar()) {
    for (size_t k = 0; k < e.elems.size(); k++) {
      HostArray slot = to;
      slot.layout = LayoutMath(*this).row(to.layout, konst(static_cast<int64_t>(k)));
      put_part(e.elems[k].var(), s.pat[0], slot);
    }
    return;
  }
  // Runs of values that the host has go in one write each.
  std::vector<Operand> run;
  size_t run_start = 0;
  const auto flush = [&](size_t next) {
    if (!run.empty()) {
      const auto offset = static_cast<int64_t>(run_start) * prim_size(t.prim);
      emit({program::OpWrite{t.prim, to.block, konst(offset), std::exchange(run, {})}});
    }
    run_start = next;
  };
  for (size_t k = 0; k < e.elems.size(); k++) {
    const HostScalar v = host_scalar(e.elems[k]);
    if (const auto* known = std::get_if<Operand>(&v.at)) {
      run.push_back(*known);
      continue;
    }
    flush(k + 1);
    store_scalar(to, konst(static_cast<int64_t>(k)), v);
  }
  flush(e.elems.size());
}

void HostArrays::replicate(const ir::Stm& s, const ir::EReplicate& e) {
  std::vector<Operand> dims = dims_of(e.dims);
  if (ir_.type_of(e.value).is_scalar()) {
    HostScalar v = host_scalar(e.value);
    if (v.is_borrowed()) v.at = scalar(e.value);
    HostArray a;
    a.elem = v.type;
    a.kind = ArrayKind::kReplicate;
    a.layout.dims = std::move(dims);
    a.value = v;
    set(s.pat[0], std::move(a));
    return;
  }
  HostArray row = array(e.value.var());
  if (row.kind == ArrayKind::kReplicate) {
    row.layout.dims.insert(row.layout.dims.begin(), dims.begin(), dims.end());
    set(s.pat[0], std::move(row));
    return;
  }
  row = in_memory(std::move(row));
  HostArray from = row;
  from.layout.strides = LayoutMath(*this).strides(row.layout);
  from.layout.dense = false;
  from.layout.dims.insert(from.layout.dims.begin(), dims.begin(), dims.end());
  from.layout.strides.insert(from.layout.strides.begin(), dims.size(), konst(0));
  const HostArray to = allocate(row.elem, from.layout.dims);
  copy(from, to);
  set(s.pat[0], to);
}

void HostArrays::concat(const ir::Stm& s, const ir::EConcat& e) {
  const HostArray to = make(s.pat[0]);
  Operand start = konst(0);
  for (ir::VarId v : e.arrays) {
    const HostArray part = array(v);
    HostArray place = to;
    place.layout = LayoutMath(*this).rows(to.layout, start, part.layout.dims[0]);
    put_part(v, s.pat[0], place);
    start = add(start, part.layout.dims[0]);
  }
  set(s.pat[0], to);
}

// ---- updates in place

void HostArrays::settle_borrowed() {
  for (const auto& [v, scalar] : take_borrowed()) {
    set(v, HostScalar{scalar.type, DeviceScalar{word_of(scalar), konst(0), false}});
  }
}

void HostArrays::update(const ir::Stm& s, const ir::EUpdate& e) {
  const SliceDims<Operand> dims = slice_dims(e.dims);
  settle_borrowed();
  const HostArray a = in_memory(array(e.array));
  set(s.pat[0], a);
  if (ir_.type_of(e.value).is_scalar()) {
    std::vector<Operand> at;
    for (const auto& d : dims) at.push_back(std::get<0>(d));
    store_scalar(a, LayoutMath(*this).element(a.layout, at), host_scalar(e.value));
    return;
  }
  put_update(e.value.var(), e.array, sliced(a, dims));
}

void choose(HostArrays& host, const Operand& cond, const std::function<void()>& then,
            const std::function<void()>& otherwise) {
  if (const auto* known = std::get_if<PrimValue>(&cond)) {
    known->as_bool() ? then() : otherwise();
    return;
  }
  program::OpIf branch;
  branch.cond = cond;
  host.emit_into(branch.then_code, then);
  host.emit_into(branch.else_code, otherwise);
  host.emit({std::move(branch)});
}

}  // namespace kenaz::host_code
