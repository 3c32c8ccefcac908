#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/blocks/boxes.h"
#include "kernels/primitives/blocks/stripes.h"
#include "kernels/primitives/sort/plan_functions.h"
#include "kernels/primitives/sort/ranks.h"

namespace kenaz::primitives::sort::digits {

namespace {

using blocks::Combiner;
using blocks::Mailboxes;

const std::vector<PrimType> kCount = {PrimType::kI64};

plan::Operator sum() {
  return plan::known_operator(*op::known(ScalarOp::kAdd, PrimType::kI64), PrimType::kI64);
}

/// The plan's kernels: for each digit, from the lowest on, a count of its values in each
/// workgroup's share of the elements, sums of these, and the elements put where they belong.
class Digits {
 public:
  Digits(const Facts& f, const Target& target, const plan::Bind& bind)
      : f_(f), s_(shape_of(f, target)), m_(f, target, bind, s_.threads) {
    const HostExpr tile = tile_size(s_), n_tiles = div_up(f.length, tile);
    const int64_t budget = plan::turn_budget(target) / turns_per_tile(s_);
    const HostExpr bounded = div_up(n_tiles, std::max<int64_t>(budget, 1));
    const HostExpr wanted = max(min(n_tiles, plan::groups_to_fill(target) * 2), bounded);
    share_ = max(div_up(n_tiles, max(wanted, 1)), 1) * tile;
    groups_ = max(div_up(f.length, share_), 1);
    // One box more for each value of a digit, which gets their sum.
    boxes_ = m_.scratch(Mailboxes::bytes(kCount, HostExpr(s_.digits) * (groups_ + 1)));
    types_ = f.carried;
    types_.insert(types_.begin(), f.key);
    // The elements between two passes.
    for (int side = 0; side < std::min(s_.passes - 1, 2); side++) {
      for (const PrimType type : types_) {
        const HostExpr bytes = f.length * HostExpr(int64_t{prim_size(type)});
        between_[side].push_back(m_.scratch(max(bytes, 1)));
      }
    }
  }

  plan::Work make() {
    for (int pass = 0; pass < s_.passes; pass++) {
      const auto name = [&](const char* step) { return fmt::format("_{}{}", step, pass); };
      m_.step(name("count"), groups_, [&](Team& t) { count(t, pass); });
      m_.step(name("sums"), s_.digits, [&](Team& t) { sums(t); });
      m_.step(name("place"), groups_, [&](Team& t) { place(t, pass); });
    }
    return m_.take();
  }

 private:
  Values blocks_of(Team& t, int side) {
    Values out;
    for (const plan::ScratchId id : between_[side]) out.push_back(t.block(id));
    return out;
  }
  Mailboxes boxes(Team& t, const Value& digit) {
    Builder& k = t.k;
    const Value count = k.add(t.host(groups_), 1);
    const Value first = k.mul(k.to_i64(digit), count);
    const Value base = k.add(t.block(boxes_), k.convert(k.mul(first, 8), PrimType::kU64));
    return {t, base, kCount, count, kir::Order::kPlain};
  }
  std::pair<Value, Value> range(Team& t) {
    Builder& k = t.k;
    const Value from = k.mul(k.group(), t.host(share_));
    return {from, k.min(k.add(from, t.host(share_)), t.host(f_.length))};
  }

