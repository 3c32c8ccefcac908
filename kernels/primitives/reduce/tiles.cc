// A workgroup reduces the elements of a block of rows and columns: it goes along the positions in
// short steps, brings the factors of its rows and columns to shared memory, and each thread makes a
// small block of elements of what it finds there. So a factor that is loaded once makes as many
// elements as the block has columns, or rows.
#include <fmt/format.h>

#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/reduce/tile_side.h"
#include "kernels/primitives/reduce/tiles.h"

namespace kenaz::primitives::reduce {

namespace {

using kir::i32;
using kir::Value;
using kir::Values;
using plan::HostExpr;
using plan::Team;

// Positions of a part of a product, if it is cut: with fewer, what the parts come to is too much.
constexpr int64_t kLeastPart = 64;

struct Layout {
  Direction down, along;
};

Layout layout_of(const Shape& s) {
  const HostExpr size = plan::Maker::group_size();
  const HostExpr along = min(size, s.columns);
  const HostExpr down = min(HostExpr::op(ScalarOp::kQuot, {size, along}), s.rows);
  return {{s.rows, s.down, down, {}}, {s.columns, s.along, along, {}}};
}

/// a / b and the rest, of non-negative i64 that are smaller than 2^31 if `small`: the same for all
/// threads.
std::pair<Value, Value> divide(Builder& k, const Value& a, const Value& b, const Value& small) {
  const auto word = [&](const Value& v) { return k.convert(v, PrimType::kU32); };
  const Value q = k.if_values(
      small, [&] { return Values{k.to_i64(k.quot(word(a), word(b)))}; },
      [&] { return Values{k.quot(a, b)}; })[0];
  return {q, k.sub(a, k.mul(q, b))};
}

/// Of all workgroups' numbers.
Value is_small(Builder& k) { return k.lt(k.groups(), int64_t{1} << 31); }

/// How many blocks of rows and of columns a matrix has, and how many blocks there are in all.
struct Blocks {
  HostExpr lines, strips, all;
};

/// One kernel.
class Tiles {
 public:
  using Put = std::function<void(const Value& segment, const Values& x)>;

  /// The workgroup's block is that of this number.
  Tiles(Team& t, const Shape& shape, Layout layout, const Blocks& blocks, const Value& number)
      : t_(t), k_(t.k), shape_(shape), layout_(std::move(layout)) {
    place_threads();
    place_block(blocks, number);
  }

  /// Reduces the elements at positions from `from`, a multiple of kSteps, to before `to`.
  void run(const Value& from, const Value& to, const Put& put_segment) {
    const plan::Elements::Factors& f = t_.problem.elements.factors;
    const plan::Factors& facts = *t_.facts.factors;
    const Values of = f.enter(k_, matrix_);
    const int group = shape_.rows * shape_.columns;
    Side left(t_, layout_.down, facts.left, facts.left_along, first_row_,
              t_.host(t_.facts.factors->rows), group,
              [&](const Value& row, const Value& at) { return f.left(k_, of, row, at); });
    Side right(t_, layout_.along, facts.right, facts.right_along, first_column_,
               t_.host(t_.facts.factors->columns), group,
               [&](const Value& column, const Value& at) { return f.right(k_, of, column, at); });
    for (int n = 0; n < shape_.down * shape_.along; n++) {
      accs_.push_back(k_.declare(t_.problem.op.neutral));
    }
    reduce(left, right, from, to);
    put(left, right, put_segment);
  }

 private:
  void place_threads() {
    Direction &down = layout_.down, &along = layout_.along;
    along.threads = k_.min(t_.group_size(), i32(along.most_threads));
    down.threads = k_.min(k_.quot(t_.group_size(), along.threads), i32(down.most_threads));
    line_ = k_.quot(k_.local(), along.threads);
    column_ = k_.sub(k_.local(), k_.mul(line_, along.threads));
    live_ = k_.lt(line_, down.threads);
  }

  void place_block(const Blocks& blocks, const Value& number) {
    const Value small = is_small(k_);
    const auto [strip, along] = divide(k_, number, t_.host(blocks.strips), small);
    const auto [matrix, down] = divide(k_, strip, t_.host(blocks.lines), small);
    matrix_ = matrix;
    const auto first = [&](const Value& block, const Direction& d) {
      return k_.mul(block, k_.to_i64(k_.mul(d.threads, d.per_thread)));
    };
    first_row_ = first(down, layout_.down);
    first_column_ = first(along, layout_.along);
  }

