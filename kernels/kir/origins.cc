#include "kernels/kir/origins.h"

#include "kernels/kir/visit.h"

namespace kenaz::kir {

bool Origins::Origin::add(const Origin& other) {
  const size_t before = args.size() + (loaded ? 1 : 0);
  args.insert(other.args.begin(), other.args.end());
  loaded = loaded || other.loaded;
  return args.size() + (loaded ? 1 : 0) != before;
}

Origins::Origins(const Kernel& kernel)
    : kernel_(kernel),
      reached_(kernel.functions.size()),
      vals_(kernel.vals.size()),
      vars_(kernel.vars.size()) {
  for (size_t i = 0; i < kernel.args.size(); i++) {
    if (kernel.args[i].is_block) vals_[kernel.args[i].val.index].args.insert(i);
  }
  find_reached();
  // Callers first, so that parameters are known where they are used. What is added stays.
  bool changed = true;
  while (changed) {
    changed = pass(kernel.main);
    for (size_t f = kernel.functions.size(); f-- > 0;) {
      if (reached_[f]) changed = pass(kernel.functions[f].body) || changed;
    }
  }
}

void Origins::find_reached() {
  const auto calls = [&](const Inst& i) {
    if (const auto* call = std::get_if<ICall>(&i.op)) reached_[call->function.index] = true;
  };
  for_each_inst(kernel_.main, calls);
  for (size_t f = kernel_.functions.size(); f-- > 0;) {
    if (reached_[f]) for_each_inst(kernel_.functions[f].body, calls);
  }
}

Origins::Origin Origins::of(const Value& v) const {
  return v.is_const() ? Origin{} : vals_[v.id().index];
}

Origins::Origin Origins::of_prim(const IPrim& inst) const {
  Origin all;
  // A truth value or a float is no address, nor a part of one.
  if (!is_integer(scalar_op_result(inst.op, inst.type, inst.to))) return all;
  const bool chooses =
      inst.op == ScalarOp::kSelect || inst.op == ScalarOp::kMin || inst.op == ScalarOp::kMax;
  for (size_t i = inst.op == ScalarOp::kSelect ? 1 : 0; i < inst.args.size(); i++) {
    all.add(of(inst.args[i]));
  }
  if (!chooses && !all.args.empty()) all.loaded = false;
  return all;
}

bool Origins::step(const Inst& inst) {
  bool changed = false;
  const auto loaded = [&](ValId dst) {
    if (dst.valid()) vals_[dst.index].loaded = true;
  };
  const Overloaded visitor{
      [&](const IPrim& i) { vals_[i.dst.index] = of_prim(i); },
      [&](const ICompose& i) {
        for (const Value& v : i.lanes) vals_[i.dst.index].add(of(v));
      },
      [&](const IExtract& i) { vals_[i.dst.index] = of(i.vector); },
      [&](const ILoad& i) { loaded(i.dst); },
      [&](const IAtomic& i) { loaded(i.dst); },
      [&](const ISubgroup& i) { vals_[i.dst.index] = of(i.value); },
      [&](const IDeclare& i) { changed = i.init && vars_[i.var.index].add(of(*i.init)); },
      [&](const IRead& i) { vals_[i.dst.index] = vars_[i.var.index]; },
      [&](const IAssign& i) { changed = vars_[i.var.index].add(of(i.value)); },
      // A loop over addresses.
      [&](const IFor& i) {
        vals_[i.index.index] = of(i.from);
        vals_[i.index.index].add(of(i.step));
      },
      [&](const ICall& i) {
        const Function& f = kernel_.functions[i.function.index];
        for (size_t n = 0; n < i.args.size(); n++) {
          changed = vals_[f.params[n].index].add(of(i.args[n])) || changed;
        }
        for (size_t n = 0; n < i.dsts.size(); n++) {
          changed = vals_[i.dsts[n].index].add(of(f.results[n])) || changed;
        }
      },
      [](const auto&) {},
  };
  std::visit(visitor, inst.op);
  return changed;
}

bool Origins::pass(const Block& block) {
  bool changed = false;
  for_each_inst(block, [&](const Inst& i) { changed = step(i) || changed; });
  return changed;
}

std::vector<size_t> Origins::blocks_of(const Value& base) const {
  const Origin origin = of(base);
  std::vector<size_t> blocks(origin.args.begin(), origin.args.end());
  if (!origin.loaded && !blocks.empty()) return blocks;
  blocks.clear();
  for (size_t i = 0; i < kernel_.args.size(); i++) {
    if (kernel_.args[i].is_block) blocks.push_back(i);
  }
  return blocks;
}

}  // namespace kenaz::kir
