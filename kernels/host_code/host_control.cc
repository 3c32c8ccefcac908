// Control flow and calls at host level.
#include "kernels/body/analysis.h"
#include "kernels/host_code/behind.h"
#include "kernels/host_code/host_gen.h"
#include "kernels/host_code/segments.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::host_code {

using ir::VarId;

void HostGen::body(const ir::Body& b) {
  std::set<size_t> done;
  for (size_t n = 0; n < b.stms.size(); n++) {
    if (failed()) return;
    if (done.contains(n)) continue;
    const auto map = map_behind(*this, uses_, b, n);
    if (map) done.insert(*map);
    stm(b.stms[n], map ? &b.stms[*map] : nullptr);
  }
}

void HostGen::stm(const ir::Stm& s, const ir::Stm* behind) {
  copies_are_for(s.prov);
  std::visit(Overloaded{
                 [&](const ir::EAtom& e) {
                   if (ir_.type_of(e.atom).is_scalar()) {
                     set(s.pat[0], host_scalar(e.atom));
                   } else {
                     set(s.pat[0], array(e.atom.var()));
                   }
                 },
                 [&](const ir::EPrim& e) {
                   std::vector<Operand> args;
                   for (const auto& a : e.args) args.push_back(scalar(a));
                   set(s.pat[0], HostScalar{scalar_op_result(e.op, e.type, e.to),
                                            emit_op(e.op, e.type, e.to, std::move(args))});
                 },
                 [&](const ir::EIndex& e) { index(s, e); },
                 [&](const ir::EUpdate& e) { update(s, e); },
                 [&](const ir::EIota& e) {
                   HostArray a;
                   a.elem = e.type;
                   a.kind = ArrayKind::kIota;
                   a.layout.dims = {scalar(e.n)};
                   a.start = scalar(e.start);
                   a.stride = scalar(e.stride);
                   set(s.pat[0], std::move(a));
                 },
                 [&](const ir::EReplicate& e) { replicate(s, e); },
                 [&](const ir::EScratch& e) { scratch(s, e); },
                 [&](const ir::EArrayLit& e) { array_literal(s, e); },
                 [&](const ir::EConcat& e) { concat(s, e); },
                 [&](const ir::ERearrange& e) { rearrange(s, e); },
                 [&](const ir::EReshape& e) { reshape(s, e); },
                 [&](const ir::ECopy& e) {
                   const HostArray from = array(e.array);
                   const HostArray to = make(s.pat[0]);
                   copy(from, to);
                   set(s.pat[0], to);
                 },
                 [&](const ir::EAssert& e) { check(s, e); },
                 [&](const ir::EIf& e) { host_if(s, e); },
                 [&](const ir::ELoop& e) { host_loop(s, e); },
                 [&](const ir::ECall& e) { call(s, e); },
                 [&](const ir::ESeg& e) {
                   if (recorder_ != nullptr) recorder_->operation(s, e);
                   if (recorder_ != nullptr && behind != nullptr)
                     recorder_->takes_map(behind->prov);
                   segment(*this, s, e, behind);
                 },
                 [&](const ir::ETune& e) {
                   set(s.pat[0], HostScalar{PrimType::kI64, tune(e.id.index)});
                 },
                 // Not at stage seg, or gone (prepare.h).
                 [&](const ir::ESoac&) { CHECK(false); },
                 [&](const ir::EScatter&) { CHECK(false); },
                 [&](const ir::EHist&) { CHECK(false); },
                 [&](const ir::EPack&) { CHECK(false); },
                 [&](const ir::ESort&) { CHECK(false); },
                 [&](const ir::EJvp&) { CHECK(false); },
                 [&](const ir::EVjp&) { CHECK(false); },
                 [&](const ir::EWithVjp&) { CHECK(false); },
                 [&](const ir::EVersions&) { CHECK(false); },
             },
             s.exp);
}

