#include "kernels/body/env.h"

#include "protocol/base/check.h"

namespace kenaz::body {

using ir::VarId;

void Env::bind_param(VarId v, KernelValue value) {
  values_[v] = std::move(value);
  bound_here_.insert(v);
}

void Env::define(const ir::Stm& s) {
  for (VarId v : s.pat) {
    statements_[v] = &s;
    bound_here_.insert(v);
  }
}

KernelValue Env::value(const ir::Atom& a) {
  if (a.is_const()) return kir::Value(a.constant());
  const VarId v = a.var();
  if (auto it = values_.find(v); it != values_.end()) return it->second;
  const HostValue& h = host_.value(v);
  if (const auto* s = std::get_if<HostScalar>(&h)) {
    // One in device memory is loaded where it is needed: this place may be inside a branch.
    const kir::Value x = args_.scalar(*s);
    if (std::holds_alternative<Operand>(s->at)) values_[v] = x;
    return x;
  }
  const HostArray& array = std::get<HostArray>(h);
  KernelArray k = args_.array(array);
  if (array.kind != ArrayKind::kReplicate) values_[v] = k;
  return k;
}

kir::Value Env::scalar(const ir::Atom& a) {
  KernelValue v = value(a);
  CHECK(v.index() == 0);
  return std::get<kir::Value>(std::move(v));
}

KernelArray Env::array(VarId v) {
  KernelValue k = value(v);
  CHECK(k.index() == 1);
  return std::get<KernelArray>(std::move(k));
}

kir::Values Env::scalars(const std::vector<ir::Atom>& atoms) {
  kir::Values out;
  for (const auto& a : atoms) out.push_back(scalar(a));
  return out;
}

std::optional<Operand> Env::on_host(const ir::Atom& a) {
  if (a.is_const()) return Operand(a.constant());
  const VarId v = a.var();
  if (auto it = values_.find(v); it != values_.end()) {
    const auto* x = std::get_if<kir::Value>(&it->second);
    if (x != nullptr && x->is_const()) return Operand(x->constant());
  }
  if (auto it = hoisted_.find(v); it != hoisted_.end()) return it->second;
  auto statement = statements_.find(v);
  if (statement == statements_.end()) {
    if (!host_.is_bound(v) || bound_here_.count(v)) return std::nullopt;
    return host_.scalar(a);
  }
  auto result = compute_on_host(*statement->second);
  if (result) hoisted_[v] = *result;
  return result;
}

std::optional<Operand> Env::compute_on_host(const ir::Stm& s) {
  if (const auto* atom = std::get_if<ir::EAtom>(&s.exp)) return on_host(atom->atom);
  const auto* prim = std::get_if<ir::EPrim>(&s.exp);
  if (prim == nullptr) return std::nullopt;
  std::vector<Operand> args;
  for (const auto& arg : prim->args) {
    auto o = on_host(arg);
    if (!o) return std::nullopt;
    args.push_back(*o);
  }
  return host_.emit_op(prim->op, prim->type, prim->to, std::move(args));
}

void Env::set_on_host(VarId v, const std::optional<Operand>& o) {
  hoisted_.erase(v);
  if (o) hoisted_[v] = *o;
}

}  // namespace kenaz::body
