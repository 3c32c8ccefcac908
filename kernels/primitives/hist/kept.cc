#include "kernels/primitives/hist/kept.h"

#include "kernels/primitives/blocks/bits.h"
#include "kernels/primitives/blocks/places.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist {

namespace {

using Ties = op::Kept::Ties;

constexpr PrimType kWord = PrimType::kU64;

Value word(uint64_t n) { return PrimValue{kWord, n}; }
Value u32(uint64_t n) { return PrimValue{PrimType::kU32, n}; }

// Keys of 64 bits are ordered by 32, so they may differ though these do not.
Ties ties_of(const Facts& f) {
  const op::Kept& kept = *f.op.kept;
  return prim_size(f.op.types[kept.key]) == 8 ? Ties::kAsk : kept.ties;
}

// Words of elements; 0: of none. The upper half orders the keys, the greatest being kept, the lower
// one says where the element stands among those of all segments: so that the greatest number is
// that of the one that is kept of equal ones, and none is 0.
class Words {
 public:
  Words(Builder& k, const Facts& f, Value length)
      : k_(k), kept_(*f.op.kept), ties_(ties_of(f)), length_(std::move(length)) {}

  Value of(const Values& x, const plan::Place& at) {
    Value key = blocks::ordered_bits(k_, x[kept_.key]);
    if (!kept_.greatest) key = k_.xor_(key, u32(UINT32_MAX));
    const Value place = k_.add(k_.mul(at.segment, length_), at.position);
    const Value number = k_.add(k_.convert(place, PrimType::kU32), u32(1));
    const Value low = ties_ == Ties::kFirst ? k_.sub(u32(0), number) : number;
    return k_.or_(k_.shl(k_.convert(key, kWord), word(32)), k_.convert(low, kWord));
  }

  plan::Place place_of(const Value& w) {
    Value number = k_.convert(w, PrimType::kU32);
    if (ties_ == Ties::kFirst) number = k_.sub(u32(0), number);
    const Value place = k_.to_i64(k_.sub(number, u32(1)));
    const Value segment = k_.quot(place, k_.max(length_, kir::i64(1)));
    return {segment, k_.sub(place, k_.mul(segment, length_))};
  }

 private:
  Builder& k_;
  op::Kept kept_;
  Ties ties_;
  Value length_;
};

// The word of the one that the operator keeps, of two elements, the first of which stands before
// the other.
Value asked(Builder& k, const Facts& f, const plan::Problem& problem, Words& words,
            const Value& first, const Value& second) {
  const Values x = item_of(problem.elements.at(k, words.place_of(first))).x;
  const Values y = item_of(problem.elements.at(k, words.place_of(second))).x;
  const Values kept = problem.op.combine(k, x, y);
  Value is_first = kir::boolean(true);
  for (size_t n = 0; n < kept.size(); n++) {
    // Of keys 0 and -0 the result may have either.
    const bool is_key = n == f.op.kept->key;
    const auto seen = [&](const Value& v) { return is_key ? v : blocks::bits_of(k, v); };
    is_first = k.and_(is_first, k.eq(seen(kept[n]), seen(x[n])));
  }
  return k.select(is_first, first, second);
}

plan::Operator operator_on_words(Team& t, const Facts& f, const plan::Problem& problem) {
  if (ties_of(f) != Ties::kAsk) return plan::known_operator(*t.facts.op.known[0], kWord);
  plan::Operator o;
  o.facts = t.facts.op;
  o.neutral = {word(0)};
  const Value length = t.host(f.length);
  o.combine = [&f, length, problem](Builder& k, const Values& a, const Values& b) {
    const auto order = [&](const Value& w) { return k.lshr(w, word(32)); };
    const Value none = k.or_(k.eq(a[0], word(0)), k.eq(b[0], word(0)));
    const Value same = k.and_(k.not_(none), k.eq(order(a[0]), order(b[0])));
    return k.if_values(
        same,
        [&] {
          // Of equal upper halves, the greater word stands behind the other.
          Words words(k, f, length);
          return Values{asked(k, f, problem, words, k.min(a[0], b[0]), k.max(a[0], b[0]))};
        },
        [&] { return Values{k.max(a[0], b[0])}; });
  };
  return o;
}

plan::Problem problem_of_words(Team& t, const Facts& f, const plan::Problem& problem,
                               const Value& slots) {
  plan::Problem out;
  out.op = operator_on_words(t, f, problem);
  out.bins = {slots};
  const Value length = t.host(f.length);
  const auto of = [&f, length](Builder& k, const Values& element, const plan::Place& at) {
    const Item item = item_of(element);
    return Values{item.bin, Words(k, f, length).of(item.x, at)};
  };
  out.elements.at = [of, at = problem.elements.at](Builder& k, const plan::Place& place) {
    return of(k, at(k, place), place);
  };
  return out;
}

// Each bin's element is made and combined with what the bin had.
void keep(Team& t, const Facts& f, const plan::Problem& problem, const Value& slots) {
  Builder& k = t.k;
  const Value index = k.global();
  k.if_(k.lt(index, t.host(f.segments * f.bins)), [&] {
    const Value w = k.load(kWord, slots, index);
    k.if_(k.ne(w, word(0)), [&] {
      const plan::Place at = Words(k, f, t.host(f.length)).place_of(w);
      const Item item = item_of(problem.elements.at(k, at));
      Values old;
      for (size_t n = 0; n < problem.bins.size(); n++) {
        old.push_back(k.load(f.op.types[n], problem.bins[n], index));
      }
      const Values kept = problem.op.combine(k, old, item.x);
      for (size_t n = 0; n < kept.size(); n++) k.store(problem.bins[n], index, kept[n]);
    });
  });
}

}  // namespace

bool has_words(const Facts& f, const Target& target) {
  return f.op.kept && Cells::kind(f.op, target, false) == Cells::Kind::kNone && target.i64_atomics;
}

HostExpr words_fit(const Facts& f) { return lt(f.segments * f.length, UINT32_MAX); }

Facts facts_of_words(const Facts& f) {
  Facts out = f;
  out.op = {};
  out.op.types = {kWord};
  out.op.commutative = true;
  out.op.known = {ties_of(f) == Ties::kAsk ? nullptr : op::known(ScalarOp::kMax, kWord)};
  out.widest = 1;
  return out;
}

plan::Work make_by_words(const Facts& f, const Target& target, const plan::Bind& bind,
                         AddSteps combine) {
  const Facts words = facts_of_words(f);
  const plan::ScratchId slots{0};
  plan::Problem problem;
  const plan::Bind bind_words = [&](Team& t) {
    problem = bind(t);
    return problem_of_words(t, f, problem, t.block(slots));
  };
  plan::Maker m(words, target, bind_words);
  const HostExpr all = f.segments * f.bins, groups = div_up(all, m.group_size());
  m.scratch(all * prim_size(kWord));
  m.step("_begin", groups, [&](Team& t) {
    t.k.if_(t.k.lt(t.k.global(), t.host(all)),
            [&] { t.k.store(t.block(slots), t.k.global(), word(0)); });
  });
  combine(m, words, target);
  m.step("_keep", groups, [&](Team& t) { keep(t, f, problem, t.block(slots)); });
  return m.take();
}

namespace kept {

bool applies(const Facts& f, const Target& target) { return has_words(f, target); }

HostExpr when(const Facts& f, const Target&) { return words_fit(f); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  return make_by_words(f, target, bind, global::add_steps);
}

}  // namespace kept

}  // namespace kenaz::primitives::hist
