// IR statements inside a thread.
#include <fmt/format.h>

#include "kernels/glsl/types.h"
#include "kernels/gpu/analysis.h"
#include "kernels/gpu/kernel_gen.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::gpu {

using ir::VarId;

// ---- operands

KernelValue KernelGen::value(const ir::Atom& a) {
  if (a.is_const()) return constant(a.constant());
  const VarId v = a.var();
  if (auto it = env_.find(v); it != env_.end()) return it->second;
  const HostValue& h = host_.value(v);
  if (const auto* s = std::get_if<HostScalar>(&h)) {
    // Loaded where it is needed: this place may be inside a branch.
    Expr e = import_scalar(*s);
    if (std::holds_alternative<Operand>(s->at)) env_[v] = e;
    return e;
  }
  const HostArray& array = std::get<HostArray>(h);
  KernelArray k = import_array(array);
  if (array.kind != ArrayKind::kReplicate) env_[v] = k;
  return k;
}

Expr KernelGen::scalar(const ir::Atom& a) {
  KernelValue v = value(a);
  CHECK(v.index() == 0);
  return std::get<Expr>(std::move(v));
}

KernelArray KernelGen::array(VarId v) {
  KernelValue k = value(v);
  CHECK(k.index() == 1);
  return std::get<KernelArray>(std::move(k));
}

std::vector<Expr> KernelGen::exprs(const std::vector<ir::Atom>& atoms) {
  std::vector<Expr> out;
  for (const auto& a : atoms) out.push_back(scalar(a));
  return out;
}

// A size that is the same for all threads: bound outside of the kernel, or computed from such.
std::optional<Operand> KernelGen::on_host(const ir::Atom& a) {
  if (a.is_const()) return Operand(a.constant());
  const VarId v = a.var();
  if (auto it = env_.find(v); it != env_.end()) {
    if (const auto* e = std::get_if<Expr>(&it->second); e && e->constant) {
      return Operand(*e->constant);
    }
  }
  if (auto it = hoisted_.find(v); it != hoisted_.end()) return it->second;
  auto def = defs_.find(v);
  if (def == defs_.end()) {
    if (!host_.is_bound(v) || bound_here_.count(v)) return std::nullopt;
    return host_.scalar(a);
  }
  std::optional<Operand> result;
  if (const auto* atom = std::get_if<ir::EAtom>(&def->second->exp)) result = on_host(atom->atom);
  if (const auto* prim = std::get_if<ir::EPrim>(&def->second->exp)) {
    std::vector<Operand> args;
    for (const auto& arg : prim->args) {
      auto o = on_host(arg);
      if (!o) return std::nullopt;
      args.push_back(*o);
    }
    result = host_.emit_op(prim->op, prim->type, prim->to, std::move(args));
  }
  if (result) hoisted_[v] = *result;
  return result;
}

// ---- where results go

// The memory `dest` is meant for `v`, a result of `b`. If the statement that makes v can make it
// there, it shall.
void KernelGen::spread_dest(const ir::Body& b, VarId v, const KernelArray& dest) {
  for (auto it = b.stms.rbegin(); it != b.stms.rend(); ++it) {
    const ir::Stm& s = *it;
    for (size_t k = 0; k < s.pat.size(); k++) {
      if (s.pat[k] != v) continue;
      if (dests_.count(v)) return;
      dests_[v] = dest;
      if (const auto* atom = std::get_if<ir::EAtom>(&s.exp); atom && !atom->atom.is_const()) {
        spread_dest(b, atom->atom.var(), dest);
      } else if (const auto* update = std::get_if<ir::EUpdate>(&s.exp)) {
        spread_dest(b, update->array, dest);
      } else if (const auto* scatter = std::get_if<ir::EScatter>(&s.exp)) {
        spread_dest(b, scatter->dests[k].array, dest);
      } else if (const auto* loop = std::get_if<ir::ELoop>(&s.exp)) {
        const auto& p = loop->params[k];
        if (!p.init.is_const() && consumed_in(host_.ir(), loop->body).count(p.var)) {
          spread_dest(b, p.init.var(), dest);
        }
      }
      return;
    }
  }
}

