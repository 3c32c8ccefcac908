#include "kernels/primitives/copy/tile.h"

#include <algorithm>
#include <bit>

#include "protocol/base/check.h"

namespace kenaz::primitives::copy {

namespace {

using kir::Value;
using kir::Values;
using plan::HostExpr;
using plan::Team;

int log2(int n) { return std::countr_zero(static_cast<unsigned>(n)); }

// How neighbours go through memory and registers together: elements of one or two bytes by whole
// words of 32 bits, wider ones as vectors.
struct Word {
  PrimType type;
  int vector = 1;  // lanes of the vector
  int packed = 1;  // elements in each
};

Word word_of(PrimType type, int lanes) {
  const int size = prim_size(type);
  if (lanes > 1 && size < 4) {
    CHECK(size * lanes == 4);
    return {PrimType::kU32, 1, lanes};
  }
  return {type, lanes, 1};
}

// A tile as the rows of one array see it. All are i64; rows and columns are those of the matrix.
struct Side {
  const plan::Rows& rows;
  Value row, column;  // the first ones of the tile
  Value high, wide;   // how many rows and columns the matrix has from there on, within the tile
};

struct Tile {
  Value matrix;  // its number
  Side from, to;
};

Tile tile_of(Team& t, int side, const HostExpr& matrix, const HostExpr& down,
             const HostExpr& along) {
  kir::Builder& k = t.k;
  const Value strip = k.quot(k.group(), t.host(along));
  const Value column = k.sub(k.group(), k.mul(strip, t.host(along)));
  const Value number = k.quot(strip, t.host(down));
  const Value segment = k.mul(k.sub(strip, k.mul(number, t.host(down))), side);
  const Value position = k.mul(column, side);
  const Value segments = k.min(k.sub(t.host(matrix), segment), kir::i64(side));
  const Value positions = k.min(k.sub(t.host(t.facts.length), position), kir::i64(side));
  return {number,
          {t.problem.from, position, segment, positions, segments},
          {t.problem.to, segment, position, segments, positions}};
}

// The code of one tile. It consists of blocks of as many rows as a word has lanes, one word of each
// row. A thread turns blocks by itself, and whole words go through shared memory.
class TileCopy {
 public:
  TileCopy(Team& t, const TileShape& shape, Tile tile)
      : t_(t),
        k_(t.k),
        shape_(shape),
        tile_(std::move(tile)),
        word_(word_of(t.facts.carried[0], shape.lanes)) {
    const int threads = plan::group_size_for(t.facts, t.target);
    together_ = std::clamp(blocks() / threads, 1, std::max(1, kInFlight / shape.lanes));
    held_ =
        k_.shared("tile", word_.type, {shape.lanes * shape.words() * pitch(), -1}, word_.vector);
    // All threads then have as many blocks, one below the other.
    const Value size = t.group_size(), at_once = k_.mul(size, together_);
    const Value even = k_.and_(k_.eq(k_.rem(kir::i32(blocks()), at_once), 0),
                               k_.eq(k_.rem(size, kir::i32(shape.words())), 0));
    whole_ = k_.and_(
        k_.and_(k_.eq(tile_.from.high, shape.side), k_.eq(tile_.from.wide, shape.side)), even);
  }

  void load() {
    by_blocks(
        tile_.from, [&](const Block& b) { return load(b); },
        [&](const Block& b, const Values& loaded) {
          const Values turned = turn(loaded);
          for (int i = 0; i < shape_.lanes; i++) {
            k_.store(held_, slot(i, b.word, b.row), turned[static_cast<size_t>(i)]);
          }
        });
  }

  void store() {
    by_blocks(
        tile_.to, [&](const Block& b) { return held(b); },
        [&](const Block& b, const Values& words) {
          for (int i = 0; i < shape_.lanes; i++) k_.store(b.at(i), words[static_cast<size_t>(i)]);
        });
  }

 private:
  static constexpr int kInFlight = 16;  // words of a thread, to hide the latency of memory

  struct Block {
    Value row, word;                      // its numbers in the tile, i32
    std::function<kir::Address(int)> at;  // of the word in its i-th row
  };
  using Fetch = std::function<Values(const Block&)>;
  using Put = std::function<void(const Block&, const Values&)>;

  int blocks() const { return shape_.words() * shape_.words(); }
  int pitch() const { return shape_.words() + 1; }

  // Where shared memory holds a word of the i-th row of the result's blocks with this row. One more
  // word per row: neighbouring threads then meet different banks, whether they have neighbouring
  // words or neighbouring rows.
  Value slot(int i, const Value& row, const Value& word) {
    return k_.add(k_.add(k_.mul(row, pitch()), word),
                  static_cast<int64_t>(i) * shape_.words() * pitch());
  }

  Values load(const Block& b) {
    Values out;
    const kir::Type type{word_.type, static_cast<uint8_t>(word_.vector)};
    for (int i = 0; i < shape_.lanes; i++) out.push_back(k_.load(type, b.at(i)));
    return out;
  }
  Values held(const Block& b) {
    Values out;
    for (int i = 0; i < shape_.lanes; i++) out.push_back(k_.load(held_, slot(i, b.row, b.word)));
    return out;
  }

  Value row_of(const Value& number) { return k_.lshr(number, kir::i32(log2(shape_.words()))); }
  Value word_of_block(const Value& number) { return k_.and_(number, kir::i32(shape_.words() - 1)); }
  Value elements(const Value& words) { return k_.mul(k_.to_i64(words), shape_.lanes); }

