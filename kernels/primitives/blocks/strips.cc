#include "kernels/primitives/blocks/strips.h"

#include "kernels/primitives/blocks/stripes.h"

namespace kenaz::primitives::blocks {

using kir::Builder;
using kir::Value;
using kir::Values;

Strips::Strips(plan::Team& team, int items, int piece)
    : t_(team), items_(items), piece_(piece), width_(team.subgroup_size()) {}

Strips::Tile Strips::tile(const Value& from, const Value& to) {
  Builder& k = t_.k;
  const Value strip = k.mul(k.mul(k.subgroup(), width_), items_);
  const Value first = k.add(from, k.to_i64(k.add(strip, k.mul(k.lane(), piece_))));
  const Value end = k.add(from, k.mul(t_.group_size_i64(), items_));
  return {first, to, k.le(end, to)};
}

// From the first element. Where subgroups have one size these are constants, and all elements are
// reached from one address.
Value Strips::offset(int n) {
  Builder& k = t_.k;
  return k.add(k.mul(width_, n / piece_ * piece_), n % piece_);
}
Value Strips::place(const Tile& tile, int n) {
  return t_.k.add(tile.first, t_.k.to_i64(offset(n)));
}

// All loads are on their way before the first value is waited for.
Values Strips::whole(const Tile& tile) {
  Values all;
  for (int i = 0; i < items_; i += piece_) {
    for (const Values& x : neighbours(t_, kir::i64(0), place(tile, i), piece_)) {
      all.insert(all.end(), x.begin(), x.end());
    }
  }
  return all;
}

// Behind the end nothing is loaded.
Values Strips::partial(const Tile& tile, const Values& none) {
  Builder& k = t_.k;
  const Value left = k.to_i32(k.sub(tile.to, tile.first));
  Values all;
  for (int i = 0; i < items_; i++) {
    const Values x = k.if_values(
        k.lt(offset(i), left),
        [&] {
          return t_.problem.elements.at(k, {kir::i64(0), place(tile, i)});
        },
        [&] { return none; });
    all.insert(all.end(), x.begin(), x.end());
  }
  return all;
}

std::vector<Values> Strips::load(const Tile& tile, const Values& none) {
  const Values all = t_.k.if_values(
      tile.is_whole, [&] { return whole(tile); }, [&] { return partial(tile, none); });
  const auto each = static_cast<std::ptrdiff_t>(all.size()) / items_;
  std::vector<Values> out;
  for (auto x = all.begin(); x != all.end(); x += each) out.emplace_back(x, x + each);
  return out;
}

void Strips::for_each(const Tile& tile, const std::function<void(int n)>& body) {
  Builder& k = t_.k;
  const Value left = k.to_i32(k.sub(tile.to, tile.first));
  for (int i = 0; i < items_; i++) k.if_(k.lt(offset(i), left), [&] { body(i); });
}

}  // namespace kenaz::primitives::blocks
