// Constants, functions and entry points.
#include "kernels/host_code/host_gen.h"

#include <fmt/format.h>

#include "protocol/base/check.h"

namespace kenaz::host_code {

using ir::VarId;

Status HostGen::run() {
  out_.types = lowered_.types;
  for (const ir::Tune& t : ir_.tunes) {
    auto cls = program::TuningClass::kNumber;
    if (t.cls == ir::TuneClass::kThreshold) cls = program::TuningClass::kThreshold;
    if (t.cls == ir::TuneClass::kUser) cls = program::TuningClass::kUser;
    out_.tuning.push_back({t.name, cls, t.fallback.value_or(target_.threads)});
  }
  find_functions();
  gen_constants();
  for (const auto& [id, index] : functions_) {
    if (!failed()) gen_function(id);
  }
  for (const auto& e : lowered_.entries) {
    if (failed()) break;
    gen_entry(e);
  }
  if (failed()) return fail(ErrorKind::kCompile, error());
  return {};
}

// ---- entry points

void HostGen::gen_constants() {
  begin_function("constants");
  emit_to(&out_.constants);
  body(ir_.constants);
  std::set<BlockReg> keep;
  for (const auto& r : ir_.constants.results) {
    if (failed()) return;
    if (r.is_const()) continue;
    if (ir_.type_of(r).is_scalar()) {
      scalar(r);
      continue;
    }
    HostArray a = array(r.var());
    if (a.kind == ArrayKind::kReplicate) {
      a.value = HostScalar{a.elem, read(a.value)};
      set(r.var(), a);
    }
    if (a.kind == ArrayKind::kMemory) keep.insert(a.block);
  }
  insert_releases(out_.constants, keep);
  out_.constant_scalar_regs = scalar_regs();
  out_.constant_block_regs = block_regs();
}

void HostGen::begin_function(const std::string& name) {
  if (recorder_ != nullptr) recorder_->begin_entry(name);
  begin_registers();
  begin_kernels(name);
  begin_variables();
  begin_arrays();
}

void HostGen::gen_entry(const EntryPoint& point) {
  const ir::Function* f = nullptr;
  for (const auto& e : ir_.entries) {
    if (e.name == point.name) f = &ir_.functions[e.fun.index];
  }
  CHECK(f != nullptr);
  begin_function(point.name);
  program::Entry entry;
  entry.name = point.name;
  entry.attrs = point.attrs;
  entry.doc = point.doc;
  entry.result_type = point.result;
  entry.result_unique = point.result_unique;
  {
    Scope scope(*this, entry.code);
    entry_params(point, *f, entry);
    body(f->body);
    if (!failed()) entry_results(*f, entry);
  }
  if (failed()) return;
  std::set<BlockReg> keep;
  for (const auto& leaf : entry.result) {
    if (const auto* a = std::get_if<program::ArrayLeaf>(&leaf)) keep.insert(a->block);
  }
  insert_releases(entry.code, keep);
  std::set<uint32_t> tuning = tuned();
  tuning.insert(functions_tuning_.begin(), functions_tuning_.end());
  entry.tuning.assign(tuning.begin(), tuning.end());
  entry.scalar_regs = scalar_regs();
  entry.block_regs = block_regs();
  out_.entries[entry.name] = std::move(entry);
}

void HostGen::entry_params(const EntryPoint& point, const ir::Function& f, program::Entry& out) {
  // A size variable has one register, whatever names it; the engine checks that all agree.
  for (VarId p : f.params) {
    const ir::Type& t = ir_.type_of(p);
    if (t.is_scalar()) set(p, HostScalar{t.prim, Operand(new_scalar(t.prim))});
  }
  for (VarId p : f.params) {
    for (const auto& d : ir_.type_of(p).dims) {
      if (!d.is_const() && !is_bound(d.var())) {
        set(d.var(), HostScalar{PrimType::kI64, Operand(new_scalar(PrimType::kI64))});
      }
    }
  }
  size_t next = 0;
  for (const auto& param : point.params) {
    program::Entry::Param to;
    to.name = param.name;
    to.type = param.type;
    to.consumed = param.unique;
    const size_t leaves = lowered_.types.at(param.type).leaves.size();
    for (size_t k = 0; k < leaves; k++) {
      to.leaves.push_back(param_leaf(f.params[next++]));
      const auto* array = std::get_if<program::ArrayLeaf>(&to.leaves.back());
      if (array == nullptr || !target_.interprets) continue;
      name_block(array->block, leaves == 1 ? param.name : fmt::format("{}.{}", param.name, k));
    }
    out.params.push_back(std::move(to));
  }
}

program::Leaf HostGen::param_leaf(VarId p) {
  const ir::Type& t = ir_.type_of(p);
  if (t.is_scalar()) return program::ScalarLeaf{t.prim, scalar(p)};
  program::ArrayLeaf leaf{t.prim, new_block(), {}};
  for (const auto& d : t.dims) {
    const Operand known = scalar(d);
    const auto* reg = std::get_if<ScalarReg>(&known);
    if (reg != nullptr && reg->index >= static_cast<uint32_t>(out_.constant_scalar_regs)) {
      leaf.dims.push_back(known);
    } else if (reg == nullptr) {
      leaf.dims.push_back(known);  // a constant: the engine checks
    } else {
      // A program constant: its register is preset, so the argument's size gets its own.
      const ScalarReg got = new_scalar(PrimType::kI64);
      leaf.dims.push_back(got);
      program::OpAssert op;
      op.cond = emit_op(ScalarOp::kEq, PrimType::kI64, PrimType::kBool, {got, known});
      op.message.emplace_back(std::string("entry point arguments have invalid sizes."));
      emit({std::move(op)});
    }
  }
  set(p, block_array(t, leaf.block));
  return leaf;
}

void HostGen::entry_results(const ir::Function& f, program::Entry& out) {
  // Everything on the host first: reading submits what is recorded.
  std::vector<HostArray> arrays(f.body.results.size());
  for (size_t k = 0; k < f.body.results.size(); k++) {
    const ir::Atom& r = f.body.results[k];
    if (!ir_.type_of(r).is_scalar()) arrays[k] = normalised(array(r.var()));
  }
  for (size_t k = f.ret_size_vars.size(); k < f.body.results.size(); k++) {
    const ir::Atom& r = f.body.results[k];
    const ir::Type& t = ir_.type_of(r);
    if (t.is_scalar()) {
      out.result.push_back(program::ScalarLeaf{t.prim, scalar(r)});
    } else {
      out.result.push_back(program::ArrayLeaf{t.prim, arrays[k].block, arrays[k].layout.dims});
    }
  }
}

}  // namespace kenaz::host_code