  void reduce(Side& left, Side& right, const Value& from, const Value& to) {
    k_.if_(k_.lt(from, to), [&] {
      left.fetch(from);
      right.fetch(from);
    });
    k_.for_(
        from, to, kir::i64(kSteps),
        [&](const Value& position) {
          left.keep(position);
          right.keep(position);
          k_.barrier();
          // They come while the threads work on those that are there. Behind the last step that
          // is in vain; but under a condition, all of their addresses would be computed there.
          left.fetch(k_.add(position, kSteps));
          right.fetch(k_.add(position, kSteps));
          k_.if_(live_, [&] { steps(left, right, k_.sub(to, position)); });
          k_.barrier();
        },
        true);
  }

  void steps(Side& left, Side& right, const Value& rest) {
    const auto step = [&](const Value& s) {
      const auto rows = left.found(s, line_), columns = right.found(s, column_);
      for_all([&](size_t r, size_t c, const kir::Vars& acc) {
        const Values x = t_.problem.elements.factors.join(k_, rows[r], columns[c]);
        k_.assign(acc, t_.problem.op.combine(k_, k_.read(acc), x));
      });
    };
    k_.if_(
        k_.le(kir::i64(kSteps), rest),
        [&] { k_.for_(i32(0), i32(kSteps), i32(1), step, true, true); },
        [&] { k_.for_(i32(0), k_.to_i32(rest), i32(1), step, true); });
  }

  void put(Side& left, Side& right, const Put& put_segment) {
    const Value rows = t_.host(t_.facts.factors->rows),
                columns = t_.host(t_.facts.factors->columns);
    k_.if_(live_, [&] {
      for_all([&](size_t r, size_t c, const kir::Vars& acc) {
        const Value row = left.place_of(line_, static_cast<int>(r));
        const Value column = right.place_of(column_, static_cast<int>(c));
        k_.if_(k_.and_(k_.lt(row, rows), k_.lt(column, columns)), [&] {
          put_segment(k_.add(k_.mul(line_of(row, rows), columns), column), k_.read(acc));
        });
      });
    });
  }

  /// The number of segments before the row, by columns.
  Value line_of(const Value& row, const Value& rows) {
    const HostExpr& between = t_.facts.factors->between;
    if (between.is(1)) return k_.add(k_.mul(matrix_, rows), row);
    const Value n = t_.host(between), outer = k_.quot(matrix_, n);
    const Value line = k_.add(k_.mul(outer, rows), row);
    return k_.add(k_.mul(line, n), k_.sub(matrix_, k_.mul(outer, n)));
  }

  void for_all(const std::function<void(size_t r, size_t c, const kir::Vars& acc)>& body) {
    const auto down = static_cast<size_t>(shape_.down), along = static_cast<size_t>(shape_.along);
    for (size_t r = 0; r < down; r++) {
      for (size_t c = 0; c < along; c++) body(r, c, accs_[r * along + c]);
    }
  }

