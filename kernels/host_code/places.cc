// Arrays at places (ir/places.h), in host code: parts of blocks.
#include "kernels/host_code/host_arrays.h"
#include "kernels/host_code/interleaved.h"

namespace kenaz::host_code {

HostArray HostArrays::make(ir::VarId v) {
  at_their_place_.erase(v);
  const ir::VarInfo& info = ir_.vars[v.index];
  if (info.place) {
    if (auto there = at_place(v, *info.place)) return *std::move(there);
  }
  const std::vector<Operand> dims = dims_of(info.type.dims);
  const std::vector<int>* perm = turned(v);
  if (perm == nullptr) return allocate(info.type.prim, dims);
  std::vector<Operand> lying;
  std::vector<int> back(perm->size());
  for (size_t d = 0; d < perm->size(); d++) {
    lying.push_back(dims[static_cast<size_t>((*perm)[d])]);
    back[static_cast<size_t>((*perm)[d])] = static_cast<int>(d);
  }
  return rearranged(allocate(info.type.prim, lying), back);
}

const std::vector<int>* HostArrays::turned(ir::VarId v) {
  if (!turned_) {
    turned_ = turned_results(
        ir_, [&](const ir::ESeg& e, size_t n) { return stores_by_elements(*this, e, n); });
  }
  const auto found = turned_->find(v);
  return found == turned_->end() ? nullptr : &found->second;
}

HostArray HostArrays::make_and_bind(ir::VarId v) {
  const HostArray a = make(v);
  bind(v, a);
  return a;
}

/// Kernels store with up to 16 bytes at a time, so a place may be theirs only where that fits,
/// which may be known at run time only.
std::optional<HostArray> HostArrays::at_place(ir::VarId v, const ir::Place& place) {
  const HostArray memory = array(place.memory);
  if (memory.kind != ArrayKind::kMemory || !memory.layout.dense ||
      as_const(memory.layout.offset) != 0 || as_const(memory.layout.unit) != 1) {
    return std::nullopt;
  }
  const ir::Type& type = ir_.type_of(v);
  HostArray a;
  a.elem = type.prim;
  a.layout = LayoutMath(*this).dense(dims_of(type.dims));
  const Operand offset = mul(scalar(place.start), konst(prim_size(type.prim)));
  const std::optional<int64_t> known = as_const(offset);
  if (known && *known % program::kPartAlignment != 0) return std::nullopt;
  if (scratch_.count(place.memory) == 0) settle_borrowed();
  if (known == 0 && type == ir_.type_of(place.memory)) {
    a.block = memory.block;
    at_their_place_[v] = PrimValue::of_bool(true);
    return a;
  }
  const Operand bytes = times(count(a.layout.dims), size(prim_size(type.prim))).operand();
  a.block = new_block();
  program::OpPart part{a.block, memory.block, offset, bytes};
  if (known) {
    emit({std::move(part)});
    at_their_place_[v] = PrimValue::of_bool(true);
    return a;
  }
  const Operand rest = emit_op(ScalarOp::kAnd, PrimType::kI64, PrimType::kI64,
                               {offset, konst(program::kPartAlignment - 1)});
  const Operand fits = emit_op(ScalarOp::kEq, PrimType::kI64, PrimType::kBool, {rest, konst(0)});
  choose(
      *this, fits, [&] { emit({std::move(part)}); },
      [&] {
        emit({program::OpAlloc{a.block, bytes}});
      });
  at_their_place_[v] = fits;
  return a;
}

/// False also where it has none in this memory.
Operand HostArrays::is_at_place(ir::VarId v, ir::VarId memory) const {
  const auto& place = ir_.vars[v.index].place;
  const auto found = at_their_place_.find(v);
  const bool none = !place || place->memory != memory || found == at_their_place_.end();
  return none ? Operand(PrimValue::of_bool(false)) : found->second;
}

void HostArrays::copy_unless(const Operand& there, ir::VarId v, const HostArray& to) {
  choose(
      *this, there, [] {}, [&] { copy(array(v), to); });
}

void HostArrays::put_part(ir::VarId v, ir::VarId whole, const HostArray& to) {
  const auto& place = ir_.vars[whole.index].place;
  if (!place) return copy(array(v), to);
  // The whole may be a part itself, and not where it was to be.
  const Operand part = is_at_place(v, place->memory), all = is_at_place(whole, place->memory);
  const auto* known = std::get_if<PrimValue>(&all);
  if (known != nullptr && known->as_bool()) return copy_unless(part, v, to);
  const auto* no_part = std::get_if<PrimValue>(&part);
  if (no_part != nullptr && !no_part->as_bool()) return copy_unless(part, v, to);
  copy_unless(emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {part, all}), v, to);
}

void HostArrays::put_update(ir::VarId v, ir::VarId whole, const HostArray& to) {
  copy_unless(is_at_place(v, whole), v, to);
}

}  // namespace kenaz::host_code
