#include "kernels/body/storage.h"

#include <algorithm>
#include <utility>

#include "kernels/body/thread.h"

namespace kenaz::body {

using kir::Value;

namespace {

/// Sizes are computed with saturation: a product that wraps would be memory that is too small.
Operand saturating(Host& host, ScalarOp op, const Operand& a, const Operand& b) {
  return host.emit_op(op, PrimType::kI64, PrimType::kI64, {a, b});
}

/// The bytes of an array at a multiple of 8; null if only the thread knows them.
std::optional<Operand> bytes_on_host(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims) {
  Operand bytes = PrimValue::i64(prim_size(elem));
  for (const auto& d : dims) {
    const auto n = t.env.on_host(d);
    if (!n) return std::nullopt;
    bytes = saturating(t.host, ScalarOp::kSizeMul, bytes, *n);
  }
  bytes = saturating(t.host, ScalarOp::kSizeAdd, bytes, PrimValue::i64(7));
  return saturating(t.host, ScalarOp::kAnd, bytes, PrimValue::i64(-8));
}

/// What is smaller than a register takes one.
int64_t bytes_in_table(PrimType elem) { return std::max(4, prim_size(elem)); }

}  // namespace

std::optional<int64_t> local_length(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims) {
  const int64_t each = bytes_in_table(elem);
  const int64_t most = t.host.largest_table();
  int64_t length = 1;
  for (const auto& d : dims) {
    const Value n = t.env.scalar(d);
    if (!n.is_const()) return std::nullopt;
    const int64_t size = n.constant().as_i64();
    if (size <= 0 || size > most) return std::nullopt;
    length *= size;
    if (length * each > most) return std::nullopt;
  }
  if (length * each > t.host.local_bytes() - t.local_bytes) return std::nullopt;
  return length;
}

std::optional<KernelArray> local_array(Thread& t, PrimType elem,
                                       const std::vector<ir::Atom>& dims) {
  const auto length = local_length(t, elem, dims);
  if (!length) return std::nullopt;
  t.local_bytes += *length * bytes_in_table(elem);
  KernelArray a;
  a.elem = elem;
  a.memory = t.args.new_memory();
  a.local = t.k.local_array("own", elem, static_cast<int32_t>(*length));
  Math math{t.k};
  a.layout = LayoutMath(math).dense(t.env.scalars(dims));
  return a;
}

void give_back(Thread& t, kir::LocalId table) {
  const kir::LocalArray& a = t.kernel.locals[table.index];
  t.local_bytes -= a.length * bytes_in_table(a.type);
  // One before the last has a number between others: it stays, and takes no registers.
  if (table.index + 1 == t.kernel.locals.size()) t.kernel.locals.pop_back();
}

KernelArray allocate(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims) {
  if (auto local = local_array(t, elem, dims)) return *local;
  return allocate_addressed(t, elem, dims);
}

KernelArray allocate_addressed(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims) {
  const auto bytes = bytes_on_host(t, elem, dims);
  if (!bytes) return t.heap.allocate(t, elem, dims);
  PrivateMemory& memory = t.private_memory;
  if (!memory.used()) memory.block = t.host.new_block();
  KernelArray a;
  a.elem = elem;
  a.memory = t.args.new_memory();
  Value before = t.args.operand(memory.bytes);
  Math math{t.k};
  LayoutMath layouts(math);
  if (t.single_thread) {
    a.layout = layouts.dense(t.env.scalars(dims));
  } else {
    before = t.k.mul(before, t.k.threads());
    a.layout = layouts.dense(t.env.scalars(dims), t.k.global(), t.k.threads());
  }
  a.base = t.k.add(t.args.block(memory.block), t.k.convert(before, PrimType::kU64));
  memory.bytes = saturating(t.host, ScalarOp::kSizeAdd, memory.bytes, *bytes);
  return a;
}

kir::Var Heap::begin_function(kir::Builder& k) {
  return std::exchange(top_, k.declare(kir::i64(0)));
}

KernelArray Heap::allocate(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims) {
  if (!used()) {
    capacity_ = t.host.new_scalar(PrimType::kI64);
    block_ = t.host.new_block();
    flag_ = t.host.new_block();
  }
  kir::Builder& k = t.k;
  KernelArray a;
  a.elem = elem;
  a.memory = t.args.new_memory();
  Math math{k};
  a.layout = LayoutMath(math).dense(t.env.scalars(dims));
  Value size = kir::i64(prim_size(elem));
  for (const Value& d : a.layout.dims) size = k.prim(ScalarOp::kSizeMul, {size, d});
  // At most a little more than 2^62, for which no heap has room.
  const Value bytes = k.and_(k.add(size, 7), kir::i64(-8));
  const Value capacity = t.args.operand(capacity_);
  const Value at = k.read(top_);
  k.if_(k.lt(k.sub(capacity, at), bytes), [&] {
    const kir::Address flag{t.args.block(flag_), kir::i64(0)};
    k.atomic(kir::AtomicOp::kOr, PrimType::kU32, flag, PrimValue{PrimType::kU32, 1});
    k.stop();
  });
  k.assign(top_, k.add(at, bytes));
  const Value heap = t.single_thread ? at : k.add(k.mul(k.global(), capacity), at);
  a.base = k.add(t.args.block(block_), k.convert(heap, PrimType::kU64));
  return a;
}

}  // namespace kenaz::body