  /// What a pass reads: later ones what the pass before has left.
  plan::Elements elements(Team& t, int pass, bool keys_only) {
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
  int neighbours(int pass) const {
    int n = pass == 0 ? f_.widest : std::min(16 / static_cast<int>(prim_size(f_.key)), 4);
    while (s_.items % n != 0) n /= 2;
    return n;
  }

  void count(Team& t, int pass) {
    Builder& k = t.k;
    const int shift = pass * s_.bits, n = neighbours(pass);
    const kir::SharedId bins = k.shared("bins", PrimType::kU32, {s_.digits, -1});
    const Value none = PrimValue::of_int(PrimType::kU32, 0), one = k.add(none, 1);
    // Uniform: no thread may stop before what the others count on.
    const auto for_bins = [&](const std::function<void(const Value&)>& body) {
      const auto own = [&](const Value& first) {
        const Value d = k.add(first, k.local());
        k.if_(k.lt(d, s_.digits), [&] { body(d); });
      };
      k.for_(kir::i32(0), kir::i32(s_.digits), t.group_size(), own, true);
    };
    for_bins([&](const Value& d) { k.store(bins, d, none); });
    k.barrier();
    const auto add = [&](const Values& x) {
      const kir::Address at{bins, digit_of(k, s_, x[0], shift)};
      k.atomic(kir::AtomicOp::kAdd, PrimType::kU32, at, one);
    };
    t.problem.elements = elements(t, pass, true);
    const auto [from, to] = range(t);
    const Value tile = k.mul(t.group_size_i64(), s_.items), last = to;
    const auto slot = [&](int j, int of) {
      return k.to_i64(k.mul(k.add(k.mul(t.group_size(), j), k.local()), of));
    };
    const auto all = [&](const Value& i) {
      std::vector<Values> loaded;
      for (int j = 0; j < s_.items / n; j++) {
        const Value first = k.add(i, slot(j, n));
        for (Values& x : blocks::neighbours(t, kir::i64(0), first, n)) loaded.push_back(x);
      }
      for (const Values& x : loaded) add(x);
    };
    const auto some = [&](const Value& i) {
      k.repeat(s_.items, [&](int j) {
        const Value at = k.add(i, slot(j, 1));
        k.if_(k.lt(at, last), [&] { add(t.problem.elements.at(k, {kir::i64(0), at})); });
      });
    };
    k.for_(
        from, to, tile,
        [&](const Value& i) {
          k.if_(
              k.le(k.add(i, tile), last), [&] { all(i); }, [&] { some(i); });
        },
        true);
    k.barrier();
    for_bins([&](const Value& d) {
      Mailboxes of_digit = boxes(t, d);
      of_digit.store(k.group(), {k.to_i64(k.load(bins, d))});
      k.if_(k.eq(k.group(), 0), [&] { of_digit.store(t.host(groups_), {kir::i64(0)}); });
    });
  }

  void sums(Team& t) {
    Combiner c(t, sum());
    Mailboxes of_digit = boxes(t, t.k.group());
    blocks::scan_boxes(t, c, of_digit, t.k.add(t.host(groups_), 1));
  }

  void place(Team& t, int pass) {
    Builder& k = t.k;
    Ranks ranks(t, s_);
    Combiner firsts(t, sum());
    // Where the next element of each value goes, and how far it is from there to its place in the
    // tile.
    const kir::SharedId next = k.shared("next", PrimType::kI64, {s_.digits, -1});
    const kir::SharedId ahead = k.shared("ahead", PrimType::kI64, {s_.digits, -1});
    std::vector<kir::SharedId> sorted;
    for (size_t n = 0; n < types_.size(); n++) {
      sorted.push_back(t.shared_per_thread(fmt::format("sorted{}", n), types_[n], s_.items));
    }
    start(t, ranks, firsts, next);
    const plan::Elements from_pass = elements(t, pass, false);
    const auto put = putter(t, pass);
    const auto [from, to] = range(t);
    const Value tile = k.mul(t.group_size_i64(), s_.items), last = to;
    k.for_(
        from, to, tile,
        [&](const Value& i) {
          ranks.begin_tile();
          const std::vector<Values> x = load(t, ranks, from_pass, i, last);
          Values of;
          for (const Values& e : x) of.push_back(digit_of(k, s_, e[0], pass * s_.bits));
          const auto begin = [&](const Value& d, const Value& first, const Value& count) {
            const Value at = k.load(next, d);
            k.store(ahead, d, k.sub(at, k.to_i64(first)));
            k.store(next, d, k.add(at, k.to_i64(count)));
          };
          const Values places = ranks.places(of, begin);
          for (size_t j = 0; j < x.size(); j++) {
            for (size_t n = 0; n < sorted.size(); n++) k.store(sorted[n], places[j], x[j][n]);
          }
          k.barrier();
          const Value length = k.to_i32(k.min(k.sub(last, i), tile));
          k.repeat(s_.items, [&](int j) {
            const Value slot = k.add(k.mul(t.group_size(), j), k.local());
            k.if_(k.lt(slot, length), [&] {
              Values e;
              for (const kir::SharedId s : sorted) e.push_back(k.load(s, slot));
              const Value d = digit_of(k, s_, e[0], pass * s_.bits);
              put(k.add(k.load(ahead, d), k.to_i64(slot)), e);
            });
          });
        },
        true);
  }

  /// Where the workgroup's elements of each value begin.
  void start(Team& t, Ranks& ranks, Combiner& firsts, const kir::SharedId& next) {
    Builder& k = t.k;
    const kir::Var at = k.declare(kir::i64(0));
    const auto total = [&](const Value& d) { return boxes(t, d).load(t.host(groups_))[0]; };
    ranks.for_own_digits([&](const Value& d) { k.assign(at, k.add(k.read(at), total(d))); });
    k.assign(at, firsts.scan({k.read(at)}).before[0]);
    ranks.for_own_digits([&](const Value& d) {
      k.store(next, d, k.add(k.read(at), boxes(t, d).load(k.group())[0]));
      k.assign(at, k.add(k.read(at), total(d)));
    });
  }

  /// The thread's elements of the tile from `i` on. Behind the last are others with the greatest
  /// key: they come behind all.
  std::vector<Values> load(Team& t, Ranks& ranks, const plan::Elements& from, const Value& i,
                           const Value& last) {
    Builder& k = t.k;
    const auto at = [&](int j) { return k.add(i, k.to_i64(ranks.own(j))); };
    const auto element = [&](const Value& place) { return from.at(k, {kir::i64(0), place}); };
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
        k.le(k.add(i, tile), last), [&] { return joined([&](int j) { return element(at(j)); }); },
        [&] {
          return joined([&](int j) {
            const Value place = at(j);
            return k.if_values(
                k.lt(place, last), [&] { return element(place); }, [&] { return none; });
          });
        });
    std::vector<Values> out;
    const auto each = static_cast<std::ptrdiff_t>(types_.size());
    for (auto x = all.begin(); x != all.end(); x += each) out.emplace_back(x, x + each);
    return out;
  }

  std::function<void(const Value& at, const Values& x)> putter(Team& t, int pass) {
    if (pass + 1 == s_.passes) {
      return [&t](const Value& at, const Values& x) {
        t.problem.sink.put(t.k, {kir::i64(0), at}, x);
      };
    }
    return [&t, to = blocks_of(t, pass % 2)](const Value& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) t.k.store(to[n], at, x[n]);
    };
  }

  const Facts& f_;
  Shape s_;
  plan::Maker m_;
  HostExpr share_, groups_;
  plan::ScratchId boxes_{};
  std::vector<PrimType> types_;
  std::array<std::vector<plan::ScratchId>, 2> between_;
};

}  // namespace

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return Digits(f, target, bind).make();
}

}  // namespace kenaz::primitives::sort::digits
