// Top-level constants: computed once, for those functions that need them.
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/eval/machine.h"

namespace kenaz::ir::eval {

namespace {

template <class F>
void for_each_call(const Body& b, F f) {
  for (const Stm& s : b.stms) {
    if (const auto* call = std::get_if<ECall>(&s.exp)) f(call->fun);
    visit_bodies(s.exp, [&](const Body& inner) { for_each_call(inner, f); });
  }
}

}  // namespace

bool Machine::run_constants() {
  return have_constants_ = have_constants_ || run(program.constants);
}

bool Machine::needs_constants(FunId function) {
  const auto [known, is_new] = needs_constants_.try_emplace(function.index, false);
  if (!is_new) return known->second;
  const Function& f = program.functions[function.index];
  VarSet constants;
  for_each_bound(program.constants, [&](VarId v) { constants.insert(v); });
  bool needs = false;
  const auto use = [&](VarId v) { needs = needs || constants.contains(v); };
  for_each_use(program, f.body, use);
  for (const auto* list : {&f.params, &f.ret_size_vars}) {
    for (const VarId v : *list) uses_detail::type_uses(program.type_of(v), use);
  }
  for_each_call(f.body, [&](FunId callee) { needs = needs || needs_constants(callee); });
  return needs_constants_[function.index] = needs;
}

}  // namespace kenaz::ir::eval
