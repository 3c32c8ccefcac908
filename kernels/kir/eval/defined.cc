#include "kernels/kir/eval/defined.h"

namespace kenaz::kir::eval {
namespace {

uint8_t above(int bytes) { return static_cast<uint8_t>(0xff << bytes); }

/// Bytes of an `and` or `or` that an operand decides: it is `byte` there, and defined.
uint8_t decided(uint64_t bits, uint8_t known, uint8_t byte) {
  uint8_t out = 0;
  for (int k = 0; k < 8; k++) {
    const bool is_it = static_cast<uint8_t>(bits >> (8 * k)) == byte;
    if (is_it && (known >> k & 1) != 0) out |= static_cast<uint8_t>(1 << k);
  }
  return out;
}

uint8_t shifted(const IPrim& e, std::span<const uint64_t> bits, uint8_t known) {
  const int size = prim_size(e.type);
  const int count = static_cast<int>(bits[1] & (8 * size - 1));
  if (count % 8 != 0) return 0;
  const int bytes = count / 8;
  if (e.op == ScalarOp::kShl) {
    return static_cast<uint8_t>(known << bytes | ~above(bytes)) | above(size);
  }
  const bool sign = (known >> (size - 1) & 1) != 0;
  const uint8_t low = static_cast<uint8_t>((known & ~above(size)) >> bytes);
  const auto high = static_cast<uint8_t>(above(size - bytes) & ~above(size));
  const bool fills = e.op == ScalarOp::kLShr || prim_kind(e.type) == PrimKind::kUnsigned || sign;
  return static_cast<uint8_t>(low | (fills ? high : 0)) | above(size);
}

uint8_t converted(const IPrim& e, uint8_t known) {
  if (!is_integer(e.type) || !is_integer(e.to)) return 0;
  const int from = prim_size(e.type), to = prim_size(e.to);
  const auto low = static_cast<uint8_t>(known & ~above(from));
  if (to <= from) return low | above(to);
  const bool sign = (known >> (from - 1) & 1) != 0;
  const bool extends =
      sign || prim_kind(e.type) == PrimKind::kUnsigned || prim_kind(e.to) == PrimKind::kUnsigned;
  return static_cast<uint8_t>(low | (extends ? above(from) : above(to)));
}

}  // namespace

uint8_t defined_bytes(const IPrim& e, std::span<const uint64_t> bits,
                      std::span<const uint8_t> known) {
  uint8_t all = kDefined;
  for (size_t k = 0; k < e.args.size(); k++) all &= known[k];
  if (all == kDefined) return all;
  const uint8_t tail = above(prim_size(e.type));  // a bit cast keeps the size
  switch (e.op) {
    case ScalarOp::kAnd:
      return all | decided(bits[0], known[0], 0) | decided(bits[1], known[1], 0) | tail;
    case ScalarOp::kOr: {
      const uint8_t ones = e.type == PrimType::kBool ? 1 : 0xff;
      return all | decided(bits[0], known[0], ones) | decided(bits[1], known[1], ones) | tail;
    }
    case ScalarOp::kXor:
    case ScalarOp::kNot:
    case ScalarOp::kBitcast: return all | tail;
    case ScalarOp::kShl:
    case ScalarOp::kShr:
    case ScalarOp::kLShr: return known[1] == kDefined ? shifted(e, bits, known[0]) : 0;
    case ScalarOp::kConvert: return converted(e, known[0]);
    default: return 0;
  }
}

}  // namespace kenaz::kir::eval
