// Transposes of matrices with few rows or few columns. One of the two arrays has them as a few long
// rows, the other as many short ones, which lie one behind the other. A workgroup takes so many
// neighbours of each long row, its strip: all strips together are one run of neighbours in the
// other array. So both are accessed as neighbours, whatever the number of rows is. Between the two,
// the elements lie in shared memory, strip by strip.
#include <algorithm>
#include <bit>

#include "kernels/primitives/copy/plan_functions.h"

namespace kenaz::primitives::copy {

namespace {

using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

constexpr int kThreads = 256;
constexpr int kParts =
    128;  // of a block: strips are so many of them, divided by the strips' number

enum class Way : uint8_t { kIntoStrips, kOfStrips };

// Elements below a word may go through memory by whole words.
enum class By : uint8_t { kElements, kWords };

struct Shape {
  Way way;
  PrimType type;
  int lanes;          // elements that are accessed together
  int together;       // accesses of a thread, to hide the latency of memory
  HostExpr strips;    // how many
  HostExpr length;    // of the long rows
  HostExpr matrices;  // how many

  // Elements of a block, at most; a part of it has whole words.
  int most() const { return kThreads * together * lanes; }
  HostExpr strip() const {
    const HostExpr parts = HostExpr::op(ScalarOp::kQuot, {kParts, max(strips, 1)});
    return parts * (most() / kParts);
  }
  // Between strips in shared memory: one behind the other, the elements of neighbouring threads
  // then lie in all of its banks.
  int line() const { return 128 / prim_size(type); }
};

// More strips than that fill a tile well enough (transpose.cc).
int most_strips(PrimType type) { return prim_size(type) <= 2 ? 64 : 32; }

Shape shape_of(const Facts& f, Way way, By by) {
  constexpr int kWord = 4, kInFlight = 8;
  const PrimType type = f.carried[0];
  const int lanes = by == By::kWords ? kWord / prim_size(type) : 1;
  const int together = f.items > 0 ? f.items : kInFlight;
  const HostExpr matrix = f.matrix.is(0) ? f.segments : f.matrix;
  const HostExpr matrices =
      f.matrix.is(0) ? HostExpr(1) : HostExpr::op(ScalarOp::kQuot, {f.segments, max(matrix, 1)});
  const bool into = way == Way::kIntoStrips;
  return {way, type, lanes, together, into ? matrix : f.length, into ? f.length : matrix, matrices};
}

/// Of a power of two.
HostExpr is_multiple(const HostExpr& n, int of) {
  return le(HostExpr::op(ScalarOp::kAnd, {n, of - 1}), 0);
}

int shared_elements(const Shape& s) { return s.most() + std::max(s.line(), most_strips(s.type)); }

bool applies_to(const Facts& f, const Target& target, Way way, By by) {
  if (!f.across || f.carried.size() != 1) return false;
  const Shape s = shape_of(f, way, by);
  return (by == By::kElements || s.lanes > 1) &&
         shared_elements(s) * prim_size(s.type) < target.shared_bytes;
}

HostExpr preferred(const Facts& f, Way way, By by) {
  const Shape s = shape_of(f, way, by);
  // Half a block at least: a workgroup for less has little to do.
  HostExpr when = and_(lt(s.strips, most_strips(s.type)), le(s.most() / 2, s.strips * s.length));
  if (way == Way::kIntoStrips) when = and_(when, and_(le(f.step, s.strips), le(s.strips, f.step)));
  if (by == By::kElements) return when;
  if (way == Way::kOfStrips) {
    when = and_(when, and_(le(1, f.step), is_multiple(f.step, s.lanes)));
  }
  return and_(when, and_(is_multiple(f.begins, s.lanes), is_multiple(s.length, s.lanes)));
}

// What a workgroup does with one block. Numbers in it are i32.
class StripCopy {
 public:
  StripCopy(Team& t, const Shape& shape)
      : t_(t),
        k_(t.k),
        shape_(shape),
        strips_(k_.to_i32(t.host(shape.strips))),
        strip_(k_.to_i32(t.host(shape.strip()))) {
    const HostExpr blocks = div_up(shape.length, max(shape.strip(), 1));
    matrix_ = k_.quot(k_.group(), t.host(blocks));
    first_ = k_.mul(k_.sub(k_.group(), k_.mul(matrix_, t.host(blocks))), t.host(shape.strip()));
    there_ = k_.to_i32(k_.min(k_.sub(t.host(shape.length), first_), t.host(shape.strip())));
    // At least one more, as the last strip has it, too.
    pitch_ = k_.add(strip_, k_.max(k_.quot(kir::i32(shape.line()), strips_), kir::i32(1)));
    held_ = k_.shared("strips", shape.type, {shared_elements(shape), -1});
  }

