#include "kernels/primitives/scan/tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"

namespace kenaz::primitives::scan {

namespace {

// Elements of a tile per thread that shared memory has room for.
int most_items(const Facts& facts, const Target& target) {
  const int wanted = facts.items > 0 ? facts.items : 16;
  const int bytes = plan::bytes_of(facts.op.types) + plan::bytes_of(facts.carried);
  const int per_thread = room_for_tiles(facts, target);
  // One value of each thread is the combiner's, one more the padding.
  return std::clamp(per_thread / std::max(bytes, 1) - 2, 1, wanted);
}

// Neighbours that a thread makes at a time.
int piece_size(const Facts& facts, const Target& target) {
  int n = 1;
  while (2 * n <= std::min(most_items(facts, target), facts.widest)) n *= 2;
  return n;
}

}  // namespace

int room_for_tiles(const Facts& facts, const Target& target) {
  // Beside arrays look-back has a few scalars; drivers may give each 16 bytes.
  const auto scalars = static_cast<int>(2 * facts.op.types.size() + 4);
  return (target.shared_bytes - 16 * scalars) / plan::group_size_for(facts, target);
}

int items_per_thread(const Facts& facts, const Target& target) {
  const int piece = piece_size(facts, target);
  return most_items(facts, target) / piece * piece;
}

HostExpr tile_size(const Facts& facts, const Target& target) {
  return plan::Maker::group_size() * HostExpr(items_per_thread(facts, target));
}

int64_t turns_per_tile(const Facts& facts, const Target& target) {
  return 4 * items_per_thread(facts, target) + 80;
}

Tiles::Tiles(Team& team, Combiner& combiner)
    : t_(team), c_(combiner), items_(items_per_thread(team.facts, team.target)) {
  for (size_t n = 0; n < team.facts.op.types.size(); n++) {
    values_.push_back(
        team.shared_per_thread(fmt::format("tile{}", n), team.facts.op.types[n], items_ + 1));
  }
  for (size_t n = 0; n < team.facts.carried.size(); n++) {
    carried_.push_back(
        team.shared_per_thread(fmt::format("carried{}", n), team.facts.carried[n], items_ + 1));
  }
  if (team.facts.fails) clear();
}

void Tiles::clear() {
  Builder& k = t_.k;
  for (int i = 0; i <= items_; i++) {
    const Value slot = k.add(k.mul(t_.group_size(), i), k.local());
    for (size_t n = 0; n < values_.size(); n++) k.store(values_[n], slot, c_.op().neutral[n]);
  }
  k.barrier();
}

Value Tiles::size() { return t_.k.mul(t_.group_size_i64(), items_); }

// Both orders of access then spread over the banks of shared memory.
Value Tiles::padded(const Value& slot) { return t_.k.add(slot, t_.k.lshr(slot, kir::i32(5))); }

void Tiles::keep(const Value& slot, const Values& x) {
  for (size_t n = 0; n < values_.size(); n++) t_.k.store(values_[n], padded(slot), x[n]);
}
void Tiles::keep_carried(const Value& slot, const Values& element) {
  for (size_t n = 0; n < carried_.size(); n++) {
    t_.k.store(carried_[n], padded(slot), element[values_.size() + n]);
  }
}
Values Tiles::kept(const Value& slot) {
  Values out;
  for (const kir::SharedId s : values_) out.push_back(t_.k.load(s, padded(slot)));
  return out;
}
Values Tiles::element(const Value& slot) {
  Values out = kept(slot);
  for (const kir::SharedId s : carried_) out.push_back(t_.k.load(s, padded(slot)));
  return out;
}

int Tiles::piece() const { return piece_size(t_.facts, t_.target); }

Value Tiles::slot_of_piece(const Value& j) {
  Builder& k = t_.k;
  return k.mul(k.add(k.mul(j, t_.group_size()), k.local()), piece());
}

// This thread's elements one by one, where the tile ends before it is full.
void Tiles::for_each(
    const Value& from, const Value& to,
    const std::function<void(const Value& place, const Value& slot, const Value& live)>& body) {
  Builder& k = t_.k;
  const int n = piece();
  const auto one = [&](const Value& slot) {
    const Value place = k.add(from, k.to_i64(slot));
    body(place, slot, k.lt(place, to));
  };
  k.for_(kir::i32(items_ / n), [&](const Value& j) {
    const Value slot = slot_of_piece(j);
    if (n == 1) {
      one(slot);
    } else {
      k.for_(kir::i32(n), [&](const Value& i) { one(k.add(slot, i)); });
    }
  });
}

// All loads are on their way before the first value is waited for.
void Tiles::load_whole(const Value& segment, const Value& from) {
  Builder& k = t_.k;
  const int n = piece();
  std::vector<std::vector<Values>> pieces;
  for (int j = 0; j < items_ / n; j++) {
    const Value first = k.add(from, k.to_i64(slot_of_piece(kir::i32(j))));
    pieces.push_back(blocks::neighbours(t_, segment, first, n));
  }
  for (int j = 0; j < items_ / n; j++) {
    const Value slot = slot_of_piece(kir::i32(j));
    for (int i = 0; i < n; i++) {
      const Values& x = pieces[static_cast<size_t>(j)][static_cast<size_t>(i)];
      keep(k.add(slot, i), x);
      keep_carried(k.add(slot, i), x);
    }
  }
}

void Tiles::load(const Value& segment, const Value& from, const Value& to) {
  Builder& k = t_.k;
  const auto by_element = [&] {
    for_each(from, to, [&](const Value& place, const Value& slot, const Value& live) {
      k.if_(
          live,
          [&] {
            const Values x = t_.problem.elements.at(k, {segment, place});
            keep(slot, x);
            keep_carried(slot, x);
          },
          [&] { keep(slot, c_.op().neutral); });
    });
  };
  if (t_.facts.slow) {
    by_element();
  } else {
    k.if_(
        k.le(k.add(from, size()), to), [&] { load_whole(segment, from); },
        [&] { load_live(segment, from, to); });
  }
}

// As load_whole, of a tile that ends before it is full.
void Tiles::load_live(const Value& segment, const Value& from, const Value& to) {
  Builder& k = t_.k;
  const int n = piece();
  std::vector<std::vector<kir::Var>> elements;
  for (int j = 0; j < items_; j++) {
    const Value slot = k.add(slot_of_piece(kir::i32(j / n)), kir::i32(j % n));
    const Value place = k.add(from, k.to_i64(slot));
    std::vector<kir::Var>& x = elements.emplace_back();
    for (const Value& v : c_.op().neutral) x.push_back(k.declare(v));
    for (const PrimType type : t_.facts.carried) x.push_back(k.declare(PrimValue{type}));
    k.if_(k.lt(place, to), [&] {
      const Values loaded = t_.problem.elements.at(k, {segment, place});
      for (size_t i = 0; i < x.size(); i++) k.assign(x[i], loaded[i]);
    });
  }
  for (int j = 0; j < items_; j++) {
    const Value slot = k.add(slot_of_piece(kir::i32(j / n)), kir::i32(j % n));
    Values x;
    for (const kir::Var v : elements[static_cast<size_t>(j)]) x.push_back(k.read(v));
    keep(slot, x);
    keep_carried(slot, x);
  }
}

void Tiles::store_whole(const Value& segment, const Value& from) {
  Builder& k = t_.k;
  const plan::Sink& sink = t_.problem.sink;
  const int n = piece();
  for (int j = 0; j < items_ / n; j++) {
    const Value slot = slot_of_piece(kir::i32(j)), first = k.add(from, k.to_i64(slot));
    std::vector<Values> all;
    for (int i = 0; i < n; i++) all.push_back(element(k.add(slot, i)));
    if (n > 1 && sink.put_many) {
      sink.put_many(k, {segment, first}, all);
      continue;
    }
    for (int i = 0; i < n; i++) {
      sink.put(k, {segment, k.add(first, i)}, all[static_cast<size_t>(i)]);
    }
  }
}

void Tiles::store(const Value& segment, const Value& from, const Value& to) {
  Builder& k = t_.k;
  k.if_(
      k.le(k.add(from, size()), to), [&] { store_whole(segment, from); },
      [&] {
        for_each(from, to, [&](const Value& place, const Value& slot, const Value& live) {
          k.if_(live, [&] { t_.problem.sink.put(k, {segment, place}, element(slot)); });
        });
      });
}

void Tiles::scan(const Value& segment, const Value& from, const Value& to,
                 const std::function<Values(const Values& total)>& before) {
  Builder& k = t_.k;
  load(segment, from, to);
  k.barrier();
  const Value mine = k.mul(k.local(), items_);
  std::vector<Values> x;
  for (int i = 0; i < items_; i++) {
    x.push_back(kept(k.add(mine, i)));
    if (i > 0) x.back() = c_.combine(x[static_cast<size_t>(i) - 1], x.back());
  }
  // All threads have read when the first barrier in here is behind them.
  const Combiner::Scan s = c_.scan(x.back());
  const Values front = c_.combine(before(s.total), s.before);
  for (int i = 0; i < items_; i++) {
    keep(k.add(mine, i), c_.combine(front, x[static_cast<size_t>(i)]));
  }
  k.barrier();
  store(segment, from, to);
}

}  // namespace kenaz::primitives::scan
