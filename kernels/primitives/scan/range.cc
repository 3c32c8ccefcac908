#include "kernels/primitives/scan/range.h"

namespace kenaz::primitives::scan {

void scan_range(Team& t, Combiner& c, Tiles& tiles, const Value& segment, const Value& from,
                const Value& to, const Values& before,
                const std::function<void(const Value& from)>& begin_tile) {
  Builder& k = t.k;
  const kir::Vars carry = k.declare(before);
  k.for_(
      from, to, tiles.size(),
      [&](const Value& at) {
        if (begin_tile) begin_tile(at);
        tiles.scan(segment, at, to, [&](const Values& total) {
          Values now = k.read(carry);
          k.assign(carry, c.combine(now, total));
          return now;
        });
      },
      true);
}

}  // namespace kenaz::primitives::scan
