#include "kernels/primitives/scan/strips.h"

#include <algorithm>

#include "kernels/primitives/blocks/stripes.h"

namespace kenaz::primitives::scan {

namespace {

// On an H200 scans of 2^28 i32 take 746 us by 36 elements of a thread, 714 us by 40, 706 us by 44,
// and 740 us by 48, of which the driver puts more into shared memory; of 2^27 f64 784 us by 18 and
// 720 us by 22. Sums of i64 over subgroups take more registers: 815 us by 16, and 958 us by 22.
int items_per_thread(const Facts& facts) {
  constexpr int kBytes = 176, kBytesOfLongs = 128, kMostItems = 44;
  const PrimType type = facts.op.types[0];
  const bool is_long = prim_size(type) == 8 && !is_float(type);
  const int bytes = plan::bytes_of(facts.op.types) + plan::bytes_of(facts.carried);
  const int few = (is_long ? kBytesOfLongs : kBytes) / bytes;
  const int wanted = facts.items > 0 ? facts.items : std::min(few, kMostItems);
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
    : t_(team),
      c_(combiner),
      items_(items_per_thread(team.facts)),
      piece_(team.facts.widest),
      width_(team.target.fixed_subgroups ? kir::i32(team.target.subgroup_size)
                                         : team.k.subgroup_size()) {}

Value Strips::size() { return t_.k.mul(t_.group_size_i64(), items_); }

// Of the thread's first element.
Value Strips::first(const Value& from) {
  Builder& k = t_.k;
  const Value strip = k.mul(k.mul(k.subgroup(), width_), items_);
  return k.add(from, k.to_i64(k.add(strip, k.mul(k.lane(), piece_))));
}

// How far behind the first the thread's n-th element is. Where subgroups have one size these are
// constants, and all elements are reached from one address.
Value Strips::offset(int item) {
  Builder& k = t_.k;
  return k.add(k.mul(width_, item / piece_ * piece_), item % piece_);
}
Value Strips::place(const Value& first, int item) {
  return t_.k.add(first, t_.k.to_i64(offset(item)));
}

// All loads are on their way before the first value is waited for.
std::vector<Values> Strips::whole(const Value& first) {
  std::vector<Values> all;
  for (int i = 0; i < items_; i += piece_) {
    for (Values& x : blocks::neighbours(t_, kir::i64(0), place(first, i), piece_)) {
      all.push_back(std::move(x));
    }
  }
  return all;
}

// Behind the end nothing is loaded.
std::vector<Values> Strips::partial(const Value& first, const Value& to) {
  Builder& k = t_.k;
  const Value room = k.to_i32(k.sub(to, first));
  Values none = c_.op().neutral;
  for (const PrimType type : t_.facts.carried) none.push_back(PrimValue{type});
  std::vector<Values> all;
  for (int i = 0; i < items_; i++) {
    all.push_back(k.if_values(
        k.lt(offset(i), room),
        [&] {
          return t_.problem.elements.at(k, {kir::i64(0), place(first, i)});
        },
        [&] { return none; }));
  }
  return all;
}

std::vector<Values> Strips::load(const Value& first, const Value& is_whole, const Value& to) {
  Builder& k = t_.k;
  const auto joined = [](const std::vector<Values>& all) {
    Values out;
    for (const Values& x : all) out.insert(out.end(), x.begin(), x.end());
    return out;
  };
  const Values all = k.if_values(
      is_whole, [&] { return joined(whole(first)); }, [&] { return joined(partial(first, to)); });
  const auto each = static_cast<std::ptrdiff_t>(all.size()) / items_;
  std::vector<Values> out;
  for (auto x = all.begin(); x != all.end(); x += each) out.emplace_back(x, x + each);
  return out;
}

void Strips::store(const std::vector<Values>& results, const Value& first, const Value& is_whole,
                   const Value& to) {
  Builder& k = t_.k;
  const plan::Sink& sink = t_.problem.sink;
  const auto one = [&](int i) {
    sink.put(k, {kir::i64(0), place(first, i)}, results[static_cast<size_t>(i)]);
  };
  k.if_(
      is_whole,
      [&] {
        for (int i = 0; i < items_; i += piece_) {
          if (sink.put_many) {
            const auto x = results.begin() + i;
            sink.put_many(k, {kir::i64(0), place(first, i)}, {x, x + piece_});
          } else {
            for (int j = i; j < i + piece_; j++) one(j);
          }
        }
      },
      [&] {
        const Value room = k.to_i32(k.sub(to, first));
        for (int i = 0; i < items_; i++) k.if_(k.lt(offset(i), room), [&] { one(i); });
      });
}

void Strips::scan(const Value& from, const Value& to,
                  const std::function<Values(const Values& total)>& before) {
  Builder& k = t_.k;
  const Value first = this->first(from), is_whole = k.le(k.add(from, size()), to);
  std::vector<Values> all = load(first, is_whole, to);
  const auto scalars = static_cast<std::ptrdiff_t>(c_.op().facts.types.size());
  std::vector<Values> x;  // of each element: the strip up to it
  for (const Values& e : all) x.emplace_back(e.begin(), e.begin() + scalars);
  Values strip;  // the pieces so far
  for (size_t i = 0; i < x.size(); i++) {
    const auto in_piece = i % static_cast<size_t>(piece_);
    if (in_piece > 0) x[i] = c_.combine(x[i - 1], x[i]);
    if (in_piece + 1 < static_cast<size_t>(piece_)) continue;
    const Values lanes = c_.subgroup_inclusive(x[i]);
    const Values lower = c_.subgroup_before(lanes);
    const Values front = strip.empty() ? lower : c_.combine(strip, lower);
    for (size_t j = i - in_piece; j <= i; j++) x[j] = c_.combine(front, x[j]);
    Values piece;
    for (const Value& v : lanes) {
      piece.push_back(k.shuffle(kir::SubgroupOp::kShuffle, v, k.sub(k.subgroup_size(), 1)));
    }
    strip = strip.empty() ? piece : c_.combine(strip, piece);
  }
  const Combiner::Scan strips = c_.scan_subgroups(strip);
  const Values front = c_.combine(before(strips.total), strips.before);
  for (size_t i = 0; i < x.size(); i++) {
    const Values result = c_.combine(front, x[i]);
    std::copy(result.begin(), result.end(), all[i].begin());
  }
  store(all, first, is_whole, to);
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