  // A number of elements in what memory is accessed by: they are multiples of it. It may be
  // negative, where rows stand in reverse.
  Value accesses(const Value& n) {
    if (word_.packed == 1) return n;
    return k_.prim(ScalarOp::kShr, {n, kir::i64(log2(word_.packed))});
  }
  // Rows and columns of the tile, in elements.
  kir::Address address(const Side& s, const Value& row, const Value& column) {
    const Value first = s.rows.first(k_, tile_.matrix, k_.add(s.row, row));
    return {s.rows.base, accesses(k_.add(first, k_.add(s.column, column)))};
  }

  // Calls fetch and put with what it gave for all of the thread's blocks.
  void by_blocks(const Side& s, const Fetch& fetch, const Put& put) {
    const Value row = row_of(k_.local()), word = word_of_block(k_.local());
    const Block first{row, word,
                      [&, at = address(s, elements(row), elements(word))](int) { return at; }};
    k_.if_(
        whole_, [&] { by_even_blocks(s, first, fetch, put); },
        [&] { by_single_blocks(s, fetch, put); });
  }

  // Several blocks are fetched before any is put. One multiplication gives the place of the first
  // row, the others are so many times `step` further, which is the same for all threads.
  void by_even_blocks(const Side& s, const Block& first, const Fetch& fetch, const Put& put) {
    const Value size = t_.group_size();
    const auto go = [&](const Value& from) {
      std::vector<Block> all;
      std::vector<Values> fetched;
      for (int j = 0; j < together_; j++) {
        const Value further = k_.add(row_of(from), k_.mul(row_of(size), j));
        const auto at = [&, further](int i) {
          const Value rows = k_.add(elements(further), i);
          if (!s.rows.step) {
            return address(s, k_.add(elements(first.row), rows), elements(first.word));
          }
          kir::Address a = first.at(0);
          a.index = k_.add(a.index, k_.mul(rows, accesses(*s.rows.step)));
          return a;
        };
        all.push_back({k_.add(first.row, further), first.word, at});
        fetched.push_back(fetch(all.back()));
      }
      for (size_t j = 0; j < all.size(); j++) put(all[j], fetched[j]);
    };
    k_.for_(kir::i32(0), kir::i32(blocks()), k_.mul(size, together_), go, true);
  }

  // At the edges of a matrix.
  void by_single_blocks(const Side& s, const Fetch& fetch, const Put& put) {
    const auto go = [&](const Value& from) {
      const Value number = k_.add(from, k_.local()), row = row_of(number),
                  word = word_of_block(number);
      const Value down = elements(row), right = elements(word);
      // Numbers beyond the last have rows beyond the last.
      k_.if_(k_.and_(k_.lt(down, s.high), k_.lt(right, s.wide)), [&] {
        const Block b{row, word, [&](int i) { return address(s, k_.add(down, i), right); }};
        put(b, fetch(b));
      });
    };
    k_.for_(kir::i32(0), kir::i32(blocks()), t_.group_size(), go, true);
  }

  // The block with rows and columns exchanged.
  Values turn(const Values& rows) {
    if (shape_.lanes == 1) return rows;
    if (word_.packed == 1) {
      Values out;
      for (int i = 0; i < shape_.lanes; i++) {
        Values lanes;
        for (const Value& row : rows) lanes.push_back(k_.extract(row, i));
        out.push_back(k_.compose(lanes));
      }
      return out;
    }
    Values out = rows;
    // The quarters of a block that lie across from each other change places, then those of the
    // quarters.
    for (int n = word_.packed / 2; n > 0; n /= 2) {
      for (int i = 0; i < word_.packed; i++) {
        if ((i & n) == 0) exchange(out[static_cast<size_t>(i)], out[static_cast<size_t>(i + n)], n);
      }
    }
    return out;
  }

  // Between two words: the elements with bit `n` set in their number in `a`, and those without in
  // `b`.
  void exchange(Value& a, Value& b, int n) {
    const int bits = 32 / word_.packed * n;
    uint32_t low = 0;
    for (int at = 0; at < 32; at += 2 * bits) low |= (0xffffffffU >> (32 - bits)) << at;
    const auto word = [](uint32_t w) { return Value(PrimValue{PrimType::kU32, w}); };
    const Value shift = word(static_cast<uint32_t>(bits));
    const Value high = k_.and_(k_.lshr(a, shift), word(low));
    a = k_.or_(k_.and_(a, word(low)), k_.shl(k_.and_(b, word(low)), shift));
    b = k_.or_(k_.and_(b, word(~low)), high);
  }

  Team& t_;
  kir::Builder& k_;
  TileShape shape_;
  Tile tile_;
  Word word_;
  int together_;  // blocks of a thread that are fetched before any is put
  kir::SharedId held_;
  Value whole_;  // bool: the tile lies in the matrix as a whole
};

}  // namespace

int shared_bytes(const TileShape& shape, PrimType type) {
  return shape.side * (shape.words() + 1) * shape.lanes * prim_size(type);
}

plan::Work transpose_by_tiles(const plan::Facts& f, const program::Target& target,
                              const plan::Bind& bind, const TileShape& shape) {
  plan::Maker m(f, target, bind);
  const HostExpr matrix = f.matrix.is(0) ? f.segments : f.matrix;
  const HostExpr matrices =
      f.matrix.is(0) ? HostExpr(1) : HostExpr::op(ScalarOp::kQuot, {f.segments, max(matrix, 1)});
  const HostExpr down = div_up(matrix, shape.side), along = div_up(f.length, shape.side);
  m.step(shape.lanes > 1 ? "_words" : "_transpose", matrices * down * along, [&](Team& t) {
    TileCopy copy(t, shape, tile_of(t, shape.side, matrix, down, along));
    copy.load();
    t.k.barrier();
    copy.store();
  });
  return m.take();
}

}  // namespace kenaz::primitives::copy
