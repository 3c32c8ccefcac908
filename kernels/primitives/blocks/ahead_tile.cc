#include "kernels/primitives/blocks/ahead_tile.h"

#include <algorithm>

#include "kernels/primitives/blocks/bits.h"

namespace kenaz::primitives::blocks {

using kir::Builder;
using kir::Value;
using kir::Values;

namespace {

constexpr int kWordBytes = 8;
constexpr int kWordsOfThread = 32;        // of a thread, loaded and stored: its code repeats them
constexpr int kUnitsOfThread = 16;        // as many as make what a workgroup costs besides small
constexpr int kStatementsOfThread = 128;  // of all elements of a thread together

Value number_of_bits(int n) { return PrimValue{PrimType::kU64, static_cast<uint64_t>(n)}; }

/// The scalars in a word, the first one lowest.
void split_word(Builder& k, const Value& word, PrimType type, Values& out) {
  const int size = prim_size(type);
  for (int at = 0; at < kWordBytes; at += size) {
    const Value part = k.lshr(word, number_of_bits(8 * at));
    const Value narrow = size == kWordBytes ? part : k.convert(part, PrimType::kU32);
    out.push_back(from_bits(
        k, type == PrimType::kBool ? k.and_(narrow, Builder::same_type(narrow, 1)) : narrow, type));
  }
}

/// .. and back.
Value join_word(Builder& k, const Value* first, PrimType type) {
  const int size = prim_size(type);
  Value word = number_of_bits(0);
  for (int at = 0; at < kWordBytes; at += size) {
    const Value part = k.convert(bits_of(k, *first++), PrimType::kU64);
    word = k.or_(word, k.shl(part, number_of_bits(8 * at)));
  }
  return word;
}

}  // namespace

void AheadTile::fit(const std::vector<PrimType>& types, int statements) {
  int smallest = kWordBytes, words_of_unit = 0;
  for (const PrimType t : types) smallest = std::min(smallest, prim_size(t));
  each = kWordBytes / smallest;
  for (const PrimType t : types) words_of_unit += words(t);
  units = std::min(
      {kUnitsOfThread, kWordsOfThread / words_of_unit, kStatementsOfThread / (each * statements)});
}

/// The number in the tile of a thread's n-th unit.
int64_t AheadTile::unit(int lane, int n) const {
  return order == Order::kRows ? int64_t{n} * lanes + lane : int64_t{lane} * units + n;
}

/// .. in the array, of this thread.
Value AheadTile::own_unit(Builder& k, const Value& tile, int n) const {
  const Value lane = k.to_i64(k.lane());
  const Value in_tile =
      order == Order::kRows ? k.add(lane, int64_t{n} * lanes) : k.add(k.mul(lane, units), n);
  return k.add(k.mul(tile, int64_t{lanes} * units), in_tile);
}

Values AheadTile::load(Builder& k, PrimType type, const Value& base, const Value& tile) const {
  const int words = this->words(type);
  const Value first = k.mul(tile, int64_t{lanes} * units * words);
  Values out;
  for (int n = 0; n < units; n++) {
    for (int w = 0; w < words; w++) {
      Value mine;
      for (int lane = 0; lane < lanes; lane++) {
        const Value word = k.load(PrimType::kU64, base, k.add(first, unit(lane, n) * words + w));
        mine = lane == 0 ? word : k.select(k.eq(k.lane(), lane), word, mine);
      }
      split_word(k, mine, type, out);
    }
  }
  return out;
}

Value AheadTile::place(Builder& k, const Value& tile, int n) const {
  return k.add(k.mul(own_unit(k, tile, n / each), each), n % each);
}

void AheadTile::store(Builder& k, const Value& base, const Value& tile, int n,
                      const Values& elements) const {
  const PrimType type = elements[0].type.prim;
  const int words = this->words(type);
  const size_t per_word = static_cast<size_t>(kWordBytes / prim_size(type));
  for (size_t from = 0; from < elements.size(); from += static_cast<size_t>(each)) {
    const Value first = k.mul(own_unit(k, tile, n / each + static_cast<int>(from) / each), words);
    for (int w = 0; w < words; w++) {
      const Value word = join_word(k, &elements[from + static_cast<size_t>(w) * per_word], type);
      k.store(base, k.add(first, w), word);
    }
  }
}

}  // namespace kenaz::primitives::blocks