void HostGen::check(const ir::Stm& s, const ir::EAssert& e) {
  const Operand cond = scalar(e.cond);
  set(s.pat[0], HostScalar{PrimType::kBool, Operand(PrimValue::of_bool(true))});
  if (const auto* c = std::get_if<PrimValue>(&cond); c != nullptr && c->as_bool()) return;
  program::OpAssert op;
  op.cond = cond;
  for (const auto& part : e.message) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      op.message.emplace_back(*text);
    } else {
      op.message.emplace_back(scalar(std::get<ir::Atom>(part)));
    }
  }
  op.backtrace = ir_.backtrace(s.prov);
  emit({std::move(op)});
}

// ---- branches

void HostGen::host_if(const ir::Stm& s, const ir::EIf& e) {
  const Operand cond = scalar(e.cond);
  if (updates_in_place(ir_, e.then_body) || updates_in_place(ir_, e.else_body)) settle_borrowed();
  program::OpIf op;
  op.cond = cond;
  std::vector<ScalarReg> scalars(s.pat.size());
  std::vector<BlockReg> blocks(s.pat.size());
  for (size_t k = 0; k < s.pat.size(); k++) {
    const ir::Type& t = ir_.type_of(s.pat[k]);
    if (t.is_scalar()) {
      scalars[k] = new_scalar(t.prim);
    } else {
      blocks[k] = new_block();
    }
  }
  for (const bool then : {true, false}) {
    const ir::Body& b = then ? e.then_body : e.else_body;
    Scope scope(*this, then ? op.then_code : op.else_code);
    if (recorder_ != nullptr) recorder_->enter(e.cond, then);
    body(b);
    if (recorder_ != nullptr) recorder_->leave();
    for (size_t k = 0; k < s.pat.size() && !failed(); k++) {
      if (ir_.type_of(s.pat[k]).is_scalar()) {
        set_scalar(scalars[k], scalar(b.results[k]));
      } else {
        const HostArray a = normalised(array(b.results[k].var()));
        emit({program::OpMoveBlock{blocks[k], a.block}});
      }
    }
  }
  if (failed()) return;
  emit({std::move(op)});
  for (size_t k = 0; k < s.pat.size(); k++) {
    const ir::Type& t = ir_.type_of(s.pat[k]);
    if (t.is_scalar()) set(s.pat[k], HostScalar{t.prim, Operand(scalars[k])});
  }
  for (size_t k = 0; k < s.pat.size(); k++) {
    const ir::Type& t = ir_.type_of(s.pat[k]);
    if (!t.is_scalar()) set(s.pat[k], block_array(t, blocks[k]));
  }
}

// ---- loops

void HostGen::host_loop(const ir::Stm& s, const ir::ELoop& e) {
  if (updates_in_place(ir_, e.body)) settle_borrowed();
  const size_t n = e.params.size();
  std::vector<ScalarReg> scalars(n);
  std::vector<BlockReg> blocks(n);
  for (size_t k = 0; k < n; k++) {
    const ir::Type& t = ir_.type_of(e.params[k].var);
    if (t.is_scalar() && !e.params[k].kept) {
      scalars[k] = new_scalar(t.prim);
      set_scalar(scalars[k], scalar(e.params[k].init));
      continue;
    }
    blocks[k] = new_block();
    const BlockReg init = t.is_scalar() ? word_of(host_scalar(e.params[k].init))
                                        : normalised(array(e.params[k].init.var())).block;
    emit({program::OpMoveBlock{blocks[k], init}});
  }
  const auto bind_params = [&](const auto& var_of) {
    for (size_t k = 0; k < n; k++) {
      const ir::Type& t = ir_.type_of(var_of(k));
      if (!t.is_scalar()) continue;
      HostScalar s{t.prim, Operand(scalars[k])};
      if (e.params[k].kept) s.at = DeviceScalar{blocks[k], konst(0)};
      set(var_of(k), s);
    }
    for (size_t k = 0; k < n; k++) {
      const ir::Type& t = ir_.type_of(var_of(k));
      if (!t.is_scalar()) set(var_of(k), block_array(t, blocks[k]));
    }
  };
  program::OpWhile op;
  const auto* counted = std::get_if<ir::LoopFor>(&e.form);
  ScalarReg i;
  PrimType i_type = PrimType::kI64;
  Operand bound;
  if (counted != nullptr) {
    i_type = ir_.type_of(counted->index).prim;
    bound = scalar(counted->bound);
    i = new_scalar(i_type);
    set_scalar(i, PrimValue{i_type, 0});
    Scope scope(*this, op.head);
    op.cond = emit_op(ScalarOp::kLt, i_type, PrimType::kBool, {i, bound});
  } else {
    const VarId cond = std::get<ir::LoopWhile>(e.form).cond;
    for (size_t k = 0; k < n; k++) {
      if (e.params[k].var == cond) op.cond = scalars[k];
    }
  }
  {
    Scope scope(*this, op.body);
    if (counted != nullptr) set(counted->index, HostScalar{i_type, Operand(i)});
    bind_params([&](size_t k) { return e.params[k].var; });
    body(e.body);
    if (failed()) return;
    loop_results(e, scalars, blocks);
    if (counted != nullptr) {
      set_scalar(i, emit_op(ScalarOp::kAdd, i_type, i_type, {i, PrimValue::of_int(i_type, 1)}));
    }
  }
  emit({std::move(op)});
  bind_params([&](size_t k) { return s.pat[k]; });
}

