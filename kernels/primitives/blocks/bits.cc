#include "kernels/primitives/blocks/bits.h"

namespace kenaz::primitives::blocks {

using kir::Builder;
using kir::Value;
using kir::Values;

namespace {

// Where a scalar begins: in which word, at which bit.
struct Spot {
  size_t word = 0;
  int bit = 0;
};

std::vector<Spot> spots_of(const std::vector<PrimType>& types) {
  std::vector<Spot> out;
  Spot next;
  for (const PrimType t : types) {
    const int bits = 8 * prim_size(t);
    if (next.bit > 0 && next.bit + bits > 32) next = {next.word + 1, 0};
    out.push_back(next);
    next.bit += bits;
    if (next.bit >= 32) next = {next.word + static_cast<size_t>(next.bit / 32), 0};
  }
  out.push_back(next.bit > 0 ? Spot{next.word + 1, 0} : next);  // the end
  return out;
}

Value number(int n) { return PrimValue::of_int(PrimType::kU32, n); }
Value shift_of_high() { return PrimValue{PrimType::kU64, 32}; }

}  // namespace

int words_of(const std::vector<PrimType>& types) {
  return static_cast<int>(spots_of(types).back().word);
}

Values to_words(Builder& k, const Values& x) {
  std::vector<PrimType> types;
  for (const Value& v : x) types.push_back(v.type.prim);
  const std::vector<Spot> spots = spots_of(types);
  Values out(spots.back().word, number(0));
  for (size_t n = 0; n < x.size(); n++) {
    const Value bits = bits_of(k, x[n]);
    Value& word = out[spots[n].word];
    if (bits.type.prim == PrimType::kU64) {
      word = k.convert(bits, PrimType::kU32);
      out[spots[n].word + 1] = k.convert(k.lshr(bits, shift_of_high()), PrimType::kU32);
    } else {
      word = k.or_(word, k.shl(bits, number(spots[n].bit)));
    }
  }
  return out;
}

Values from_words(Builder& k, const Values& words, const std::vector<PrimType>& types) {
  const std::vector<Spot> spots = spots_of(types);
  Values out;
  for (size_t n = 0; n < types.size(); n++) {
    const Value& word = words[spots[n].word];
    if (prim_size(types[n]) == 8) {
      const Value high = k.convert(words[spots[n].word + 1], PrimType::kU64);
      const Value bits = k.or_(k.convert(word, PrimType::kU64), k.shl(high, shift_of_high()));
      out.push_back(from_bits(k, bits, types[n]));
      continue;
    }
    Value bits = k.lshr(word, number(spots[n].bit));
    if (types[n] == PrimType::kBool) bits = k.and_(bits, number(1));
    out.push_back(from_bits(k, bits, types[n]));
  }
  return out;
}

Value bits_of(Builder& k, const Value& x) {
  if (x.type.prim == PrimType::kBool) return k.convert(x, PrimType::kU32);
  switch (prim_size(x.type.prim)) {
    case 8: return k.bitcast(x, PrimType::kU64);
    case 4: return k.bitcast(x, PrimType::kU32);
    case 2: return k.convert(k.bitcast(x, PrimType::kU16), PrimType::kU32);
    default: return k.convert(k.bitcast(x, PrimType::kU8), PrimType::kU32);
  }
}

static Value ordered_float_bits(Builder& k, const Value& x) {
  const PrimType type = x.type.prim;
  const PrimType whole = bits_type(type);
  const Value sign{PrimValue{whole, uint64_t{1} << (prim_bits(type) - 1)}};
  const Value all = bits_of(k, x);
  Value bits = k.select(k.eq(all, sign), PrimValue{whole, 0}, all);
  Value top = sign;
  if (whole == PrimType::kU64) {
    bits = k.convert(k.lshr(bits, shift_of_high()), PrimType::kU32);
    top = PrimValue{PrimType::kU32, 0x80000000};
  }
  // Of negative numbers the greater bits are the smaller number.
  const Value negative = k.ne(k.and_(bits, top), number(0));
  return k.select(negative, k.sub(k.sub(k.add(top, top), number(1)), bits), k.or_(bits, top));
}

Value ordered_bits(Builder& k, const Value& x) {
  const PrimType type = x.type.prim;
  if (is_float(type)) return ordered_float_bits(k, x);
  if (prim_kind(type) != PrimKind::kSigned) {
    const bool wide = type == PrimType::kU64;
    return k.convert(wide ? k.min(x, PrimValue{type, UINT32_MAX}) : x, PrimType::kU32);
  }
  Value n = x;
  if (type == PrimType::kI64) n = k.max(k.min(x, kir::i64(INT32_MAX)), kir::i64(INT32_MIN));
  const Value bits = k.bitcast(k.convert(n, PrimType::kI32), PrimType::kU32);
  return k.xor_(bits, PrimValue{PrimType::kU32, 0x80000000});
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
