#include "kernels/kir/passes/loops.h"

#include <algorithm>

namespace kenaz::kir {

bool is_quiet(const Block& b) {
  return std::all_of(b.insts.begin(), b.insts.end(), [](const Inst& i) { return is_quiet(i); });
}

bool is_quiet(const Inst& i) {
  if (const auto* load = std::get_if<ILoad>(&i.op)) return load->order == Order::kPlain;
  if (const auto* branch = std::get_if<IIf>(&i.op)) {
    return is_quiet(branch->then_block) && is_quiet(branch->else_block);
  }
  return std::holds_alternative<IPrim>(i.op) || std::holds_alternative<IBuiltin>(i.op) ||
         std::holds_alternative<ICompose>(i.op) || std::holds_alternative<IExtract>(i.op) ||
         std::holds_alternative<IDeclare>(i.op) || std::holds_alternative<IRead>(i.op) ||
         std::holds_alternative<IAssign>(i.op);
}

bool counts_by_one(const IFor& loop) {
  const PrimType type = loop.step.type.prim;
  return !loop.uniform && !loop.unroll && loop.step.is_int(1) &&
         (type == PrimType::kI32 || type == PrimType::kI64);
}

}  // namespace kenaz::kir