/// All at once: a result may be another parameter.
void HostGen::loop_results(const ir::ELoop& e, const std::vector<ScalarReg>& scalars,
                           const std::vector<BlockReg>& blocks) {
  std::vector<Operand> values(scalars.size());
  std::vector<BlockReg> moved(blocks.size());
  for (size_t k = 0; k < e.params.size(); k++) {
    const ir::Atom& r = e.body.results[k];
    const ir::Type& t = ir_.type_of(e.params[k].var);
    if (t.is_scalar() && !e.params[k].kept) {
      values[k] = scalar(r);
      if (e.params.size() > 1 && !r.is_const()) {
        const ScalarReg aside = new_scalar(t.prim);
        set_scalar(aside, values[k]);
        values[k] = aside;
      }
      continue;
    }
    const BlockReg made =
        t.is_scalar() ? word_of(host_scalar(r)) : normalised(array(r.var())).block;
    moved[k] = made;
    if (made != blocks[k] && e.params.size() > 1) {
      moved[k] = new_block();
      emit({program::OpMoveBlock{moved[k], made}});
    }
  }
  for (size_t k = 0; k < e.params.size(); k++) {
    if (ir_.type_of(e.params[k].var).is_scalar() && !e.params[k].kept) {
      set_scalar(scalars[k], values[k]);
    } else if (moved[k] != blocks[k]) {
      emit({program::OpMoveBlock{blocks[k], moved[k]}});
    }
  }
}

// ---- calls: translated in place, except of functions that call themselves

void HostGen::call(const ir::Stm& s, const ir::ECall& e) {
  const ir::Function& f = ir_.functions[e.fun.index];
  if (functions_.count(e.fun.index) != 0) return recursive_call(s, e);
  CHECK(call_depth_ < kMaxCallDepth);
  call_depth_++;
  std::vector<HostValue> args;
  for (const auto& a : e.args) {
    if (ir_.type_of(a).is_scalar()) {
      args.emplace_back(host_scalar(a));
    } else {
      args.emplace_back(array(a.var()));
    }
  }
  for (size_t k = 0; k < f.params.size(); k++) set(f.params[k], args[k]);
  for (const auto& [size, at] : size_variables(ir_, f)) {
    const auto& a = std::get<HostArray>(args[at.first]);
    set(size, HostScalar{PrimType::kI64, a.layout.dims[at.second]});
  }
  body(f.body);
  if (failed()) return;
  for (size_t k = 0; k < s.pat.size(); k++) {
    const ir::Atom& r = f.body.results[k];
    if (ir_.type_of(r).is_scalar()) {
      set(s.pat[k], host_scalar(r));
    } else {
      set(s.pat[k], array(r.var()));
    }
  }
  call_depth_--;
}

}  // namespace kenaz::host_code