  void run() {
    const bool into = shape_.way == Way::kIntoStrips;
    const plan::Rows &from = t_.problem.from, &to = t_.problem.to;
    const Access load = [&](const Word& w) { return k_.load({type()}, w.at); };
    const Access read = [&](const Word& w) { return held(w); };
    const Store hold_it = [&](const Word& w, const Value& x) { hold(w, x); };
    const Store store = [&](const Word& w, const Value& x) { k_.store(w.at, x); };
    into ? along_run(from, load, hold_it) : along_strips(from, load, hold_it);
    k_.barrier();
    into ? along_strips(to, read, store) : along_run(to, read, store);
  }

 private:
  // So many neighbours as are accessed together, in the arrays and in shared memory.
  struct Word {
    kir::Address at;
    std::function<Values()> slots;  // of each; computed where they are needed: they are many
  };
  using Access = std::function<Value(const Word&)>;
  using Store = std::function<void(const Word&, const Value&)>;

  // A number that counts up, divided by another one.
  struct Number {
    Value whole, quotient, rest;
  };

  PrimType type() const { return shape_.lanes > 1 ? PrimType::kU32 : shape_.type; }

  // Memory counts in what it is accessed by.
  Value accesses(const Value& elements) {
    const int log = std::countr_zero(static_cast<unsigned>(shape_.lanes));
    return log == 0 ? elements : k_.lshr(elements, kir::i64(log));
  }

  Value slot(const Value& strip, const Value& position) {
    return k_.add(k_.mul(strip, pitch_), position);
  }

  // The number after `n`, whose `rest` may have come up to the divisor.
  Number carried(const Number& n, const Value& divisor) {
    const Value over = k_.le(divisor, n.rest);
    return {n.whole, k_.select(over, k_.add(n.quotient, 1), n.quotient),
            k_.select(over, k_.sub(n.rest, divisor), n.rest)};
  }

  // All words of the short rows: the run that begins where the first of them does.
  void along_run(const plan::Rows& rows, const Access& access, const Store& store) {
    const Value first = rows.first(k_, matrix_, first_), count = k_.mul(there_, strips_);
    by_words(
        count, strips_, shape_.lanes, [&](const Number& n) { return k_.lt(n.whole, count); },
        [&](const Number& n) {
          const auto slots = [this, n] {
            Values all;
            Number next = n;
            for (int i = 0; i < shape_.lanes; i++) {
              all.push_back(slot(next.rest, next.quotient));
              next = carried({next.whole, next.quotient, k_.add(next.rest, 1)}, strips_);
            }
            return all;
          };
          return Word{{rows.base, accesses(k_.add(first, k_.to_i64(n.whole)))}, slots};
        },
        access, store);
  }

  // All words of the strips.
  void along_strips(const plan::Rows& rows, const Access& access, const Store& store) {
    const Value words = k_.quot(strip_, kir::i32(shape_.lanes));
    const Value first = k_.add(rows.first(k_, matrix_, kir::i64(0)), first_);
    const auto row = [&](const Value& strip) {
      if (rows.step) return k_.add(first, k_.mul(strip, *rows.step));
      return k_.add(rows.first(k_, matrix_, strip), first_);
    };
    by_words(
        k_.mul(words, strips_), words, 1,
        [&](const Number& n) {
          return k_.and_(k_.lt(n.quotient, strips_), k_.lt(k_.mul(n.rest, shape_.lanes), there_));
        },
        [&](const Number& n) {
          const Value position = k_.mul(n.rest, shape_.lanes);
          const auto slots = [this, n, position] {
            Values all = {slot(n.quotient, position)};
            for (int i = 1; i < shape_.lanes; i++) all.push_back(k_.add(all[0], i));
            return all;
          };
          return Word{
              {rows.base, accesses(k_.add(row(k_.to_i64(n.quotient)), k_.to_i64(position)))},
              slots};
        },
        access, store);
  }

