#include "kernels/kir/passes/rename.h"

#include "kernels/kir/visit.h"

namespace kenaz::kir {

void Renaming::rename(Value& v) const {
  if (v.is_const()) return;
  if (const auto it = vals_.find(v.id().index); it != vals_.end()) v = it->second;
}

void Renaming::bind(ValId& v) {
  const Type type = kernel_.vals[v.index];
  const ValId fresh = kernel_.new_val(type);
  replace(v, Value(type, fresh));
  v = fresh;
}

void Renaming::rename(Inst& i) {
  rename(i, [this](Block& inner) { rename(inner); });
}

void Renaming::rename(Inst& i, const std::function<void(Block&)>& inside) {
  visit_operands(i.op, [&](Value& v) { rename(v); });
  visit_binders(i.op, [&](ValId& v) { bind(v); });
  if (const auto* declare = std::get_if<IDeclare>(&i.op)) {
    const uint32_t var = declare->var.index;
    vars_.insert_or_assign(var, kernel_.new_var(kernel_.vars[var]));
  }
  visit_var(i.op, [&](VarId& v) {
    if (const auto it = vars_.find(v.index); it != vars_.end()) v = it->second;
  });
  visit_blocks(i.op, inside);
  visit_end_operands(i.op, [&](Value& v) { rename(v); });
  visit_results(i.op, [&](ValId& v) { bind(v); });
}

void Renaming::rename(Block& b) {
  for (Inst& i : b.insts) rename(i);
}

}  // namespace kenaz::kir
