#include "kernels/primitives/hist/bins.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist::global {

bool applies(const Facts& f, const Target& target) { return Cells::in_place(f.op, target); }

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

void add_steps(plan::Maker& m, const Facts& f, const Target& target) {
  m.step("_global", groups_for_cells(f, target), [](Team& t) {
    Cells cells = cells_in_place(t);
    update_cells(t, cells);
  });
}

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  add_steps(m, f, target);
  return m.take();
}

}  // namespace kenaz::primitives::hist::global
