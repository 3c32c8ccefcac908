#include "kernels/primitives/scan/strips.h"

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"

namespace kenaz::primitives::scan {

namespace {

// On an H200 scans of 2^28 i32 take 806 us with 64 bytes of each thread, 753 to 763 us with 128,
// 741 us with 144, and 787 us with 160, of which the driver puts more into shared memory.
constexpr int kBytes = 144;
constexpr int kMostItems = 36;

int items_per_thread(const Facts& facts) {
  const int bytes = plan::bytes_of(facts.op.types) + plan::bytes_of(facts.carried);
  const int wanted = facts.items > 0 ? facts.items : std::min(kBytes / bytes, kMostItems);
  return std::max(wanted / facts.widest, 1) * facts.widest;
}

}  // namespace

bool Strips::fit(const Facts& f, const Target& target) {
  return plan::has_subgroups(target) && f.op.types.size() == 1 && f.op.known[0] != nullptr &&
         op::has_subgroup_op(*f.op.known[0], f.op.types[0], target) && f.segments.is(1) &&
         f.widest > 1 && !f.slow && !f.fails;
}

HostExpr Strips::tile_size(const Facts& facts) {
  return plan::Maker::group_size() * HostExpr(items_per_thread(facts));
}

Strips::Strips(Team& team, Combiner& combiner)
    : t_(team), c_(combiner), items_(items_per_thread(team.facts)), piece_(team.facts.widest) {}

Value Strips::size() { return t_.k.mul(t_.group_size_i64(), items_); }

// Of the thread's n-th element.
Value Strips::place(const Value& from, int item) {
  Builder& k = t_.k;
  const Value strip = k.mul(k.mul(k.subgroup(), k.subgroup_size()), items_);
  const Value lanes = k.add(k.mul(k.subgroup_size(), item / piece_), k.lane());
  const Value first = k.add(strip, k.mul(lanes, piece_));
  return k.add(k.add(from, k.to_i64(first)), item % piece_);
}

// All loads are on their way before the first value is waited for.
std::vector<Values> Strips::whole(const Value& from) {
  std::vector<Values> all;
  for (int i = 0; i < items_; i += piece_) {
    for (Values& x : blocks::neighbours(t_, kir::i64(0), place(from, i), piece_)) {
      all.push_back(std::move(x));
    }
  }
  return all;
}

// Behind the end the last element stands for others; it does not count.
std::vector<Values> Strips::partial(const Value& from, const Value& to) {
  Builder& k = t_.k;
  const size_t scalars = c_.op().facts.types.size();
  const Value last = k.sub(to, 1);
  std::vector<Values> all;
  for (int i = 0; i < items_; i++) {
    const Value at = place(from, i);
    all.push_back(t_.problem.elements.at(k, {kir::i64(0), k.min(at, last)}));
    for (size_t n = 0; n < scalars; n++) {
      all.back()[n] = k.select(k.lt(at, to), all.back()[n], c_.op().neutral[n]);
    }
  }
  return all;
}

std::vector<Values> Strips::load(const Value& from, const Value& to) {
  Builder& k = t_.k;
  const auto joined = [](const std::vector<Values>& all) {
    Values out;
    for (const Values& x : all) out.insert(out.end(), x.begin(), x.end());
    return out;
  };
  const Values all = k.if_values(
      k.le(k.add(from, size()), to), [&] { return joined(whole(from)); },
      [&] { return joined(partial(from, to)); });
  const auto each = static_cast<std::ptrdiff_t>(all.size()) / items_;
  std::vector<Values> out;
  for (auto x = all.begin(); x != all.end(); x += each) out.emplace_back(x, x + each);
  return out;
}

void Strips::store(const std::vector<Values>& results, const Value& from, const Value& to) {
  Builder& k = t_.k;
  const plan::Sink& sink = t_.problem.sink;
  const auto one = [&](int i) {
    sink.put(k, {kir::i64(0), place(from, i)}, results[static_cast<size_t>(i)]);
  };
  k.if_(
      k.le(k.add(from, size()), to),
      [&] {
        for (int i = 0; i < items_; i += piece_) {
          if (sink.put_many) {
            const auto first = results.begin() + i;
            sink.put_many(k, {kir::i64(0), place(from, i)}, {first, first + piece_});
          } else {
            for (int j = i; j < i + piece_; j++) one(j);
          }
        }
      },
      [&] {
        for (int i = 0; i < items_; i++) k.if_(k.lt(place(from, i), to), [&] { one(i); });
      });
}

void Strips::scan(const Value& from, const Value& to,
                  const std::function<Values(const Values& total)>& before) {
  Builder& k = t_.k;
  std::vector<Values> all = load(from, to);
  const auto scalars = static_cast<std::ptrdiff_t>(c_.op().facts.types.size());
  std::vector<Values> x;  // of each element: its piece of this lane up to it
  for (const Values& e : all) x.emplace_back(e.begin(), e.begin() + scalars);
  std::vector<Values> fronts;  // of each piece: what stands before the lane's in the strip
  Values strip;                // the pieces so far
  for (size_t i = 0; i < x.size(); i++) {
    const auto in_piece = i % static_cast<size_t>(piece_);
    if (in_piece > 0) x[i] = c_.combine(x[i - 1], x[i]);
    if (in_piece + 1 < static_cast<size_t>(piece_)) continue;
    const Values lanes = c_.subgroup_inclusive(x[i]);
    const Values lower = c_.subgroup_before(lanes);
    fronts.push_back(strip.empty() ? lower : c_.combine(strip, lower));
    Values piece;
    for (const Value& v : lanes) {
      piece.push_back(k.shuffle(kir::SubgroupOp::kShuffle, v, k.sub(k.subgroup_size(), 1)));
    }
    strip = strip.empty() ? piece : c_.combine(strip, piece);
  }
  const Combiner::Scan strips = c_.scan_subgroups(strip);
  const Values front = c_.combine(before(strips.total), strips.before);
  for (size_t i = 0; i < x.size(); i++) {
    const Values first = c_.combine(front, fronts[i / static_cast<size_t>(piece_)]);
    const Values result = c_.combine(first, x[i]);
    std::copy(result.begin(), result.end(), all[i].begin());
  }
  store(all, from, to);
}

HostExpr group_tile_size(const Facts& facts, const Target& target) {
  return Strips::fit(facts, target) ? Strips::tile_size(facts) : tile_size(facts, target);
}

void scan_group_tile(Team& t, Combiner& c, const Value& from,
                     const std::function<Values(const Values& total)>& before) {
  const Value to = t.host(t.facts.length);
  if (Strips::fit(t.facts, t.target)) {
    Strips(t, c).scan(from, to, before);
  } else {
    Tiles(t, c).scan(kir::i64(0), from, to, before);
  }
}

}  // namespace kenaz::primitives::scan
