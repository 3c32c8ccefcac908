#include "kernels/primitives/blocks/bits.h"

namespace kenaz::primitives::blocks {

using kir::Builder;
using kir::Value;

Value bits_of(Builder& k, const Value& x) {
  if (x.type.prim == PrimType::kBool) return k.convert(x, PrimType::kU32);
  switch (prim_size(x.type.prim)) {
    case 8: return k.bitcast(x, PrimType::kU64);
    case 4: return k.bitcast(x, PrimType::kU32);
    case 2: return k.convert(k.bitcast(x, PrimType::kU16), PrimType::kU32);
    default: return k.convert(k.bitcast(x, PrimType::kU8), PrimType::kU32);
  }
}

Value from_bits(Builder& k, const Value& bits, PrimType type) {
  if (type == PrimType::kBool) return k.convert(bits, type);
  switch (prim_size(type)) {
    case 2: return k.bitcast(k.convert(bits, PrimType::kU16), type);
    case 1: return k.bitcast(k.convert(bits, PrimType::kU8), type);
    default: return k.bitcast(bits, type);
  }
}

}  // namespace kenaz::primitives::blocks
