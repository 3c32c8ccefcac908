// What passes have in common that put instructions before others.
#pragma once

#include <utility>
#include <vector>

#include "kernels/kir/visit.h"

namespace kenaz::kir {

/// Calls f(inst, out) for every instruction of the kernel, after those of the blocks in it: f may
/// change it, and what it appends to `out` is to stand right before it.
template <class F>
void put_before(Block& b, const F& f) {
  std::vector<Inst> out;
  for (Inst& i : b.insts) {
    visit_blocks(i.op, [&](Block& inner) { put_before(inner, f); });
    f(i, out);
    out.push_back(std::move(i));
  }
  b.insts = std::move(out);
}
template <class F>
void put_before(Kernel& kernel, const F& f) {
  for_each_body(kernel, [&](Block& b) { put_before(b, f); });
}

}  // namespace kenaz::kir
