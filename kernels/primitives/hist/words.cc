#include "kernels/primitives/hist/bins.h"
#include "kernels/primitives/hist/plan_functions.h"

namespace kenaz::primitives::hist::words {

bool applies(const Facts& f, const Target& target) {
  return Cells::kind(f.op, target, false) != Cells::Kind::kNone;
}

HostExpr when(const Facts&, const Target&) { return HostExpr::boolean(true); }

plan::Work make(const Facts& f, const Target& target, const plan::Bind& bind) {
  plan::Maker m(f, target, bind);
  const HostExpr all = f.segments * f.bins;
  std::vector<plan::ScratchId> blocks;
  for (const PrimType word : Cells::words(f.op, target, false)) {
    blocks.push_back(m.scratch(all * prim_size(word)));
  }
  const auto cells_of = [&](Team& t) {
    Cells::Bases bases;
    for (const plan::ScratchId b : blocks) bases.emplace_back(t.block(b));
    return Cells(t, t.problem.op, false, std::move(bases));
  };
  const auto for_each_bin = [&](Team& t, const std::function<void(Cells&, const Value&)>& body) {
    Cells cells = cells_of(t);
    const Value index = t.k.global();
    t.k.if_(t.k.lt(index, t.host(all)), [&] { body(cells, index); });
  };
  const HostExpr groups = div_up(all, m.group_size());
  m.step("_begin", groups, [&](Team& t) {
    for_each_bin(t, [&](Cells& c, const Value& index) { c.store(index, load_bin(t, index)); });
  });
  m.step("_words", groups_for_cells(f, target), [&](Team& t) {
    Cells cells = cells_of(t);
    update_cells(t, cells);
  });
  m.step("_end", groups, [&](Team& t) {
    for_each_bin(t, [&](Cells& c, const Value& index) { store_bin(t, index, c.load(index)); });
  });
  return m.take();
}

}  // namespace kenaz::primitives::hist::words
