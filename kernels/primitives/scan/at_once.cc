#include "kernels/primitives/blocks/look_back.h"
#include "kernels/primitives/scan/flat.h"
#include "kernels/primitives/scan/plan_functions.h"
#include "kernels/primitives/scan/strips.h"

namespace kenaz::primitives::scan::at_once {

namespace {

// Small tiles, so that every multiprocessor has some: what a thread does one after the other, and
// not memory, is what these scans wait for.
Facts with_small_tiles(Facts f, const Target& target) {
  if (f.items == 0) f.items = Strips::fit(f, target) ? 8 : 4;
  return f;
}

}  // namespace

bool applies(const Facts&, const Target& target) { return target.forward_progress; }

// Each thread looks at two tiles, at most.
HostExpr when(const Facts& f, const Target& target) {
  const HostExpr tile = group_tile_size(with_small_tiles(f, target), target);
  return le(f.segments * f.length, tile * plan::Maker::group_size() * 2);
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  Flat flat(f, bind);
  const Facts small = with_small_tiles(flat.facts(), target);
  plan::Maker m(small, target, flat.bind());
  const HostExpr tile = group_tile_size(small, target), groups = div_up(small.length, tile);
  const auto memory = blocks::LookBack::memory(m, small.op, target, groups);
  m.step(
      "_at_once", groups,
      [&](Team& t) {
        Combiner c(t, t.problem.op);
        blocks::LookBack back(t, c, memory);
        const Value number = back.tile(), from = t.k.mul(number, t.host(tile));
        flat.begin(t.k, from);
        scan_group_tile(t, c, from,
                        [&](const Values& total) { return back.before_at_once(number, total); });
        back.finish();
      },
      true);
  return m.take();
}

}  // namespace kenaz::primitives::scan::at_once
