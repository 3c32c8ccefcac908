#include "kernels/kir/varying.h"

#include "kernels/kir/visit.h"

namespace kenaz::kir {

Varying::Varying(const Kernel& kernel) : vals_(kernel.vals.size()), vars_(kernel.vars.size()) {
  for (const Function& f : kernel.functions) {
    for (const ValId v : f.params) vals_[v.index] = true;
  }
  do {  // loops may carry what varies to where they begin
    changed_ = false;
    for_each_body(kernel, [&](const Block& b) { pass(b, false); });
  } while (changed_);
}

bool Varying::varies(const Address& a) const {
  if (std::holds_alternative<LocalId>(a.base)) return true;
  const auto* base = std::get_if<Value>(&a.base);
  return (base != nullptr && varies(*base)) || varies(a.index);
}

void Varying::mark(std::vector<bool>& all, size_t n, bool varies) {
  if (!varies || all[n]) return;
  all[n] = true;
  changed_ = true;
}

void Varying::pass(const Block& block, bool condition) {
  for (const Inst& i : block.insts) step(i, condition);
}

void Varying::step(const Inst& inst, bool condition) {
  bool operands = false;
  visit_operands(inst.op, [&](const Value& v) { operands = operands || varies(v); });
  bool varies = operands;
  if (const auto* builtin = std::get_if<IBuiltin>(&inst.op)) {
    varies = builtin->kind == BuiltinKind::kLocal || builtin->kind == BuiltinKind::kLane ||
             builtin->kind == BuiltinKind::kSubgroup;
  } else if (const auto* load = std::get_if<ILoad>(&inst.op)) {
    varies = this->varies(load->from);
  } else if (const auto* read = std::get_if<IRead>(&inst.op)) {
    varies = vars_[read->var.index];
  } else if (std::holds_alternative<ICall>(inst.op) || std::holds_alternative<ISubgroup>(inst.op) ||
             std::holds_alternative<IAtomic>(inst.op)) {
    varies = true;
  } else if (const auto* loop = std::get_if<IFor>(&inst.op)) {
    mark(vals_, loop->index.index, this->varies(loop->from) || this->varies(loop->step));
  } else if (std::holds_alternative<IDeclare>(inst.op) ||
             std::holds_alternative<IAssign>(inst.op)) {
    visit_var(inst.op, [&](VarId v) { mark(vars_, v.index, operands || condition); });
  }
  visit_results(inst.op, [&](ValId v) { mark(vals_, v.index, varies); });
  visit_end_operands(inst.op, [&](const Value& v) { operands = operands || this->varies(v); });
  visit_blocks(inst.op, [&](const Block& b) { pass(b, condition || operands); });
}

}  // namespace kenaz::kir
