// Functions that call themselves, and their calls: host code of their own.
#include "kernels/host_code/host_gen.h"
#include "kernels/ir/analysis/calls.h"

namespace kenaz::host_code {

using ir::VarId;

void HostGen::find_functions() {
  const auto recursive = ir::recursive_functions(ir_);
  for (uint32_t id = 0; id < recursive.size(); id++) {
    if (!recursive[id]) continue;
    functions_[id] = static_cast<uint32_t>(out_.functions.size());
    out_.functions.emplace_back().name = ir_.functions[id].name;
  }
}

void HostGen::gen_function(uint32_t id) {
  const ir::Function& f = ir_.functions[id];
  begin_function(f.name);
  program::Function out = out_.functions[functions_[id]];
  const auto scalar_param = [&](VarId v, PrimType type) {
    out.scalars.push_back(new_scalar(type));
    set(v, HostScalar{type, Operand(out.scalars.back())});
  };
  {
    Scope scope(*this, out.code);
    for (const VarId p : f.params) {
      const ir::Type& t = ir_.type_of(p);
      if (t.is_scalar()) scalar_param(p, t.prim);
    }
    for (const auto& [size, at] : size_variables(ir_, f)) scalar_param(size, PrimType::kI64);
    for (const VarId p : f.params) {
      const ir::Type& t = ir_.type_of(p);
      if (t.is_scalar()) continue;
      out.blocks.push_back(new_block());
      set(p, block_array(t, out.blocks.back()));
    }
    body(f.body);
    if (failed()) return;
    for (const ir::Atom& r : f.body.results) {
      if (ir_.type_of(r).is_scalar()) continue;
      out.block_results.push_back(normalised(array(r.var())).block);
    }
    for (const ir::Atom& r : f.body.results) {
      if (ir_.type_of(r).is_scalar()) out.scalar_results.push_back(scalar(r));
    }
  }
  insert_releases(out.code, {out.block_results.begin(), out.block_results.end()});
  functions_tuning_.merge(tuned());
  out.scalar_regs = scalar_regs();
  out.block_regs = block_regs();
  out_.functions[functions_[id]] = std::move(out);
}

void HostGen::recursive_call(const ir::Stm& s, const ir::ECall& e) {
  const ir::Function& f = ir_.functions[e.fun.index];
  program::OpCall op;
  op.function = functions_[e.fun.index];
  op.too_deep = ir::too_deep(f, program::kMaxCallDepth);
  op.backtrace = ir_.backtrace(s.prov);
  settle_borrowed();  // an array that is consumed is updated in place
  std::vector<HostArray> arrays(e.args.size());
  for (size_t k = 0; k < e.args.size(); k++) {
    if (!ir_.type_of(e.args[k]).is_scalar()) arrays[k] = normalised(array(e.args[k].var()));
  }
  for (size_t k = 0; k < e.args.size(); k++) {
    if (ir_.type_of(e.args[k]).is_scalar()) op.scalars.push_back(scalar(e.args[k]));
  }
  for (const auto& [size, at] : size_variables(ir_, f)) {
    op.scalars.push_back(arrays[at.first].layout.dims[at.second]);
  }
  for (size_t k = 0; k < e.args.size(); k++) {
    if (!ir_.type_of(e.args[k]).is_scalar()) op.blocks.push_back(arrays[k].block);
  }
  for (const VarId v : s.pat) {
    const ir::Type& t = ir_.type_of(v);
    if (t.is_scalar()) {
      op.scalar_results.push_back(new_scalar(t.prim));
      set(v, HostScalar{t.prim, Operand(op.scalar_results.back())});
    } else {
      op.block_results.push_back(new_block());
    }
  }
  emit({op});
  size_t next = 0;
  for (const VarId v : s.pat) {
    const ir::Type& t = ir_.type_of(v);
    if (!t.is_scalar()) set(v, block_array(t, op.block_results[next++]));
  }
}

}  // namespace kenaz::host_code