std::optional<KernelArray> KernelGen::dest_of(VarId v) const {
  if (auto it = dests_.find(v); it != dests_.end()) return it->second;
  return std::nullopt;
}

KernelArray KernelGen::dest_for(VarId v) {
  if (auto d = dest_of(v)) return *d;
  const ir::Type& t = host_.ir().type_of(v);
  return allocate(t.prim, t.dims);
}

std::vector<KernelValue> KernelGen::body(const ir::Body& b,
                                         const std::vector<std::optional<KernelArray>>& dests) {
  for (size_t k = 0; k < dests.size(); k++) {
    if (dests[k] && !b.results[k].is_const()) spread_dest(b, b.results[k].var(), *dests[k]);
  }
  for (const auto& s : b.stms) {
    if (host_.failed()) break;
    stm(s);
  }
  std::vector<KernelValue> results;
  for (const auto& r : b.results) {
    if (host_.failed()) {
      results.emplace_back(Expr{});
    } else {
      results.push_back(value(r));
    }
  }
  return results;
}

void KernelGen::stm(const ir::Stm& s) {
  place_ = s.prov;
  for (VarId v : s.pat) {
    defs_[v] = &s;
    bound_here_.insert(v);
  }
  std::visit(Overloaded{
                 [&](const ir::EAtom& e) { bind(s.pat[0], value(e.atom)); },
                 [&](const ir::EPrim& e) { bind(s.pat[0], op(e.op, e.type, e.to, exprs(e.args))); },
                 [&](const ir::EIndex& e) { index(s, e); },
                 [&](const ir::EUpdate& e) { update(s, e); },
                 [&](const ir::EIota& e) { iota(s, e); },
                 [&](const ir::EReplicate& e) { replicate(s, e); },
                 [&](const ir::EScratch&) { bind(s.pat[0], dest_for(s.pat[0])); },
                 [&](const ir::EArrayLit& e) { array_literal(s, e); },
                 [&](const ir::EConcat& e) { concat(s, e); },
                 [&](const ir::ERearrange& e) { rearrange(s, e); },
                 [&](const ir::EReshape& e) { reshape(s, e); },
                 [&](const ir::ECopy& e) {
                   const KernelArray d = dest_for(s.pat[0]);
                   copy(array(e.array), d);
                   bind(s.pat[0], d);
                 },
                 [&](const ir::EAssert& e) { check(s, e); },
                 [&](const ir::EIf& e) { branch(s, e); },
                 [&](const ir::ELoop& e) { loop(s, e); },
                 [&](const ir::ECall& e) { call(s, e); },
                 [&](const ir::ESoac& e) { soac(s, e); },
                 [&](const ir::EScatter& e) { scatter(s, e); },
                 [&](const ir::EHist& e) { hist(s, e); },
                 // Threads run no segmented operations yet, and host code chooses versions.
                 [&](const ir::ESeg&) { CHECK(false); },
                 [&](const ir::EVersions&) { CHECK(false); },
                 [&](const ir::ETune&) { CHECK(false); },
             },
             s.exp);
}

// ---- views

SliceDims<Expr> KernelGen::slice_dims(const std::vector<ir::Dim>& dims) {
  SliceDims<Expr> out;
  for (const auto& d : dims) {
    if (const auto* fix = std::get_if<ir::DimFix>(&d)) {
      out.emplace_back(scalar(fix->index));
    } else {
      const auto& r = std::get<ir::DimRange>(d);
      out.emplace_back(SliceRange<Expr>{scalar(r.start), scalar(r.len), scalar(r.stride)});
    }
  }
  return out;
}

