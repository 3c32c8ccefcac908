#include "kernels/primitives/sort/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"

namespace kenaz::primitives::sort {

Passes::Passes(const Facts& facts, const Shape& shape, plan::Maker& maker)
    : f_(facts), s_(shape), types_(facts.carried) {
  types_.insert(types_.begin(), facts.key);
  for (int side = 0; side < std::min(s_.passes - 1, 2); side++) {
    for (const PrimType type : types_) {
      const HostExpr bytes = f_.length * HostExpr(int64_t{prim_size(type)});
      between_[side].push_back(maker.scratch(max(bytes, 1)));
    }
  }
}

Values Passes::blocks_of(Team& t, int side) const {
  Values out;
  for (const plan::ScratchId id : between_[side]) out.push_back(t.block(id));
  return out;
}

/// What a pass reads: later ones what the pass before has left.
plan::Elements Passes::elements(Team& t, int pass, bool keys_only) const {
  if (pass == 0) {
    return keys_only && t.problem.dry_elements.at ? t.problem.dry_elements : t.problem.elements;
  }
  const Values from = blocks_of(t, (pass - 1) % 2);
  plan::Elements out;
  out.at = [this, from, keys_only](Builder& k, const plan::Place& at) {
    Values x;
    for (size_t n = 0; n < (keys_only ? 1 : from.size()); n++) {
      x.push_back(k.load(types_[n], from[n], at.position));
    }
    return x;
  };
  if (!keys_only) return out;
  out.many = [this, from](Builder& k, const plan::Place& first, int n) {
    const Value all = k.load({f_.key, static_cast<uint8_t>(n)}, {from[0], first.position});
    std::vector<Values> x;
    for (int i = 0; i < n; i++) x.push_back({k.extract(all, i)});
    return x;
  };
  return out;
}

/// How many keys are loaded at a time: a divisor of a thread's elements.
int Passes::neighbours(int pass) const {
  int n = pass == 0 ? f_.widest : std::min(16 / static_cast<int>(prim_size(f_.key)), 4);
  while (s_.items % n != 0) n /= 2;
  return n;
}

void Passes::for_keys(Team& t, int pass, const Value& from, const Value& to,
                      const std::function<void(const Value& key)>& add) const {
  Builder& k = t.k;
  const int n = neighbours(pass);
  t.problem.elements = elements(t, pass, true);
  const Value tile = k.mul(t.group_size_i64(), s_.items);
  const auto slot = [&](int j, int of) {
    return k.to_i64(k.mul(k.add(k.mul(t.group_size(), j), k.local()), of));
  };
  const auto all = [&](const Value& i) {
    std::vector<Values> loaded;
    for (int j = 0; j < s_.items / n; j++) {
      const Value first = k.add(i, slot(j, n));
      for (Values& x : blocks::neighbours(t, kir::i64(0), first, n)) loaded.push_back(x);
    }
    for (const Values& x : loaded) add(x[0]);
  };
  const auto some = [&](const Value& i) {
    k.repeat(s_.items, [&](int j) {
      const Value at = k.add(i, slot(j, 1));
      k.if_(k.lt(at, to), [&] { add(t.problem.elements.at(k, {kir::i64(0), at})[0]); });
    });
  };
  k.for_(
      from, to, tile,
      [&](const Value& i) {
        k.if_(
            k.le(k.add(i, tile), to), [&] { all(i); }, [&] { some(i); });
      },
      true);
}

std::vector<Values> Passes::load(Team& t, Ranks& ranks, int pass, const Value& from,
                                 const Value& to) const {
  Builder& k = t.k;
  const plan::Elements of_pass = elements(t, pass, false);
  const auto at = [&](int j) { return ranks.own(from, j); };
  const auto element = [&](const Value& place) { return of_pass.at(k, {kir::i64(0), place}); };
  const auto joined = [&](const std::function<Values(int)>& one) {
    Values all;
    for (int j = 0; j < s_.items; j++) {
      const Values x = one(j);
      all.insert(all.end(), x.begin(), x.end());
    }
    return all;
  };
  Values none = {PrimValue::of_int(f_.key, -1)};
  for (const PrimType type : f_.carried) none.push_back(PrimValue{type, 0});
  const Value tile = k.mul(t.group_size_i64(), s_.items);
  const Values all = k.if_values(
      k.le(k.add(from, tile), to), [&] { return joined([&](int j) { return element(at(j)); }); },
      [&] {
        return joined([&](int j) {
          const Value place = at(j);
          return k.if_values(
              k.lt(place, to), [&] { return element(place); }, [&] { return none; });
        });
      });
  std::vector<Values> out;
  const auto each = static_cast<std::ptrdiff_t>(types_.size());
  for (auto x = all.begin(); x != all.end(); x += each) out.emplace_back(x, x + each);
  return out;
}

std::function<void(const Value& at, const Values& x)> Passes::putter(Team& t, int pass) const {
  if (pass + 1 == s_.passes) {
    return [&t](const Value& at, const Values& x) {
      t.problem.sink.put(t.k, {kir::i64(0), at}, x);
    };
  }
  return [&t, to = blocks_of(t, pass % 2)](const Value& at, const Values& x) {
    for (size_t n = 0; n < x.size(); n++) t.k.store(to[n], at, x[n]);
  };
}

void for_all(Team& t, int count, const std::function<void(const Value& n)>& body) {
  Builder& k = t.k;
  const auto own = [&](const Value& first) {
    const Value n = k.add(first, k.local());
    k.if_(k.lt(n, count), [&] { body(n); });
  };
  k.for_(kir::i32(0), kir::i32(count), t.group_size(), own, true);
}

Placer::Placer(Team& team, const Shape& shape, const Passes& passes, int pass, PrimType places)
    : t_(team),
      s_(shape),
      passes_(passes),
      pass_(pass),
      places_(places),
      ranks_(team, shape),
      ahead_(team.k.shared("ahead", places, {shape.digits, -1})),
      put_(passes.putter(team, pass)) {
  const std::vector<PrimType>& types = passes.types();
  for (size_t n = 0; n < types.size(); n++) {
    sorted_.push_back(t_.shared_per_thread(fmt::format("sorted{}", n), types[n], s_.items));
  }
}

void Placer::tile(const Value& from, const Value& to, const Ranks::Begin& begin,
                  const Builder::Do& meet) {
  Builder& k = t_.k;
  const auto digit = [&](const Value& key) { return digit_of(k, s_, key, pass_ * s_.bits); };
  ranks_.begin_tile();
  const std::vector<Values> x = passes_.load(t_, ranks_, pass_, from, to);
  Values of;
  for (const Values& e : x) of.push_back(digit(e[0]));
  ranks_.places(of, begin, [&](size_t j, const Value& place) {
    for (size_t n = 0; n < sorted_.size(); n++) k.store(sorted_[n], place, x[j][n]);
  });
  meet();
  const Value tile = k.mul(t_.group_size_i64(), s_.items);
  const Value length = k.to_i32(k.min(k.sub(to, from), tile));
  k.repeat(s_.items, [&](int j) {
    const Value slot = k.add(k.mul(t_.group_size(), j), k.local());
    k.if_(k.lt(slot, length), [&] {
      Values e;
      for (const kir::SharedId s : sorted_) e.push_back(k.load(s, slot));
      put_(k.to_i64(k.add(k.load(ahead_, digit(e[0])), k.convert(slot, places_))), e);
    });
  });
}

}  // namespace kenaz::primitives::sort
