// Branches and loops that the threads of a workgroup go through together.
#include "kernels/host_code/group_code.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::host_code {

using body::ArrayKind;
using ir::VarId;

void GroupCode::branch(const ir::Stm& s, const ir::EIf& e) {
  const Value cond = t_.env.scalar(e.cond);
  if (cond.is_const()) {
    const auto results = body(cond.is_bool(true) ? e.then_body : e.else_body);
    for (size_t k = 0; k < s.pat.size() && !host_.failed(); k++) t_.env.bind(s.pat[k], results[k]);
    return;
  }
  std::map<size_t, kir::Var> scalars;
  std::map<size_t, Array> joined;
  for (size_t k = 0; k < s.pat.size(); k++) {
    const ir::Type& type = t_.ir().type_of(s.pat[k]);
    if (type.is_scalar()) {
      scalars.emplace(k, t_.k.declare(kir::Type{type.prim}));
    } else {
      joined.emplace(k, new_array(s.pat[k]));
    }
  }
  const bool before = dirty_, stopping = stopping_;
  bool after = false, stopping_after = false;
  const auto side = [&](const ir::Body& b) {
    dirty_ = before;
    stopping_ = stopping;
    const std::vector<Result> results = body(b);
    if (host_.failed()) return;
    for (const auto& [k, to] : joined) move(std::get<Array>(results[k]), to);
    for (const auto& [k, var] : scalars) t_.k.assign(var, std::get<Value>(results[k]));
    after = after || dirty_;
    stopping_after = stopping_after || stopping_;
  };
  t_.k.if_(
      cond, [&] { side(e.then_body); }, [&] { side(e.else_body); });
  dirty_ = after;
  stopping_ = stopping_after;
  for (const auto& [k, var] : scalars) t_.env.bind(s.pat[k], t_.k.read(var));
  for (const auto& [k, to] : joined) t_.env.bind(s.pat[k], to);
}

// Where an array stays throughout: as in a loop of one thread.
body::KernelArray GroupCode::loop_memory(const ir::ELoop& e, size_t k) {
  const ir::ELoop::Param& param = e.params[k];
  const Array init = t_.env.array(param.init.var());
  const bool consumed = ir::consumed_params(t_.ir(), e).contains(param.var);
  if (consumed && init.kind == ArrayKind::kMemory) return init;
  if (!consumed && e.body.results[k] == ir::Atom(param.var)) return init;
  const Array memory = new_array(param.var);
  move(init, memory);
  return memory;
}

void GroupCode::loop(const ir::Stm& s, const ir::ELoop& e) {
  const auto& form = std::get<ir::LoopFor>(e.form);
  std::map<size_t, kir::Var> scalars;
  std::map<size_t, Array> memory;
  for (size_t k = 0; k < e.params.size(); k++) {
    if (t_.ir().type_of(e.params[k].var).is_scalar()) {
      scalars.emplace(k, t_.k.declare(t_.env.scalar(e.params[k].init)));
    } else {
      memory.emplace(k, loop_memory(e, k));
    }
  }
  if (host_.failed()) return;
  const auto bind = [&](size_t k, VarId v) {
    if (const auto var = scalars.find(k); var != scalars.end()) {
      t_.env.bind_param(v, t_.k.read(var->second));
    } else {
      t_.env.bind_param(v, memory.at(k));
    }
  };
  // What is read before an iteration is separated from what it writes.
  if (dirty_ || stopping_) after_write();
  t_.k.for_(
      t_.env.scalar(form.bound),
      [&](const Value& i) {
        t_.env.bind_param(form.index, i);
        for (size_t k = 0; k < e.params.size(); k++) bind(k, e.params[k].var);
        const std::vector<Result> results = body(e.body);
        t_.k.set_prov(s.prov);
        if (host_.failed()) return;
        next(e, scalars, memory, results);
        if (dirty_ || stopping_) after_write();
      },
      true);
  for (size_t k = 0; k < s.pat.size(); k++) bind(k, s.pat[k]);
}

// All at once: results may be other parameters.
void GroupCode::next(const ir::ELoop& e, const std::map<size_t, kir::Var>& scalars,
                     const std::map<size_t, Array>& memory, const std::vector<Result>& results) {
  std::map<size_t, Array> moved;
  for (const auto& [k, to] : memory) {
    const Array& from = std::get<Array>(results[k]);
    if (!body::identical(from, to)) moved.emplace(k, from);
  }
  const auto clashes = [&](const Array& from) {
    if (from.kind != ArrayKind::kMemory) return false;
    bool found = from.memory == body::kUnknownMemory;
    for (const auto& [k, unused] : moved) found = found || memory.at(k).memory == from.memory;
    return found;
  };
  for (auto& [k, from] : moved) {
    if (!clashes(from)) continue;
    const Array aside = new_array(e.params[k].var);
    move(from, aside);
    from = aside;
  }
  if (!moved.empty()) {
    before_write();
    for (const auto& [k, from] : moved) copy(from, memory.at(k));
    after_write();
  }
  for (const auto& [k, var] : scalars) t_.k.assign(var, std::get<Value>(results[k]));
}

}  // namespace kenaz::host_code