KernelArray KernelGen::sliced(const KernelArray& a, const SliceDims<Expr>& dims) {
  KernelArray r = a;
  if (a.kind == ArrayKind::kMemory) {
    r.layout = LayoutMath(*this).slice(a.layout, dims);
    return r;
  }
  r.layout.dims.clear();
  for (const auto& d : dims) {
    if (const auto* range = std::get_if<1>(&d)) r.layout.dims.push_back(range->len);
  }
  if (a.kind == ArrayKind::kIota) {
    const auto& range = std::get<1>(dims[0]);
    r.start = iota_element(a, range.start);
    r.stride = op(ScalarOp::kMul, a.elem, a.elem,
                  {a.stride, op(ScalarOp::kConvert, PrimType::kI64, a.elem, {range.stride})});
  }
  return r;
}

Expr KernelGen::iota_element(const KernelArray& a, const Expr& i) {
  if (a.elem == PrimType::kI64) return add(a.start, mul(i, a.stride));
  const Expr n = op(ScalarOp::kConvert, PrimType::kI64, a.elem, {i});
  return op(ScalarOp::kAdd, a.elem, a.elem,
            {a.start, op(ScalarOp::kMul, a.elem, a.elem, {n, a.stride})});
}

Expr KernelGen::element(const KernelArray& a, const std::vector<Expr>& at) {
  switch (a.kind) {
    case ArrayKind::kIota: return iota_element(a, at[0]);
    case ArrayKind::kReplicate: return a.value;
    case ArrayKind::kMemory: break;
  }
  return load(a, LayoutMath(*this).element(a.layout, at));
}

KernelValue KernelGen::row(const KernelArray& a, const Expr& i) {
  if (a.layout.dims.size() == 1) return element(a, {i});
  if (a.kind == ArrayKind::kMemory) {
    KernelArray r = a;
    r.layout = LayoutMath(*this).row(a.layout, i);
    return r;
  }
  KernelArray r = a;
  r.layout.dims.erase(r.layout.dims.begin());
  return r;
}

void KernelGen::bind_rows(const std::vector<VarId>& params, const std::vector<VarId>& inputs,
                          const Expr& i) {
  for (size_t k = 0; k < inputs.size(); k++) {
    bind(params[k], row(array(inputs[k]), i));
    bound_here_.insert(params[k]);
  }
}

void KernelGen::index(const ir::Stm& s, const ir::EIndex& e) {
  const KernelArray a = array(e.array);
  const SliceDims<Expr> dims = slice_dims(e.dims);
  std::vector<Expr> at;
  for (const auto& d : dims) {
    if (const auto* fix = std::get_if<0>(&d)) at.push_back(*fix);
  }
  if (at.size() == dims.size()) {
    bind(s.pat[0], element(a, at));
  } else {
    bind(s.pat[0], sliced(a, dims));
  }
}

void KernelGen::rearrange(const ir::Stm& s, const ir::ERearrange& e) {
  KernelArray a = array(e.array);
  if (a.kind == ArrayKind::kMemory) {
    a.layout = LayoutMath(*this).rearrange(a.layout, e.perm);
  } else if (e.perm.size() > 1) {
    std::vector<Expr> dims;
    for (int p : e.perm) dims.push_back(a.layout.dims[p]);
    a.layout.dims = std::move(dims);
  }
  bind(s.pat[0], std::move(a));
}

void KernelGen::reshape(const ir::Stm& s, const ir::EReshape& e) {
  KernelArray a = array(e.array);
  if (a.kind == ArrayKind::kReplicate) {
    a.layout.dims = exprs(e.dims);
    bind(s.pat[0], std::move(a));
    return;
  }
  if (a.kind == ArrayKind::kIota && e.dims.size() == 1) {
    bind(s.pat[0], std::move(a));
    return;
  }
  if (a.kind != ArrayKind::kMemory || !a.layout.dense) {
    const ir::Type& t = host_.ir().type_of(e.array);
    const KernelArray d = allocate(t.prim, t.dims);
    copy(a, d);
    a = d;
  }
  a.layout = *LayoutMath(*this).reshape(a.layout, exprs(e.dims));
  bind(s.pat[0], std::move(a));
}

// ---- making arrays

KernelArray KernelGen::in_memory(const KernelArray& a, const std::vector<ir::Atom>& dims) {
  if (a.kind == ArrayKind::kMemory) return a;
  const KernelArray d = allocate(a.elem, dims);
  copy(a, d);
  return d;
}

