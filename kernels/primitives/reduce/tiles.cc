// A workgroup reduces the elements of a block of rows and columns: it goes along the positions in
// short steps, brings the factors of its rows and columns to shared memory, and each thread makes a
// small block of elements of what it finds there. So a factor that is loaded once makes as many
// elements as the block has columns, or rows.
#include <fmt/format.h>

#include "kernels/primitives/reduce/tiles.h"

namespace kenaz::primitives::reduce {

namespace {

using kir::i32;
using kir::Value;
using kir::Values;
using plan::HostExpr;
using plan::Team;

constexpr int kLanes = 4;
// Positions at a time.
constexpr int kLogSteps = 4, kSteps = 1 << kLogSteps;

// Vectors are for scalars of which they have 16 bytes.
int lanes_of(PrimType t) { return t != PrimType::kBool && prim_size(t) == 4 ? kLanes : 1; }

/// How many threads stand side by side in one direction, and with how many vectors of elements
/// each. `threads` is the shape's unless a workgroup has fewer: a value (i32) in kernels, and the
/// host's expression of it.
struct Direction {
  int most_threads, per_thread;
  HostExpr on_host;
  Value threads;
  int vectors_per_thread() const { return per_thread / kLanes; }
  /// Of a step in shared memory. One more than there are: neither way of access then meets few
  /// banks only.
  int stride() const { return most_threads * vectors_per_thread() + 1; }
};

struct Layout {
  Direction down, along;
};

Layout layout_of(const Shape& s) {
  const HostExpr size = plan::Maker::group_size();
  const HostExpr along = min(size, s.columns);
  const HostExpr down = min(HostExpr::op(ScalarOp::kQuot, {size, along}), s.rows);
  return {{s.rows, s.down, down, {}}, {s.columns, s.along, along, {}}};
}

/// A factor of the block: what its threads load, keep and find again.
class Side {
 public:
  using Load = std::function<Values(const Value& place, const Value& position)>;

  /// `first` is the block's first row (or column), `count` how many the matrix has; i64.
  Side(Team& t, const Direction& d, const std::vector<PrimType>& types, bool along, Value first,
       Value count, int group, Load load)
      : t_(t), d_(d), types_(types), along_(along), first_(first), load_(std::move(load)) {
    Builder& k = t.k;
    last_ = k.sub(count, 1);
    vectors_ = k.mul(d.threads, d.vectors_per_thread());
    units_ = k.mul(vectors_, kSteps);
    for (const PrimType type : types) {
      const int lanes = lanes_of(type);
      held_.push_back(
          k.shared("factor", type, {kSteps * d.stride() * (kLanes / lanes), -1}, lanes));
    }
    const int units = kSteps * d.most_threads * d.vectors_per_thread() / group;
    for (int n = 0; n < std::max(units, 1); n++) {
      std::vector<kir::Vars> unit;
      for (int lane = 0; lane < kLanes; lane++) {
        unit.emplace_back();
        for (const PrimType type : types) unit.back().push_back(k.declare(kir::Type{type}));
      }
      fetched_.push_back(std::move(unit));
    }
  }

  /// Begins to load the factors at kSteps positions from `position` (i64) on.
  void fetch(const Value& position) {
    for (size_t n = 0; n < fetched_.size(); n++) {
      const Value u = t_.k.min(unit(static_cast<int>(n)), t_.k.sub(units_, 1));
      for (int lane = 0; lane < kLanes; lane++) {
        t_.k.assign(fetched_[n][static_cast<size_t>(lane)], loaded(u, lane, position));
      }
    }
  }

  /// What was fetched goes to shared memory. What a workgroup of fewer threads than the shape's did
  /// not fetch is loaded now.
  void keep(const Value& position) {
    Builder& k = t_.k;
    for (size_t n = 0; n < fetched_.size(); n++) {
      const Value u = unit(static_cast<int>(n));
      k.if_(k.lt(u, units_), [&] {
        std::vector<Values> lanes;
        for (const kir::Vars& v : fetched_[n]) lanes.push_back(k.read(v));
        store(u, lanes);
      });
    }
    k.for_(
        i32(static_cast<int>(fetched_.size())), k.div_up(units_, t_.group_size()), i32(1),
        [&](const Value& n) {
          const Value u = k.add(k.local(), k.mul(n, t_.group_size()));
          k.if_(k.lt(u, units_), [&] {
            std::vector<Values> lanes;
            for (int lane = 0; lane < kLanes; lane++) lanes.push_back(loaded(u, lane, position));
            store(u, lanes);
          });
        },
        true);
  }

