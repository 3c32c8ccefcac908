#include <fmt/format.h>

#include <algorithm>

#include "kernels/primitives/blocks/boxes.h"
#include "kernels/primitives/sort/passes.h"
#include "kernels/primitives/sort/plan_functions.h"

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
      : f_(f), s_(shape_of(f, target)), m_(f, target, bind, s_.threads), passes_(f, s_, m_) {
    const HostExpr tile = tile_size(s_), n_tiles = div_up(f.length, tile);
    const int64_t budget = plan::turn_budget(target) / turns_per_tile(s_);
    const HostExpr bounded = div_up(n_tiles, std::max<int64_t>(budget, 1));
    const HostExpr wanted = max(min(n_tiles, plan::groups_to_fill(target) * 2), bounded);
    share_ = max(div_up(n_tiles, max(wanted, 1)), 1) * tile;
    groups_ = max(div_up(f.length, share_), 1);
    // One box more for each value of a digit, which gets their sum.
    boxes_ = m_.scratch(Mailboxes::bytes(kCount, HostExpr(s_.digits) * (groups_ + 1)));
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

  void count(Team& t, int pass) {
    Builder& k = t.k;
    const kir::SharedId bins = k.shared("bins", PrimType::kU32, {s_.digits, -1});
    const Value none = PrimValue::of_int(PrimType::kU32, 0), one = k.add(none, 1);
    for_all(t, s_.digits, [&](const Value& d) { k.store(bins, d, none); });
    k.barrier();
    const auto [from, to] = range(t);
    passes_.for_keys(t, pass, from, to, [&](const Value& key) {
      const kir::Address at{bins, digit_of(k, s_, key, pass * s_.bits)};
      k.atomic(kir::AtomicOp::kAdd, PrimType::kU32, at, one);
    });
    k.barrier();
    for_all(t, s_.digits, [&](const Value& d) {
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
    Placer placer(t, s_, passes_, pass, PrimType::kI64);
    Combiner firsts(t, sum());
    // Where the next element of each value goes.
    const kir::SharedId next = k.shared("next", PrimType::kI64, {s_.digits, -1});
    start(t, placer.ranks(), firsts, next);
    const auto [from, to] = range(t);
    const auto begin = [&](const Value& d, const Value& first, const Value& count) {
      const Value at = k.load(next, d);
      k.store(placer.ahead(), d, k.sub(at, k.to_i64(first)));
      k.store(next, d, k.add(at, k.to_i64(count)));
    };
    const Value end = to;
    k.for_(
        from, to, k.mul(t.group_size_i64(), s_.items),
        [&](const Value& i) { placer.tile(i, end, begin, [&] { k.barrier(); }); }, true);
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

  const Facts& f_;
  Shape s_;
  plan::Maker m_;
  Passes passes_;
  HostExpr share_, groups_;
  plan::ScratchId boxes_{};
};

}  // namespace

bool applies(const Facts&, const Target&) { return true; }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return Digits(f, target, bind).make();
}

}  // namespace kenaz::primitives::sort::digits