void KernelGen::copy(const KernelArray& from, const KernelArray& to) {
  if (identical(from, to)) return;
  std::vector<Expr> at;
  const size_t rank = to.layout.dims.size();
  for (size_t k = 0; k < rank; k++) at.push_back(open_for(to.layout.dims[k]));
  copy_element(from, to, at);
  for (size_t k = rank; k-- > 0;) close_for(at[k], to.layout.dims[k]);
}

void KernelGen::copy_element(const KernelArray& from, const KernelArray& to,
                             const std::vector<Expr>& at) {
  const Expr v = element(from, at);
  store(to, LayoutMath(*this).element(to.layout, at), v);
}

void KernelGen::place(const KernelValue& v, const KernelArray& to) {
  if (const auto* e = std::get_if<Expr>(&v)) {
    store(to, to.layout.offset, *e);
  } else {
    copy(std::get<KernelArray>(v), to);
  }
}

void KernelGen::iota(const ir::Stm& s, const ir::EIota& e) {
  KernelArray a;
  a.elem = e.type;
  a.kind = ArrayKind::kIota;
  a.layout.dims = {scalar(e.n)};
  a.start = scalar(e.start);
  a.stride = scalar(e.stride);
  bind_virtual(s.pat[0], std::move(a));
}

void KernelGen::bind_virtual(VarId v, KernelArray a) {
  if (const auto d = dest_of(v)) {
    copy(a, *d);
    a = *d;
  }
  bind(v, std::move(a));
}

void KernelGen::replicate(const ir::Stm& s, const ir::EReplicate& e) {
  const KernelValue v = value(e.value);
  if (const auto* x = std::get_if<Expr>(&v)) {
    KernelArray a;
    a.elem = x->type;
    a.kind = ArrayKind::kReplicate;
    a.layout.dims = exprs(e.dims);
    a.value = *x;
    bind_virtual(s.pat[0], std::move(a));
    return;
  }
  const KernelArray d = dest_for(s.pat[0]);
  KernelArray inner = d;
  const std::vector<Expr> dims = exprs(e.dims);
  std::vector<Expr> at;
  for (const auto& dim : dims) {
    at.push_back(open_for(dim));
    inner.layout = LayoutMath(*this).row(inner.layout, at.back());
  }
  copy(std::get<KernelArray>(v), inner);
  for (size_t k = dims.size(); k-- > 0;) close_for(at[k], dims[k]);
  bind(s.pat[0], d);
}

void KernelGen::array_literal(const ir::Stm& s, const ir::EArrayLit& e) {
  const KernelArray d = dest_for(s.pat[0]);
  for (size_t k = 0; k < e.elems.size(); k++) {
    KernelArray slot = d;
    slot.layout = LayoutMath(*this).row(d.layout, konst(static_cast<int64_t>(k)));
    place(value(e.elems[k]), slot);
  }
  bind(s.pat[0], d);
}

void KernelGen::concat(const ir::Stm& s, const ir::EConcat& e) {
  const KernelArray d = dest_for(s.pat[0]);
  Expr start = konst(0);
  for (VarId v : e.arrays) {
    const KernelArray part = array(v);
    SliceDims<Expr> dims;
    dims.push_back(SliceRange<Expr>{start, part.layout.dims[0], konst(1)});
    for (size_t k = 1; k < d.layout.dims.size(); k++) {
      dims.push_back(SliceRange<Expr>{konst(0), d.layout.dims[k], konst(1)});
    }
    copy(part, sliced(d, dims));
    start = add(start, part.layout.dims[0]);
  }
  bind(s.pat[0], d);
}

void KernelGen::update(const ir::Stm& s, const ir::EUpdate& e) {
  KernelArray a = array(e.array);
  if (a.kind != ArrayKind::kMemory) {
    const KernelArray d = dest_of(e.array) ? *dest_of(e.array) : dest_for(s.pat[0]);
    copy(a, d);
    a = d;
  }
  KernelArray slot = a;
  slot.layout = LayoutMath(*this).slice(a.layout, slice_dims(e.dims));
  place(value(e.value), slot);
  bind(s.pat[0], a);
}