  /// The factors of one step for the thread that stands at `place` in this direction, by element.
  std::vector<Values> found(const Value& step, const Value& place) {
    Builder& k = t_.k;
    std::vector<Values> out(static_cast<size_t>(d_.per_thread));
    for (int v = 0; v < d_.vectors_per_thread(); v++) {
      const Value slot = k.add(k.mul(step, d_.stride()), vector(place, v));
      for (size_t n = 0; n < held_.size(); n++) {
        const bool whole = lanes_of(types_[n]) == kLanes;
        const Value all = whole ? k.load(held_[n], slot) : Value();
        for (int lane = 0; lane < kLanes; lane++) {
          out[static_cast<size_t>(v * kLanes + lane)].push_back(
              whole ? k.extract(all, lane) : k.load(held_[n], k.add(k.mul(slot, kLanes), lane)));
        }
      }
    }
    return out;
  }

  /// The row (or column) of the thread's n-th element in this direction; i64. Beyond the end of the
  /// matrix there may be some.
  Value place_of(const Value& place, int n) { return at(vector(place, n / kLanes), n % kLanes); }

 private:
  Value vector(const Value& place, int v) { return t_.k.add(place, t_.k.mul(d_.threads, v)); }
  // Neighbouring vectors are of neighbouring rows (or columns), in each lane: so neighbouring
  // threads load, and store results, side by side.
  Value at(const Value& vector, int lane) {
    return t_.k.add(first_, t_.k.to_i64(t_.k.add(vector, t_.k.mul(vectors_, lane))));
  }

  Value unit(int n) { return t_.k.add(t_.k.local(), t_.k.mul(t_.group_size(), n)); }
  /// The step and the vector of a unit: neighbours take what is side by side in memory.
  std::pair<Value, Value> step_and_vector(const Value& unit) {
    Builder& k = t_.k;
    if (along_) return {k.and_(unit, i32(kSteps - 1)), k.lshr(unit, i32(kLogSteps))};
    const Value step = k.quot(unit, vectors_);
    return {step, k.sub(unit, k.mul(step, vectors_))};
  }

  // Beyond the end the last one is taken once more: that needs no condition around loads.
  Values loaded(const Value& unit, int lane, const Value& position) {
    Builder& k = t_.k;
    const auto [step, vector] = step_and_vector(unit);
    const Value last = k.sub(t_.host(t_.facts.length), 1);
    return load_(k.min(at(vector, lane), last_), k.min(k.add(position, k.to_i64(step)), last));
  }

  void store(const Value& unit, const std::vector<Values>& lanes) {
    Builder& k = t_.k;
    const auto [step, vector] = step_and_vector(unit);
    const Value slot = k.add(k.mul(step, d_.stride()), vector);
    for (size_t n = 0; n < held_.size(); n++) {
      Values all;
      for (const Values& lane : lanes) all.push_back(lane[n]);
      if (lanes_of(types_[n]) == kLanes) {
        k.store(held_[n], slot, k.compose(all));
        continue;
      }
      for (int lane = 0; lane < kLanes; lane++) {
        k.store(held_[n], k.add(k.mul(slot, kLanes), lane), all[static_cast<size_t>(lane)]);
      }
    }
  }

  Team& t_;
  const Direction& d_;
  const std::vector<PrimType>& types_;
  const bool along_;
  const Value first_;
  const Load load_;
  Value last_, vectors_, units_;  // vectors of a step, of all steps of a block
  std::vector<kir::SharedId> held_;
  std::vector<std::vector<kir::Vars>> fetched_;  // by unit, lane and scalar
};

/// a / b and the rest, of non-negative i64 that are smaller than 2^31 if `small`: the same for all
/// threads.
std::pair<Value, Value> divide(Builder& k, const Value& a, const Value& b, const Value& small) {
  const auto word = [&](const Value& v) { return k.convert(v, PrimType::kU32); };
  const Value q = k.if_values(
      small, [&] { return Values{k.to_i64(k.quot(word(a), word(b)))}; },
      [&] { return Values{k.quot(a, b)}; })[0];
  return {q, k.sub(a, k.mul(q, b))};
}

/// One kernel.
class Tiles {
 public:
  Tiles(Team& t, const Shape& shape, Layout layout, const HostExpr& lines, const HostExpr& strips)
      : t_(t), k_(t.k), shape_(shape), layout_(std::move(layout)) {
    place_threads();
    place_block(lines, strips);
  }

