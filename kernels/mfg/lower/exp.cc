#include "kernels/mfg/lower/lowerer.h"
#include "protocol/base/check.h"

namespace kenaz::mfg {

void Lowerer::set_place(Builder& b, const SourceRange& range) {
  b.set_prov(b.program().new_prov(range, {}));
}

Atoms Lowerer::eval(const CExp& e, Builder& b) {
  const auto known = hoisted_.find(&e);
  if (known != hoisted_.end()) return known->second;
  return std::visit([&](const auto& node) { return on(node, e, b); }, e.node);
}

Atoms Lowerer::body(const CBody& k, Builder& b) {
  for (const CStm& s : k.stms) statement(s, b);
  if (k.result == nullptr) return {};
  set_place(b, k.result->range);
  return eval(*k.result, b);
}

Atoms Lowerer::on(const CConst& c, const CExp& /*e*/, Builder& /*b*/) { return {c.value}; }

Atoms Lowerer::on(const CVar& v, const CExp& /*e*/, Builder& /*b*/) {
  const auto found = vars_.find(v.var.index);
  CHECK(found != vars_.end());
  return found->second;
}

Atoms Lowerer::on(const CTuple& t, const CExp& /*e*/, Builder& b) {
  Atoms all;
  for (const CExpPtr& p : t.parts) {
    const Atoms part = eval(*p, b);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Atoms Lowerer::on(const CPick& p, const CExp& /*e*/, Builder& b) {
  const Atoms all = eval(*p.tuple, b);
  Atoms some;
  for (const int k : p.indices) some.push_back(all[static_cast<size_t>(k)]);
  return some;
}

Atoms Lowerer::on(const CConvert& c, const CExp& e, Builder& b) {
  Atoms all = eval(*c.value, b);
  for (size_t k = 0; k < all.size(); ++k) all[k] = convert(b, all[k], e.type.elems[k]);
  return all;
}

Atoms Lowerer::on(const CPrim& p, const CExp& e, Builder& b) {
  std::vector<Atoms> args;
  for (const CExpPtr& a : p.args) args.push_back(eval(*a, b));
  Atoms result;
  for (size_t k = 0; k < e.type.size(); ++k) {
    Atoms operands;
    for (const Atoms& a : args) operands.push_back(a.size() == 1 ? a[0] : a[k]);
    Atom r = b.prim(p.op, std::move(operands));
    if (b.program().type_of(r).prim == PrimType::kBool) r = from_truth(b, r, PrimType::kI32);
    result.push_back(r);
  }
  return result;
}

Atoms Lowerer::on(const CLogic& l, const CExp& e, Builder& b) {
  std::vector<Atoms> args;
  for (const CExpPtr& a : l.args) args.push_back(eval(*a, b));
  Atoms result;
  for (size_t k = 0; k < e.type.size(); ++k) {
    Atoms operands;
    for (const Atoms& a : args) operands.push_back(truth(b, a.size() == 1 ? a[0] : a[k]));
    result.push_back(from_truth(b, b.prim(l.op, std::move(operands), "cond"), PrimType::kI32));
  }
  return result;
}

Atoms Lowerer::on(const CSelect& s, const CExp& e, Builder& b) {
  const Atoms cond = eval(*s.cond, b);
  const Atoms yes = eval(*s.a, b), no = eval(*s.b, b);
  Atoms result;
  for (size_t k = 0; k < e.type.size(); ++k) {
    result.push_back(b.select(truth(b, cond.size() == 1 ? cond[0] : cond[k]), yes[k], no[k]));
  }
  return result;
}

Atoms Lowerer::on(const CBlock& k, const CExp& /*e*/, Builder& b) { return body(k.body, b); }

Atoms Lowerer::on(const CExtent& x, const CExp& /*e*/, Builder& b) {
  const Placed& p = tensors_.at(x.tensor.index);
  return {narrow(b, x.dim == 0 ? p.width : p.height)};
}

Atoms Lowerer::on(const CRead& r, const CExp& /*e*/, Builder& b) {
  const Atom x = eval1(*r.at[0], b);
  const Atom y = r.at.size() > 1 ? eval1(*r.at[1], b) : PrimValue::i32(0);
  return read(b, r.tensor, x, y, r.outside);
}

/// A number of the place in the program, mixed with the element and the iteration: the steps of
/// PCG (O'Neill 2014) in 32 bits, as Jarzynski and Olano (2020) use them for coordinates.
Atoms Lowerer::on(const CRand& /*r*/, const CExp& /*e*/, Builder& b) {
  const auto u32 = [](uint32_t v) { return Atom(PrimValue::of_int(PrimType::kU32, v)); };
  Atom hash = u32(++random_places_ * 0x9e3779b9U);
  const auto mix = [&] {
    const Atom state = b.add(b.mul(hash, u32(747796405U)), u32(2891336453U));
    const Atom shift = b.add(b.prim(ScalarOp::kLShr, {state, u32(28)}), u32(4));
    const Atom word = b.mul(
        b.prim(ScalarOp::kXor, {b.prim(ScalarOp::kLShr, {state, shift}), state}), u32(277803737U));
    hash = b.prim(ScalarOp::kXor, {b.prim(ScalarOp::kLShr, {word, u32(22)}), word});
  };
  mix();
  for (const Atom& a : random_) {
    hash = b.add(hash, b.convert(a, PrimType::kU32));
    mix();
  }
  const Atom bits = b.convert(b.prim(ScalarOp::kLShr, {hash, u32(8)}), PrimType::kI32);
  return {b.mul(b.convert(bits, PrimType::kF32), PrimValue::f32(1.0F / 16777216.0F))};
}

}  // namespace kenaz::mfg
