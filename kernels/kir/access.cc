#include "kernels/kir/access.h"

#include "kernels/kir/origins.h"
#include "kernels/kir/visit.h"

namespace kenaz::kir {
namespace {

Access access_by(const Inst& inst) {
  if (std::holds_alternative<ILoad>(inst.op)) return Access::kRead;
  if (const auto* atomic = std::get_if<IAtomic>(&inst.op)) {
    if (atomic->op == AtomicOp::kLoad) return Access::kRead;
    return atomic->op == AtomicOp::kStore ? Access::kWrite : Access::kReadWrite;
  }
  return Access::kWrite;
}

}  // namespace

std::vector<Access> access_of(const Kernel& kernel) {
  std::vector<Access> result(kernel.args.size(), Access::kNone);
  const Origins origins(kernel);
  const auto look = [&](const Inst& inst) {
    visit_address(inst.op, [&](const Address& a) {
      const auto* base = std::get_if<Value>(&a.base);
      if (base == nullptr) return;
      for (const size_t arg : origins.blocks_of(*base)) {
        result[arg] = static_cast<Access>(static_cast<uint8_t>(result[arg]) |
                                          static_cast<uint8_t>(access_by(inst)));
      }
    });
  };
  for (uint32_t f = 0; f < kernel.functions.size(); f++) {
    if (origins.is_reached(FunctionId{f})) for_each_inst(kernel.functions[f].body, look);
  }
  for_each_inst(kernel.main, look);
  return result;
}

}  // namespace kenaz::kir