  void run() {
    const plan::Elements::Factors& f = t_.problem.elements.factors;
    const plan::Factors& facts = *t_.facts.factors;
    const Values of = f.enter(k_, matrix_);
    const int group = shape_.rows * shape_.columns;
    Side left(t_, layout_.down, facts.left, facts.left_along, first_row_,
              t_.host(t_.facts.grid.rows), group,
              [&](const Value& row, const Value& at) { return f.left(k_, of, row, at); });
    Side right(t_, layout_.along, facts.right, facts.right_along, first_column_,
               t_.host(t_.facts.grid.columns), group,
               [&](const Value& column, const Value& at) { return f.right(k_, of, column, at); });
    for (int n = 0; n < shape_.down * shape_.along; n++) {
      accs_.push_back(k_.declare(t_.problem.op.neutral));
    }
    reduce(left, right);
    put(left, right);
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

  void place_block(const HostExpr& lines, const HostExpr& strips) {
    const Value small = k_.lt(k_.groups(), int64_t{1} << 31);
    const auto [strip, along] = divide(k_, k_.group(), t_.host(strips), small);
    const auto [matrix, down] = divide(k_, strip, t_.host(lines), small);
    matrix_ = matrix;
    const auto first = [&](const Value& block, const Direction& d) {
      return k_.mul(block, k_.to_i64(k_.mul(d.threads, d.per_thread)));
    };
    first_row_ = first(down, layout_.down);
    first_column_ = first(along, layout_.along);
  }

  void reduce(Side& left, Side& right) {
    const Value length = t_.host(t_.facts.length);
    k_.if_(k_.lt(kir::i64(0), length), [&] {
      left.fetch(kir::i64(0));
      right.fetch(kir::i64(0));
    });
    k_.for_(
        kir::i64(0), length, kir::i64(kSteps),
        [&](const Value& position) {
          left.keep(position);
          right.keep(position);
          k_.barrier();
          // They come while the threads work on those that are there. Behind the last step that
          // is in vain; but under a condition, all of their addresses would be computed there.
          left.fetch(k_.add(position, kSteps));
          right.fetch(k_.add(position, kSteps));
          k_.if_(live_, [&] { steps(left, right, k_.sub(length, position)); });
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

  void put(Side& left, Side& right) {
    const Value rows = t_.host(t_.facts.grid.rows), columns = t_.host(t_.facts.grid.columns);
    k_.if_(live_, [&] {
      for_all([&](size_t r, size_t c, const kir::Vars& acc) {
        const Value row = left.place_of(line_, static_cast<int>(r));
        const Value column = right.place_of(column_, static_cast<int>(c));
        k_.if_(k_.and_(k_.lt(row, rows), k_.lt(column, columns)), [&] {
          const Value line = k_.add(k_.mul(matrix_, rows), row);
          t_.problem.sink.put(k_, {k_.add(k_.mul(line, columns), column), kir::i64(0)},
                              k_.read(acc));
        });
      });
    });
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

HostExpr tiles_when(const Facts& f, const Target& target, const Least& least) {
  // Loads of a CPU's threads don't take that long, and barriers longer.
  if (target.threads < 1 << 14) return HostExpr::boolean(false);
  const HostExpr wide = and_(le(least.side, f.grid.rows), le(least.side, f.grid.columns));
  const HostExpr fits = and_(le(8, f.length), le(f.length, plan::turn_budget(target)));
  return and_(and_(wide, le(least.results, f.segments)), fits);
}

plan::Work make_tiles(const Facts& f, const Target& target, const plan::Bind& bind,
                      const Shape& s) {
  plan::Facts facts = f;
  if (facts.group_size == 0) facts.group_size = s.rows * s.columns;
  plan::Maker m(facts, target, bind);
  m.asks(plan::Asks::kForFactors);
  const Layout l = layout_of(s);
  const HostExpr lines = div_up(f.grid.rows, l.down.on_host * s.down);
  const HostExpr strips = div_up(f.grid.columns, l.along.on_host * s.along);
  const HostExpr matrices =
      HostExpr::op(ScalarOp::kQuot, {f.segments, max(f.grid.rows * f.grid.columns, 1)});
  m.step(fmt::format("_tiles{}", s.rows * s.down), matrices * lines * strips,
         [&](Team& t) { Tiles(t, s, l, lines, strips).run(); });
  return m.take();
}

}  // namespace kenaz::primitives::reduce
