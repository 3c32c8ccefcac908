#include "kernels/host_code/cells.h"

namespace kenaz::host_code {

using kir::Value;

namespace {

/// In the lowest bits; what stands above them does not matter.
Value as_word(kir::Builder& k, Value x) {
  if (is_float(x.type.prim)) {
    const int bits = prim_bits(x.type.prim);
    x = k.bitcast(x, bits == 64 ? PrimType::kU64 : bits == 32 ? PrimType::kU32 : PrimType::kU16);
  }
  return k.convert(x, PrimType::kU64);
}

}  // namespace

// Where kernels are interpreted to be observed, what they tell would be stores that none reads.
Cells allocate_cells(HostArrays& host, size_t n, bool told) {
  const auto count = static_cast<int64_t>(n);
  Cells cells;
  const HostSize bytes = host.size(Cells::kBytes * count);
  cells.words = host.allocate_bytes(bytes);
  if (!told || host.target().interprets) return cells;
  cells.told = host.new_block();
  host.emit({program::OpAlloc{cells.told, bytes.operand(), program::OpAlloc::kHostReads}});
  return cells;
}

CellStores::CellStores(body::Thread& t, const Cells& cells, program::Kernel::Tells tells)
    : words_(t.args.block(cells.words)) {
  if (!cells.told.valid()) return;
  told_ = t.args.block(cells.told);
  t.tells = tells;
}

void CellStores::store(kir::Builder& k, size_t n, const Value& value) const {
  const auto offset = static_cast<int64_t>(Cells::kBytes * n);
  k.store(words_, kir::i64(offset / prim_size(value.type.prim)), value);
  if (!told_) return;
  const Value word = as_word(k, value);
  const Value mark = k.xor_(word, PrimValue{PrimType::kU64, program::kCellMark});
  k.store(*told_, kir::i64(offset / prim_size(PrimType::kU64)), k.compose({word, mark}));
}

}  // namespace kenaz::host_code