// ---- checks and calls

void KernelGen::check(const ir::Stm& s, const ir::EAssert& e) {
  const Expr cond = scalar(e.cond);
  bind(s.pat[0], constant(PrimValue::of_bool(true)));
  if (cond.constant && cond.constant->as_bool()) return;
  program::KernelFailure failure;
  std::vector<Expr> args;
  for (const auto& part : e.message) {
    if (const auto* text = std::get_if<std::string>(&part)) {
      failure.message.emplace_back(*text);
      continue;
    }
    if (args.size() == static_cast<size_t>(program::kMaxFailureArgs)) {
      failure.message.emplace_back(std::string("..."));
      continue;
    }
    failure.message.emplace_back(static_cast<int>(args.size()));
    args.push_back(scalar(std::get<ir::Atom>(part)));
    failure.arg_types.push_back(args.back().type);
  }
  failure.backtrace = host_.ir().backtrace(s.prov);
  const int number = host_.add_failure(std::move(failure));
  // What follows another failure, or an overflow of the heap, counts for nothing.
  open(fmt::format("if (!{}{}) {{", cond.text, may_have_failed_ ? " && going" : ""));
  may_have_failed_ = true;
  open(fmt::format("if (atomicCompSwap(U32(fr).v, 0u, {}u) == 0u) {{", number + 1));
  for (size_t k = 0; k < args.size(); k++) {
    const PrimType t = args[k].type;
    const std::string bits = is_float(t) ? op(ScalarOp::kBitcast, t,
                                              t == PrimType::kF64   ? PrimType::kI64
                                              : t == PrimType::kF32 ? PrimType::kI32
                                                                    : PrimType::kI16,
                                              {args[k]})
                                               .text
                                         : args[k].text;
    line(fmt::format("I64(fr + {}ul).v = int64_t({});", 16 + 8 * k, bits));
  }
  close();
  line("going = false;");
  close();
}

void KernelGen::call(const ir::Stm& s, const ir::ECall& e) {
  const ir::Function& f = host_.ir().functions[e.fun.index];
  if (call_depth_ >= kMaxCallDepth) {
    host_.refuse(s.prov, "the recursive function " + f.name);
    return;
  }
  call_depth_++;
  std::vector<KernelValue> args;
  for (const auto& a : e.args) args.push_back(value(a));
  for (size_t k = 0; k < f.params.size(); k++) {
    bind(f.params[k], args[k]);
    bound_here_.insert(f.params[k]);
    hoisted_.erase(f.params[k]);
    if (const auto o = on_host(e.args[k]); o && args[k].index() == 0) hoisted_[f.params[k]] = *o;
  }
  for (const auto& [size, at] : size_variables(host_.ir(), f)) {
    bind(size, std::get<KernelArray>(args[at.first]).layout.dims[at.second]);
    bound_here_.insert(size);
    hoisted_.erase(size);
    const ir::Type& t = host_.ir().type_of(e.args[at.first]);
    if (const auto o = on_host(t.dims[at.second])) hoisted_[size] = *o;
  }
  std::vector<std::optional<KernelArray>> dests;
  for (VarId v : s.pat) dests.push_back(dest_of(v));
  forget_hoisted(f.body);
  const auto results = body(f.body, dests);
  for (size_t k = 0; k < s.pat.size(); k++) bind(s.pat[k], results[k]);
  call_depth_--;
}

/// A function's body may be translated twice: what was hoisted for the first call is not the
/// second's.
void KernelGen::forget_hoisted(const ir::Body& b) {
  for (const auto& s : b.stms) {
    for (VarId v : s.pat) {
      hoisted_.erase(v);
      dests_.erase(v);
    }
    for (const ir::Body* inner : bodies_of(s.exp)) forget_hoisted(*inner);
  }
}

}  // namespace kenaz::gpu
