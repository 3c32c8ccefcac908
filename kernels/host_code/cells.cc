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

HostScalar cell(PrimType type, BlockReg block, size_t n) {
  const auto offset = static_cast<int64_t>(program::kCellBytes * n);
  return {type, DeviceScalar{block, PrimValue::i64(offset), false}};
}

// Where kernels are interpreted to be observed, marks would be stores that no kernel reads.
CellStores::CellStores(HostArrays& host, body::Thread& t, BlockReg block,
                       program::Kernel::Tells tells)
    : base_(t.args.block(block)), marks_(!host.target().interprets) {
  if (marks_) t.tells = tells;
}

void CellStores::store(kir::Builder& k, size_t n, const Value& value) const {
  const auto offset = static_cast<int64_t>(program::kCellBytes * n);
  if (!marks_) {
    k.store(base_, kir::i64(offset / prim_size(value.type.prim)), value);
    return;
  }
  const Value word = as_word(k, value);
  const Value mark = k.xor_(word, PrimValue{PrimType::kU64, program::kCellMark});
  k.store(base_, kir::i64(offset / 8), k.compose({word, mark}));
}

}  // namespace kenaz::host_code
