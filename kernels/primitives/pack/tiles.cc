#include "kernels/primitives/pack/tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"
#include "protocol/base/check.h"

namespace kenaz::primitives::pack {

namespace {

// Counts of a piece's elements over all threads of a workgroup: two of them share a word.
constexpr int kBits = 16;
constexpr PrimType kWord = PrimType::kU32;

plan::Operator sums(PrimType type, int n) {
  const plan::Operator one = plan::known_operator(*op::known(ScalarOp::kAdd, type), type);
  return plan::join(std::vector(static_cast<size_t>(n), one));
}

int words(int pieces, int classes) { return (pieces * classes + 1) / 2; }

/// How many elements of each thread shared memory has room for, beside so many counts.
int room(const Facts& facts, const Target& target, int counts) {
  const int threads = plan::group_size_for(facts, target);
  // Counts of each thread are in shared memory, too; and what "one_pass" sums up.
  const int left = target.shared_bytes / threads - 4 * counts - 12;
  return std::max(left / std::max(plan::bytes_of(facts.carried), 1), 1);
}

/// How many neighbours are made at a time.
int piece_of(const Facts& facts, const Target& target) {
  int piece = facts.widest;
  while (piece > 1 && piece > room(facts, target, words(1, facts.classes) + 1)) piece /= 2;
  return piece;
}

int items_per_thread(const Facts& facts, const Target& target) {
  const int piece = piece_of(facts, target);
  // Pieces of one element take as many counts as elements.
  const int wanted = facts.items > 0 ? facts.items : (piece > 1 ? 16 : 8);
  constexpr int kBytes = 64;
  const int counts = words(wanted / piece, facts.classes) + 1;
  const int few = kBytes / std::max(plan::bytes_of(facts.carried), 1);
  const int items = std::clamp(std::min(room(facts, target, counts), few), 1, wanted);
  return std::max(items / piece, 1) * piece;
}

}  // namespace

plan::Operator counting(const Facts& facts, PrimType type) { return sums(type, facts.classes); }

Values flags(Builder& k, const Facts& facts, const Value& of_class, PrimType type) {
  Values out;
  for (int c = 0; c < facts.classes; c++) out.push_back(k.convert(k.eq(of_class, c), type));
  return out;
}

HostExpr tile_size(const Facts& facts, const Target& target) {
  return plan::Maker::group_size() * HostExpr(items_per_thread(facts, target));
}

int64_t turns_per_tile(const Facts& facts, const Target& target) {
  return 2 * items_per_thread(facts, target) + 80;
}

Tiles::Tiles(Team& team)
    : t_(team),
      items_(items_per_thread(team.facts, team.target)),
      piece_(piece_of(team.facts, team.target)),
      counted_(team.facts.classes),
      sums_(team, sums(kWord, words(items_ / piece_, counted_))) {
  CHECK(!team.facts.fails);
  for (size_t n = 0; n < team.facts.carried.size(); n++) {
    carried_.push_back(
        team.shared_per_thread(fmt::format("packed{}", n), team.facts.carried[n], items_));
  }
}

Value Tiles::size() { return t_.k.mul(t_.group_size_i64(), items_); }

// Of the thread's piece j, among the tile's elements.
Value Tiles::first_slot(int j) {
  return t_.k.mul(t_.k.add(t_.k.mul(t_.group_size(), j), t_.k.local()), piece_);
}

// All loads are on their way before the first value is waited for.
Tiles::Pieces Tiles::whole(const Value& from) {
  Pieces made;
  for (int j = 0; j < items_ / piece_; j++) {
    const Value place = t_.k.add(from, t_.k.to_i64(first_slot(j)));
    made.push_back(blocks::neighbours(t_, kir::i64(0), place, piece_));
  }
  return made;
}

// What is not before `to` has no class.
Tiles::Pieces Tiles::partial(const Value& from, const Value& to) {
  Builder& k = t_.k;
  Values none = {kir::i32(-1)};
  for (const PrimType type : t_.facts.carried) none.push_back(PrimValue{type, 0});
  Pieces made(static_cast<size_t>(items_ / piece_));
  for (int j = 0; j < items_ / piece_; j++) {
    for (int i = 0; i < piece_; i++) {
      const Value place = k.add(from, k.to_i64(k.add(first_slot(j), i)));
      made[static_cast<size_t>(j)].push_back(k.if_values(
          k.lt(place, to),
          [&] {
            return t_.problem.elements.at(k, {kir::i64(0), place});
          },
          [&] { return none; }));
    }
  }
  return made;
}

Tiles::Pieces Tiles::elements(const Value& from, const Value& to) {
  Builder& k = t_.k;
  const auto joined = [](const Pieces& made) {
    Values all;
    for (const auto& piece : made) {
      for (const Values& x : piece) all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  };
  const Values all = k.if_values(
      k.le(k.add(from, size()), to), [&] { return joined(whole(from)); },
      [&] { return joined(partial(from, to)); });
  const size_t each = 1 + carried_.size();
  Pieces made(static_cast<size_t>(items_ / piece_));
  for (auto x = all.begin(); x != all.end(); x += static_cast<std::ptrdiff_t>(each)) {
    const size_t n = static_cast<size_t>(x - all.begin()) / each;
    made[n / static_cast<size_t>(piece_)].emplace_back(x, x + static_cast<std::ptrdiff_t>(each));
  }
  return made;
}

void Tiles::tile(const Value& from, const Value& to, const Starts& starts) {
  const Value length = t_.k.to_i32(t_.k.min(t_.k.sub(to, from), size()));
  pack(elements(from, to), length, starts);
}

Values Tiles::count(const Value& from, const Value& to) {
  Builder& k = t_.k;
  const kir::Vars sum = k.declare(counting(t_.facts, PrimType::kI64).neutral);
  const auto add = [&](const Value& i) {
    for (const auto& piece : elements(i, to)) {
      for (const Values& x : piece) {
        Values next = flags(k, t_.facts, x[0], PrimType::kI64);
        for (size_t n = 0; n < next.size(); n++) next[n] = k.add(k.read(sum[n]), next[n]);
        k.assign(sum, next);
      }
    }
  };
  k.for_(from, to, size(), add, true);
  return k.read(sum);
}

void Tiles::pack(const Pieces& made, const Value& length, const Starts& starts) {
  Builder& k = t_.k;
  const auto classes = static_cast<size_t>(counted_);
  const size_t pieces = made.size(), each = made[0].size();
  // Which elements are of which class: a bit of a word for each, or a word. Bits take one register
  // where words take one each, and a filter of 2^28 i32 on an H200 697 us instead of 824; llvmpipe
  // has no instruction that counts them.
  const auto word = [](uint64_t n) { return PrimValue::of_int(kWord, static_cast<int64_t>(n)); };
  const bool by_bits = t_.target.subgroup_size >= 32 && items_ <= 32;
  const auto bits = [&](size_t piece, size_t n) {  // of the first elements of a piece
    return ((uint64_t{1} << n) - 1) << (piece * each);
  };
  const auto some = [&](const Value& of, uint64_t mask) {
    return k.prim(ScalarOp::kPopc, {k.and_(of, word(mask))});
  };
  Values sets(classes, word(0));
  std::vector<std::vector<Values>> is(pieces);  // by piece, element, class: u32
  // Each thread's counts of each piece, two in a word.
  Values counts(static_cast<size_t>(words(static_cast<int>(pieces), counted_)),
                PrimValue::of_int(kWord, 0));
  const auto field = [&](size_t piece, size_t cls) { return piece * classes + cls; };
  const Value shift = word(kBits), mask = word((1 << kBits) - 1);
  for (size_t j = 0; j < pieces; j++) {
    Values sum(classes, word(0));
    for (size_t i = 0; i < each; i++) {
      is[j].push_back(flags(k, t_.facts, made[j][i][0], kWord));
      for (size_t n = 0; n < classes; n++) {
        const Value& one = is[j][i][n];
        if (by_bits) {
          sets[n] = k.or_(sets[n], k.shl(one, word(j * each + i)));
        } else {
          sum[n] = k.add(sum[n], one);
        }
      }
    }
    for (size_t n = 0; n < classes; n++) {
      if (by_bits) sum[n] = k.convert(some(sets[n], bits(j, each)), kWord);
      Value& pair = counts[field(j, n) / 2];
      pair = k.add(pair, field(j, n) % 2 == 0 ? sum[n] : k.shl(sum[n], shift));
    }
  }
  const Combiner::Scan scan = sums_.scan(counts);
  const auto read = [&](const Values& from, size_t f) {
    return k.to_i32(f % 2 == 0 ? k.and_(from[f / 2], mask) : k.lshr(from[f / 2], shift));
  };
  // Where each class begins among the tile's elements when they are packed.
  Values totals(classes, kir::i32(0)), firsts = {kir::i32(0)};
  for (size_t n = 0; n < classes; n++) {
    for (size_t j = 0; j < pieces; j++) totals[n] = k.add(totals[n], read(scan.total, field(j, n)));
    firsts.push_back(k.add(firsts.back(), totals[n]));
  }
  if (t_.facts.rest) {
    totals.push_back(k.sub(length, firsts.back()));
    firsts.push_back(length);
  }
  Values next(firsts.begin(), firsts.begin() + static_cast<std::ptrdiff_t>(classes));
  for (size_t j = 0; j < pieces; j++) {
    Values slots = next;
    for (size_t n = 0; n < classes; n++) {
      slots[n] = k.add(next[n], read(scan.before, field(j, n)));
      next[n] = k.add(next[n], read(scan.total, field(j, n)));
    }
    const Value first = first_slot(static_cast<int>(j));
    for (size_t i = 0; i < each; i++) {
      const Value own = k.add(first, static_cast<int64_t>(i));
      Value slot = own, kept = k.lt(own, length);
      Values at = slots;
      if (by_bits) {
        for (size_t n = 0; n < classes; n++) at[n] = k.add(at[n], some(sets[n], bits(j, i)));
      }
      if (t_.facts.rest) {
        // Those before it that are not of a class.
        for (size_t n = 0; n < classes; n++) slot = k.sub(slot, k.sub(at[n], firsts[n]));
        slot = k.add(slot, firsts[classes]);
      } else {
        kept = kir::boolean(false);
      }
      for (size_t n = 0; n < classes; n++) {
        const Value bit = word(uint64_t{1} << (by_bits ? j * each + i : 0));
        const Value one = by_bits ? k.ne(k.and_(sets[n], bit), word(0)) : k.eq(is[j][i][n], 1);
        slot = k.select(one, at[n], slot);
        kept = k.or_(kept, one);
        if (!by_bits) slots[n] = k.add(slots[n], k.to_i32(is[j][i][n]));
      }
      k.if_(kept, [&] {
        const Values& x = made[j][i];
        for (size_t n = 0; n < carried_.size(); n++) k.store(carried_[n], slot, x[n + 1]);
      });
    }
  }
  // It may wait; by then most values are in shared memory.
  const Values begin = starts(totals);
  k.barrier();
  put(firsts, begin);
}

void Tiles::put(const Values& firsts, const Values& starts) {
  Builder& k = t_.k;
  // In a loop threads could stop, and what they count in the next tile would be missing.
  k.repeat(items_, [&](int i) {
    const Value slot = k.add(k.mul(t_.group_size(), i), k.local());
    k.if_(k.lt(slot, firsts.back()), [&] {
      Value at = k.add(starts[0], k.to_i64(slot));
      for (size_t n = 1; n < starts.size(); n++) {
        const Value there = k.add(starts[n], k.to_i64(k.sub(slot, firsts[n])));
        at = k.select(k.le(firsts[n], slot), there, at);
      }
      Values x;
      for (const kir::SharedId s : carried_) x.push_back(k.load(s, slot));
      t_.problem.sink.put(k, {kir::i64(0), at}, x);
    });
  });
}

Tiles::Starts Tiles::advance(const kir::Vars& at) {
  return [this, at](const Values& counts) {
    Values now = t_.k.read(at), next;
    for (size_t n = 0; n < now.size(); n++) {
      next.push_back(t_.k.add(now[n], t_.k.to_i64(counts[n])));
    }
    t_.k.assign(at, next);
    return now;
  };
}

void Tiles::range(const Value& from, const Value& to, const kir::Vars& at) {
  t_.k.for_(
      from, to, size(), [&](const Value& i) { tile(i, to, advance(at)); }, true);
}

}  // namespace kenaz::primitives::pack
