#include <fmt/format.h>

#include "kernels/primitives/sort/plan_functions.h"
#include "kernels/primitives/sort/ranks.h"

namespace kenaz::primitives::sort::group {

namespace {

/// The plan's kernel: one tile, whose elements stay in shared memory from digit to digit.
class Group {
 public:
  Group(Team& t, const Facts& f, const Shape& s) : t_(t), f_(f), s_(s), ranks_(t, s) {
    types_ = f.carried;
    types_.insert(types_.begin(), f.key);
    for (size_t n = 0; n < types_.size(); n++) {
      elements_.push_back(t.shared_per_thread(fmt::format("sorted{}", n), types_[n], s_.items));
    }
  }

  void run() {
    Builder& k = t_.k;
    const Value length = k.to_i32(t_.host(f_.length));
    k.repeat(s_.items, [&](int j) { store(ranks_.own(j), load(ranks_.own(j), length)); });
    k.barrier();
    k.for_(
        kir::i32(s_.passes), [&](const Value& pass) { sort_by(k.mul(pass, s_.bits)); }, true);
    k.repeat(s_.items, [&](int j) {
      const Value slot = k.add(k.mul(t_.group_size(), j), k.local());
      k.if_(k.lt(slot, length), [&] {
        t_.problem.sink.put(k, {kir::i64(0), k.to_i64(slot)}, sorted(slot));
      });
    });
  }

 private:
  /// Behind the last are others with the greatest key: they come behind all.
  Values load(const Value& at, const Value& length) {
    Builder& k = t_.k;
    Values none = {PrimValue::of_int(f_.key, -1)};
    for (const PrimType type : f_.carried) none.push_back(PrimValue{type, 0});
    return k.if_values(
        k.lt(at, length),
        [&] {
          return t_.problem.elements.at(k, {kir::i64(0), k.to_i64(at)});
        },
        [&] { return none; });
  }
  void store(const Value& at, const Values& x) {
    for (size_t n = 0; n < x.size(); n++) t_.k.store(elements_[n], at, x[n]);
  }
  Values sorted(const Value& at) {
    Values x;
    for (const kir::SharedId e : elements_) x.push_back(t_.k.load(e, at));
    return x;
  }

  /// By the digit that begins at bit `shift`.
  void sort_by(const Value& shift) {
    Builder& k = t_.k;
    ranks_.begin_tile();
    std::vector<Values> x;
    Values digits;
    for (int j = 0; j < s_.items; j++) {
      x.push_back(sorted(ranks_.own(j)));
      digits.push_back(digit_of(k, s_, x.back()[0], shift));
    }
    // All have read their elements when the places are known.
    const auto nothing = [](const Value&, const Value&, const Value&) {};
    ranks_.places(digits, nothing, [&](size_t j, const Value& place) { store(place, x[j]); });
    k.barrier();
  }

  Team& t_;
  const Facts& f_;
  const Shape& s_;
  Ranks ranks_;
  std::vector<PrimType> types_;
  std::vector<kir::SharedId> elements_;
};

}  // namespace

bool applies(const Facts& f, const Target& target) {
  const Shape s = shape_of(f, target);
  return s.passes * turns_per_tile(s) <= plan::turn_budget(target);
}

HostExpr when(const Facts& f, const Target& target) {
  // The host may not know yet that this plan has fewer threads than others.
  const Shape s = shape_of(f, target);
  return le(f.length, min(plan::Maker::group_size(), s.threads) * HostExpr(s.items));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  const Shape s = shape_of(f, target);
  plan::Maker m(f, target, bind, s.threads);
  m.step("_group", HostExpr(1), [&](Team& t) { Group(t, f, s).run(); });
  return m.take();
}

}  // namespace kenaz::primitives::sort::group