  Team& t_;
  Builder& k_;
  const Shape& shape_;
  Layout layout_;
  Value line_, column_, live_;  // of this thread in the block
  Value matrix_, first_row_, first_column_;
  std::vector<kir::Vars> accs_;
};

Blocks blocks_of(const Facts& f, const Shape& s) {
  const Layout l = layout_of(s);
  const HostExpr lines = div_up(f.factors->rows, l.down.on_host * s.down);
  const HostExpr strips = div_up(f.factors->columns, l.along.on_host * s.along);
  const HostExpr matrices =
      HostExpr::op(ScalarOp::kQuot, {f.segments, max(f.factors->rows * f.factors->columns, 1)});
  return {lines, strips, matrices * lines * strips};
}

Facts with_group_size(const Facts& f, const Shape& s) {
  Facts out = f;
  if (out.group_size == 0) out.group_size = s.rows * s.columns;
  return out;
}

void put_result(Team& t, const Value& segment, const Values& x) {
  t.problem.sink.put(t.k, {segment, kir::i64(0)}, x);
}

}  // namespace

bool tiles_apply(const Facts& f, const Target& target, const Shape& s) {
  if (!f.factors || f.fails || f.slow) return false;
  const Layout l = layout_of(s);
  const int bytes = kSteps * kLanes *
                    (l.down.stride() * plan::bytes_of(f.factors->left) +
                     l.along.stride() * plan::bytes_of(f.factors->right));
  constexpr int kOther = 256;  // of arrays that are aligned, and what the text adds
  return bytes + kOther <= target.shared_bytes &&
         s.down * s.along * plan::bytes_of(f.op.types) <= kMostAccumulated;
}

HostExpr split_tiles_when(const Facts& f, const Target& target, const Shape& s) {
  if (target.threads < 1 << 14) return HostExpr::boolean(false);
  const HostExpr wide =
      and_(le(s.rows * s.down, f.factors->rows), le(s.columns * s.along, f.factors->columns));
  const HostExpr few = le(f.segments, target.threads / 2);
  const HostExpr fits = and_(le(4 * kLeastPart, f.length), le(f.length, plan::turn_budget(target)));
  return and_(and_(wide, few), fits);
}

HostExpr tiles_when(const Facts& f, const Target& target, const Least& least) {
  // Loads of a CPU's threads don't take that long, and barriers longer.
  if (target.threads < 1 << 14) return HostExpr::boolean(false);
  const HostExpr wide = and_(le(least.side, f.factors->rows), le(least.side, f.factors->columns));
  const HostExpr fits = and_(le(8, f.length), le(f.length, plan::turn_budget(target)));
  return and_(and_(wide, le(least.results, f.segments)), fits);
}

plan::Work make_tiles(const Facts& f, const Target& target, const plan::Bind& bind,
                      const Shape& s) {
  const Facts facts = with_group_size(f, s);
  plan::Maker m(facts, target, bind);
  m.asks(plan::Asks::kForFactors);
  const Blocks blocks = blocks_of(f, s);
  m.step(fmt::format("_tiles{}", s.rows * s.down), blocks.all, [&](Team& t) {
    Tiles(t, s, layout_of(s), blocks, t.k.group())
        .run(kir::i64(0), t.host(f.length),
             [&](const Value& segment, const Values& x) { put_result(t, segment, x); });
  });
  return m.take();
}

plan::Work make_split_tiles(const Facts& f, const Target& target, const plan::Bind& bind,
                            const Shape& s) {
  const Facts facts = with_group_size(f, s);
  plan::Maker m(facts, target, bind);
  m.asks(plan::Asks::kForFactors);
  const Blocks blocks = blocks_of(f, s);
  // Half as many workgroups as there are places for: they need many registers.
  const HostExpr wanted = div_up(div_up(plan::groups_to_fill(target), 2), max(blocks.all, 1));
  const HostExpr parts = max(min(wanted, HostExpr::op(ScalarOp::kQuot, {f.length, kLeastPart})), 1);
  const HostExpr steps = div_up(div_up(f.length, parts), kSteps), boxes = parts * f.segments;
  const plan::ScratchId sums = m.scratch(blocks::Mailboxes::bytes(f.op.types, boxes));
  const auto open = [&](Team& t) {
    return blocks::Mailboxes(t, t.block(sums), f.op.types, t.host(boxes), kir::Order::kPlain);
  };
  m.step(fmt::format("_split_tiles{}", s.rows * s.down), parts * blocks.all, [&](Team& t) {
    Builder& k = t.k;
    blocks::Mailboxes to = open(t);
    const auto [part, number] = divide(k, k.group(), t.host(blocks.all), is_small(k));
    const Value length = t.host(f.length), share = k.mul(t.host(steps), kSteps);
    const Value from = k.min(k.mul(part, share), length);
    const Value first = k.mul(part, t.host(f.segments));
    Tiles(t, s, layout_of(s), blocks, number)
        .run(from, k.min(k.add(from, share), length),
             [&](const Value& segment, const Values& x) { to.store(k.add(first, segment), x); });
  });
  m.step("_sums", div_up(f.segments, m.group_size()), [&](Team& t) {
    Builder& k = t.k;
    blocks::Mailboxes from = open(t);
    const Value segments = t.host(f.segments);
    const Value segment = k.add(k.mul(k.group(), k.to_i64(t.group_size())), k.to_i64(k.local()));
    k.if_(k.lt(segment, segments), [&] {
      const kir::Vars acc = k.declare(t.problem.op.neutral);
      k.for_(kir::i64(0), t.host(parts), kir::i64(1), [&](const Value& part) {
        const Values x = from.load(k.add(k.mul(part, segments), segment));
        k.assign(acc, t.problem.op.combine(k, k.read(acc), x));
      });
      put_result(t, segment, k.read(acc));
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::reduce
