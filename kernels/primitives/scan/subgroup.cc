#include <algorithm>

#include "kernels/primitives/blocks/part.h"
#include "kernels/primitives/blocks/stripes.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/tiles.h"

namespace kenaz::primitives::scan::subgroup {

namespace {

using blocks::Part;

// Longer ones have a tile that is worth a workgroup, where there are few of them, or in any case.
constexpr int kLongestOfFew = 256, kLongest = 2048;

// Neighbours that a lane takes at a time.
int items_of_lane(const Facts& f) {
  constexpr int kMost = 4;
  return std::max(std::min(blocks::items_in_flight(f), kMost), f.widest);
}

Values flat(const std::vector<Values>& rows) {
  Values out;
  for (const Values& x : rows) out.insert(out.end(), x.begin(), x.end());
  return out;
}

std::vector<Values> rows_of(const Values& flat, size_t rows) {
  const auto each = static_cast<std::ptrdiff_t>(flat.size() / rows);
  std::vector<Values> out;
  for (auto x = flat.begin(); x != flat.end(); x += each) out.emplace_back(x, x + each);
  return out;
}

Values first_of(const Values& x, size_t n) {
  return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)};
}

// The elements at `at` and behind it, of which the first is before `end`; those from there on are
// neutral.
std::vector<Values> elements_from(Team& t, const Value& segment, const Value& at,
                                  const Value& end) {
  Builder& k = t.k;
  const int items = items_of_lane(t.facts), n = t.facts.widest;
  std::vector<Values> all;
  for (int j = 0; j < items; j += n) {
    // What is behind the end is the last place again: all loads are on their way without a branch.
    const Value place = j == 0 ? at : k.min(k.add(at, j), k.sub(end, n));
    for (Values& x : blocks::neighbours(t, segment, place, n)) all.push_back(std::move(x));
  }
  const Values& neutral = t.problem.op.neutral;
  for (size_t j = 1; j < all.size(); j++) {
    const Value inside = k.lt(k.add(at, static_cast<int64_t>(j)), end);
    for (size_t s = 0; s < neutral.size(); s++) {
      all[j][s] = k.select(inside, all[j][s], neutral[s]);
    }
  }
  return all;
}

void put(Team& t, const Value& segment, const Value& at, const Value& end,
         const std::vector<Values>& all) {
  Builder& k = t.k;
  const plan::Sink& sink = t.problem.sink;
  const auto n = static_cast<size_t>(sink.put_many ? t.facts.widest : 1);
  for (size_t j = 0; j < all.size(); j += n) {
    const Value place = k.add(at, static_cast<int64_t>(j));
    k.if_(k.lt(place, end), [&] {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(j);
      if (n == 1) {
        sink.put(k, {segment, place}, *first);
      } else {
        sink.put_many(k, {segment, place}, {first, first + static_cast<std::ptrdiff_t>(n)});
      }
    });
  }
}

void scan_by_part(Team& t, Combiner& c, const Part& p, const Value& segment, const Value& live) {
  Builder& k = t.k;
  const int items = items_of_lane(t.facts);
  const Value length = t.host(t.facts.length), end = k.select(live, length, kir::i64(0));
  const Value last = k.or_(k.lane(), k.sub(p.width, 1));
  const size_t scanned = t.facts.op.types.size();
  Values none = t.problem.op.neutral;
  for (const PrimType type : t.facts.carried) none.emplace_back(PrimValue{type, 0});
  const kir::Vars carry = k.declare(t.problem.op.neutral);
  k.for_(
      kir::i64(0), length, k.mul(k.to_i64(p.width), items),
      [&](const Value& from) {
        const Value at = k.add(from, k.mul(k.to_i64(p.lane), items));
        const Values read = k.if_values(
            k.lt(at, end), [&] { return flat(elements_from(t, segment, at, end)); },
            [&] { return flat(std::vector<Values>(static_cast<size_t>(items), none)); });
        std::vector<Values> all = rows_of(read, static_cast<size_t>(items));
        std::vector<Values> own;
        for (const Values& x : all) {
          const Values value = first_of(x, scanned);
          own.push_back(own.empty() ? value : c.combine(own.back(), value));
        }
        const Values so_far = c.part_inclusive(own.back(), p.log2_width);
        // Of one element alone that is all; else it is for what stands before.
        const Values front =
            items == 1 ? k.read(carry) : c.combine(k.read(carry), c.part_before(so_far, p.lane));
        if (items == 1) own[0] = so_far;
        for (size_t j = 0; j < own.size(); j++) {
          const Values out = c.combine(front, own[j]);
          std::copy(out.begin(), out.end(), all[j].begin());
        }
        Values total;
        for (const Value& v : first_of(all.back(), scanned)) {
          total.push_back(k.shuffle(kir::SubgroupOp::kShuffle, v, last));
        }
        k.assign(carry, total);
        put(t, segment, at, end, all);
      },
      true);
}

}  // namespace

bool applies(const Facts& f, const Target& target) {
  return !f.segments.is(1) && plan::has_subgroups(target);
}

HostExpr when(const Facts& f, const Target& target) {
  const HostExpr enough = le(plan::groups_to_fill(target), f.segments);
  return or_(le(f.length, kLongestOfFew), and_(le(f.length, kLongest), enough));
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  m.step("_subgroup", blocks::groups_of_parts(f, target, items_of_lane(f)), [&](Team& t) {
    Combiner c(t, t.problem.op);
    const Part p = blocks::part_of(t, t.host(f.length), items_of_lane(f));
    blocks::for_segments(t, p, [&](const Value& segment, const Value& live) {
      scan_by_part(t, c, p, segment, live);
    });
  });
  return m.take();
}

}  // namespace kenaz::primitives::scan::subgroup
