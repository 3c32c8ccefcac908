#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;

KernelValue read(Thread& t, const Slot& slot) {
  if (const auto* var = std::get_if<kir::Var>(&slot)) return t.k.read(*var);
  return std::get<KernelArray>(slot);
}

std::vector<KernelValue> read(Thread& t, const std::vector<Slot>& slots) {
  std::vector<KernelValue> out;
  for (const Slot& s : slots) out.push_back(read(t, s));
  return out;
}

namespace {
/// Whether writing to the slots may change the array before it has been copied.
bool clashes(const KernelArray& a, const std::vector<Slot>& slots) {
  if (a.memory == kUnknownMemory) return true;
  for (const Slot& s : slots) {
    const auto* to = std::get_if<KernelArray>(&s);
    if (to != nullptr && (to->memory == a.memory || to->memory == kUnknownMemory)) return true;
  }
  return false;
}
}  // namespace

void assign(Thread& t, const std::vector<Slot>& slots, const std::vector<KernelValue>& values,
            const std::vector<VarId>& types_of) {
  std::vector<KernelValue> moved = values;
  for (size_t k = 0; k < slots.size(); k++) {
    const auto* a = std::get_if<KernelArray>(&values[k]);
    if (a == nullptr || a->kind != ArrayKind::kMemory) continue;
    if (identical(*a, std::get<KernelArray>(slots[k])) || !clashes(*a, slots)) continue;
    const ir::Type& type = t.ir().type_of(types_of[k]);
    const KernelArray aside = allocate(t, type.prim, type.dims);
    copy(t, *a, aside);
    moved[k] = aside;
  }
  for (size_t k = 0; k < slots.size(); k++) {
    if (const auto* a = std::get_if<KernelArray>(&moved[k])) {
      copy(t, *a, std::get<KernelArray>(slots[k]));
    }
  }
  for (size_t k = 0; k < slots.size(); k++) {
    if (const auto* x = std::get_if<Value>(&moved[k])) t.k.assign(std::get<kir::Var>(slots[k]), *x);
  }
}

}  // namespace kenaz::body