  // Numbers below `count`, `scale` apart, by threads, with their quotients by `divisor`. The words
  // of several numbers are accessed before any is stored.
  void by_words(const Value& count, const Value& divisor, int scale,
                const std::function<Value(const Number&)>& is_there,
                const std::function<Word(const Number&)>& word_of, const Access& access,
                const Store& store) {
    const Value step = k_.mul(t_.group_size(), scale);
    const Value quotient = k_.quot(step, divisor);
    const Value rest = k_.sub(step, k_.mul(quotient, divisor));
    const auto go = [&](const Value& from) {
      const Value begin = k_.add(from, k_.mul(k_.local(), scale));
      const Value begin_quotient = k_.quot(begin, divisor);
      Number n{begin, begin_quotient, k_.sub(begin, k_.mul(begin_quotient, divisor))};
      std::vector<Value> there;
      std::vector<Word> words;
      std::vector<kir::Var> made;
      for (int j = 0; j < shape_.together; j++) {
        there.push_back(is_there(n));
        made.push_back(k_.declare(Value(PrimValue{type(), 0})));
        words.push_back(word_of(n));
        k_.if_(there.back(), [&] { k_.assign(made.back(), access(words.back())); });
        n = carried({k_.add(n.whole, step), k_.add(n.quotient, quotient), k_.add(n.rest, rest)},
                    divisor);
      }
      for (size_t j = 0; j < words.size(); j++) {
        k_.if_(there[j], [&] { store(words[j], k_.read(made[j])); });
      }
    };
    k_.for_(kir::i32(0), count, k_.mul(step, shape_.together), go, true);
  }

  Value bits(size_t lane) const {
    const size_t size = 8 * static_cast<size_t>(prim_size(shape_.type));
    return PrimValue{PrimType::kU32, static_cast<uint32_t>(lane * size)};
  }
  void hold(const Word& w, const Value& word) {
    const Values slots = w.slots();
    for (size_t i = 0; i < slots.size(); i++) {
      const Value x = i == 0 ? word : k_.lshr(word, bits(i));
      k_.store(held_, slots[i], k_.convert(x, shape_.type));
    }
  }
  Value held(const Word& w) {
    const Values slots = w.slots();
    Value word = k_.convert(k_.load(held_, slots[0]), type());
    for (size_t i = 1; i < slots.size(); i++) {
      word = k_.or_(word, k_.shl(k_.convert(k_.load(held_, slots[i]), type()), bits(i)));
    }
    return word;
  }

  Team& t_;
  kir::Builder& k_;
  Shape shape_;
  Value strips_, strip_;  // how many, and how long
  Value matrix_, first_;  // the block's matrix, and where it begins in the long rows; i64
  Value there_;           // elements of each strip that there are
  Value pitch_;           // between strips in shared memory
  kir::SharedId held_;
};

plan::Work copy_strips(const Facts& f, const Target& target, const plan::Bind& bind, Way way,
                       By by) {
  const Shape shape = shape_of(f, way, by);
  plan::Maker m(f, target, bind, kThreads);
  const HostExpr blocks = div_up(shape.length, max(shape.strip(), 1));
  m.step(way == Way::kIntoStrips ? "_into_strips" : "_of_strips", shape.matrices * blocks,
         [&](Team& t) { StripCopy(t, shape).run(); });
  return m.take();
}

}  // namespace

#define STRIPS(name, way, by)                                                         \
  namespace name {                                                                    \
  bool applies(const Facts& f, const Target& t) { return applies_to(f, t, way, by); } \
  HostExpr when(const Facts& f, const Target&) { return preferred(f, way, by); }      \
  plan::Work make(const Facts& f, const Target& t, const plan::Bind& bind) {          \
    return copy_strips(f, t, bind, way, by);                                          \
  }                                                                                   \
  }
STRIPS(into_strips_by_words, Way::kIntoStrips, By::kWords)
STRIPS(into_strips, Way::kIntoStrips, By::kElements)
STRIPS(of_strips_by_words, Way::kOfStrips, By::kWords)
STRIPS(of_strips, Way::kOfStrips, By::kElements)
#undef STRIPS

}  // namespace kenaz::primitives::copy
