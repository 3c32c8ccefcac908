#include "kernels/host_code/group_memory.h"

#include <algorithm>

namespace kenaz::host_code {

using body::KernelArray;
using body::Thread;
using kir::Value;

namespace {

/// Of an element in shared memory: what is smaller than a word may take one.
int64_t shared_size(PrimType t) { return std::max(4, prim_size(t)); }

}  // namespace

// With saturation: a product that wraps would be memory that is too small.
Operand GroupMemory::sized(ScalarOp op, const Operand& a, const Operand& b) {
  return host_.emit_op(op, PrimType::kI64, PrimType::kI64, {a, b});
}

/// Threads that each work on a row of a power of two elements would all read from the same bank of
/// shared memory.
bool GroupMemory::is_padded(PrimType elem, const std::vector<ir::Atom>& dims,
                            const Operand& elements) const {
  constexpr int64_t kConflicts = 16, kMostBytes = 16384;
  if (!pads_ || where_ != Where::kShared || dims.size() < 2 || !dims.back().is_const())
    return false;
  const auto all = host_.as_const(elements);
  const int64_t row = dims.back().constant().as_i64();
  return all && *all <= kMostBytes / shared_size(elem) && row > 0 && row % kConflicts == 0;
}

KernelArray GroupMemory::allocate(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims) {
  KernelArray a;
  a.elem = elem;
  a.memory = t.args.new_memory();
  Operand elements = PrimValue::i64(1);
  for (const ir::Atom& d : dims) {
    const auto n = t.env.on_host(d);
    if (!n) {
      host_.refuse(t.k.prov(), "an array of a workgroup whose size differs between them");
      return a;
    }
    elements = sized(ScalarOp::kSizeMul, elements, *n);
  }
  body::Math math{t.k};
  body::LayoutMath layouts(math);
  if (where_ == Where::kShared) {
    const auto [it, fresh] = pools_.try_emplace(elem);
    Pool& pool = it->second;
    if (fresh) pool.id = t.k.shared("arrays", elem, {1});
    a.shared = pool.id;
    std::vector<Value> sizes = t.env.scalars(dims);
    const Value offset = t.args.operand(pool.used);
    if (is_padded(elem, dims, elements)) {
      const int64_t row = dims.back().constant().as_i64();
      std::vector<Value> padded = sizes;
      padded.back() = kir::i64(row + 1);
      a.layout = layouts.dense(padded, offset, kir::i64(1));
      a.layout.strides = layouts.strides(a.layout);
      a.layout.dims = std::move(sizes);
      a.layout.dense = false;
      elements = PrimValue::i64(*host_.as_const(elements) / row * (row + 1));
    } else {
      a.layout = layouts.dense(std::move(sizes), offset, kir::i64(1));
    }
    pool.used = sized(ScalarOp::kSizeAdd, pool.used, elements);
    return a;
  }
  if (!block_.valid()) block_ = host_.new_block();
  Operand bytes = sized(ScalarOp::kSizeMul, elements, PrimValue::i64(prim_size(elem)));
  bytes = sized(ScalarOp::kSizeAdd, bytes, PrimValue::i64(7));
  bytes = sized(ScalarOp::kAnd, bytes, PrimValue::i64(-8));
  // The same array of all workgroups, then the next one's.
  const Value first = t.k.mul(t.args.operand(bytes_), t.k.groups());
  const Value own = t.k.add(first, t.k.mul(t.args.operand(bytes), t.k.group()));
  a.base = t.k.add(t.args.block(block_), t.k.convert(own, PrimType::kU64));
  a.layout = layouts.dense(t.env.scalars(dims));
  bytes_ = sized(ScalarOp::kSizeAdd, bytes_, bytes);
  return a;
}

Operand GroupMemory::settle(kir::Kernel& kernel, int bytes) {
  int64_t left = bytes, varying = 0;
  for (auto& [type, pool] : pools_) {
    const auto known = host_.as_const(pool.used);
    if (!known) {
      varying++;
      continue;
    }
    if (*known > left / shared_size(type)) return PrimValue::of_bool(false);
    left -= *known * shared_size(type);
    kernel.shared[pool.id.index].length = {static_cast<int32_t>(std::max<int64_t>(*known, 1))};
  }
  Operand fits = PrimValue::of_bool(true);
  for (auto& [type, pool] : pools_) {
    if (host_.as_const(pool.used)) continue;
    const int64_t room = left / varying / shared_size(type);
    if (room == 0) return PrimValue::of_bool(false);
    kernel.shared[pool.id.index].length = {static_cast<int32_t>(room)};
    const Operand here = host_.emit_op(ScalarOp::kLe, PrimType::kI64, PrimType::kBool,
                                       {pool.used, PrimValue::i64(room)});
    fits = host_.emit_op(ScalarOp::kAnd, PrimType::kBool, PrimType::kBool, {fits, here});
  }
  return fits;
}

void GroupMemory::provide(const Operand& groups) {
  if (!block_.valid()) return;
  host_.allocate_bytes(block_, host_.times(host_.size(bytes_), host_.size(groups)));
}

}  // namespace kenaz::host_code
