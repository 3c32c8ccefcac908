#include "kernels/ir/builder.h"

#include <algorithm>

#include "kernels/ir/algebra.h"
#include "protocol/base/check.h"

namespace kenaz::ir {

Type array_of(Atom width, const Type& t) {
  Type result = t;
  result.dims.insert(result.dims.begin(), width);
  return result;
}

std::vector<Type> seg_types(const Program& p, const ESeg& e) {
  const std::vector<Atom> dims = sizes_of(e.space.dims);
  std::vector<Atom> kept = dims;
  if (e.kind == SegKind::kReduce) kept.pop_back();
  const auto over = [](const std::vector<Atom>& outer, Type t) {
    t.dims.insert(t.dims.begin(), outer.begin(), outer.end());
    return t;
  };
  std::vector<Type> types;
  if (e.kind == SegKind::kPack || e.kind == SegKind::kSort) {
    for (const Atom& r : e.body.results) types.push_back(over(dims, p.type_of(r)));
    if (e.kind == SegKind::kPack) types[0] = array_of(i64(e.classes), {PrimType::kI64, {}});
    return types;
  }
  for (const SegMonoid& m : e.monoids) {
    for (const Type& t : m.op.op.ret) types.push_back(over(kept, over(m.lifted, t)));
  }
  for (const SegWrite& w : e.writes) {
    for (const VarId d : w.dests) types.push_back(p.type_of(d));
  }
  for (size_t k = operands_of(e) + write_results_of(e); k < e.body.results.size(); ++k) {
    types.push_back(over(dims, p.type_of(e.body.results[k])));
  }
  return types;
}

Type row_type(const Type& t) {
  CHECK(!t.dims.empty());
  return Type{t.prim, {t.dims.begin() + 1, t.dims.end()}};
}

std::vector<Dim> row_dims(const Type& t, const std::vector<Atom>& index) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < t.dims.size(); ++d) {
    if (d < index.size()) {
      dims.emplace_back(DimFix{index[d]});
    } else {
      dims.emplace_back(DimRange{i64(0), t.dims[d], i64(1)});
    }
  }
  return dims;
}

bool all_fixed(std::span<const Dim> dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [](const Dim& d) { return std::holds_alternative<DimFix>(d); });
}

std::vector<Atom> slice_dims(std::span<const Dim> dims) {
  std::vector<Atom> out;
  for (const Dim& d : dims) {
    if (const auto* r = std::get_if<DimRange>(&d)) out.push_back(r->len);
  }
  return out;
}

Builder Builder::nested(Body& body) const {
  Builder b(program_, body, prov_);
  b.certs_ = certs_;
  return b;
}

VarId Builder::emit(Exp exp, Type type, std::string name) {
  const VarId v = program_.new_var(std::move(type), std::move(name));
  emit_to({v}, std::move(exp));
  return v;
}

std::vector<VarId> Builder::emit(Exp exp, const std::vector<Type>& types, const std::string& name) {
  std::vector<VarId> pat;
  for (const Type& t : types) pat.push_back(program_.new_var(t, name));
  emit_to(pat, std::move(exp));
  return pat;
}

void Builder::emit_to(std::vector<VarId> pat, Exp exp) {
  body_.stms.push_back(Stm{std::move(pat), std::move(exp), certs_, prov_, {}});
}

Atom Builder::prim(ScalarOp op, std::vector<Atom> args, std::string name) {
  const PrimType type = program_.type_of(args[op == ScalarOp::kSelect ? 1 : 0]).prim;
  const PrimType result = scalar_op_result(op, type, type);
  EPrim operation{op, type, result, std::move(args)};
  if (auto known = simplify_prim(operation)) return *known;
  return emit(std::move(operation), Type{result, {}}, std::move(name));
}

Atom Builder::convert(Atom a, PrimType to, std::string name) {
  const PrimType from = program_.type_of(a).prim;
  if (from == to) return a;
  if (a.is_const()) {
    const PrimValue v = a.constant();
    return eval_scalar(ScalarOp::kConvert, from, to, std::span(&v, 1));
  }
  return emit(EPrim{ScalarOp::kConvert, from, to, {a}}, Type{to, {}}, std::move(name));
}

Atom Builder::product(std::span<const Atom> atoms) {
  Atom p = i64(1);
  for (const Atom& a : atoms) p = prim(ScalarOp::kSizeMul, {p, a});
  return p;
}

Atom Builder::sum(std::span<const Atom> atoms) {
  Atom s = i64(0);
  for (const Atom& a : atoms) s = add(s, a);
  return s;
}

Atom Builder::in_bounds(Atom i, Atom n) { return logical_and(le(i64(0), i), lt(i, n)); }

Atom Builder::index(VarId array, std::span<const Atom> indices, std::string name) {
  const Type t = program_.type_of(array);
  std::vector<Dim> dims = row_dims(t, {indices.begin(), indices.end()});
  Type result{t.prim, slice_dims(dims)};
  return emit(EIndex{array, std::move(dims)}, std::move(result), std::move(name));
}

VarId Builder::slice(VarId array, std::vector<Dim> dims, std::string name) {
  Type result{program_.type_of(array).prim, slice_dims(dims)};
  return emit(EIndex{array, std::move(dims)}, std::move(result), std::move(name));
}

VarId Builder::update(VarId array, std::vector<Dim> dims, Atom value, std::string name) {
  Type t = program_.type_of(array);
  return emit(EUpdate{array, std::move(dims), value}, std::move(t), std::move(name));
}

VarId Builder::update_at(VarId array, std::span<const Atom> indices, Atom value, std::string name) {
  std::vector<Dim> dims = row_dims(program_.type_of(array), {indices.begin(), indices.end()});
  return update(array, std::move(dims), value, std::move(name));
}

VarId Builder::iota(Atom n, std::string name) {
  return emit(EIota{n, i64(0), i64(1), PrimType::kI64}, Type{PrimType::kI64, {n}}, std::move(name));
}

VarId Builder::replicate(std::vector<Atom> dims, Atom value, std::string name) {
  Type t = program_.type_of(value);
  t.dims.insert(t.dims.begin(), dims.begin(), dims.end());
  return emit(EReplicate{std::move(dims), value}, std::move(t), std::move(name));
}

VarId Builder::rearrange(std::vector<int> perm, VarId array, std::string name) {
  const Type& t = program_.type_of(array);
  Type result{t.prim, {}};
  for (int d : perm) result.dims.push_back(t.dims[static_cast<size_t>(d)]);
  return emit(ERearrange{std::move(perm), array}, std::move(result), std::move(name));
}

VarId Builder::reshape(std::vector<Atom> dims, VarId array, std::string name) {
  Type result{program_.type_of(array).prim, dims};
  return emit(EReshape{std::move(dims), array}, std::move(result), std::move(name));
}

VarId Builder::copy(VarId array, std::string name) {
  Type t = program_.type_of(array);
  return emit(ECopy{array}, std::move(t), std::move(name));
}

Body Builder::make_body(const BodyFn& fn) {
  Body body;
  Builder b(program_, body, prov_);
  body.results = fn(b);
  return body;
}

Lambda Builder::lambda(const std::vector<Type>& params, const LambdaFn& fn, std::vector<Type> ret) {
  Lambda lam;
  for (const Type& t : params) lam.params.push_back(program_.new_var(t, "p"));
  Builder b(program_, lam.body, prov_);
  lam.body.results = fn(b, lam.params);
  lam.ret = std::move(ret);
  return lam;
}

Lambda Builder::lambda(const std::vector<Type>& params, const LambdaFn& fn) {
  Lambda lam = lambda(params, fn, {});
  for (const Atom& a : lam.body.results) lam.ret.push_back(program_.type_of(a));
  return lam;
}

std::vector<VarId> Builder::if_(Atom cond, const BodyFn& then_fn, const BodyFn& else_fn,
                                const std::vector<Type>& types, const std::string& name) {
  Body then_body = make_body(then_fn);
  Body else_body = make_body(else_fn);
  return emit(EIf{cond, std::move(then_body), std::move(else_body)}, types, name);
}

SegSpace Builder::space(const std::vector<Atom>& sizes) {
  SegSpace s;
  for (const Atom& n : sizes)
    s.dims.push_back({program_.new_var(Type{PrimType::kI64, {}}, "i"), n});
  return s;
}

std::vector<VarId> Builder::seg(ESeg e, const SegFn& fn, const std::string& name) {
  std::vector<VarId> indices;
  for (const SegDim& d : e.space.dims) indices.push_back(d.index);
  e.body = make_body([&](Builder& b) { return fn(b, indices); });
  const std::vector<Type> types = seg_types(program_, e);
  return emit(std::move(e), types, name);
}

std::vector<VarId> Builder::seg_map(const std::vector<Atom>& sizes, const SegFn& fn,
                                    const std::string& name) {
  ESeg e;
  e.space = space(sizes);
  return seg(std::move(e), fn, name);
}

std::vector<VarId> Builder::map(Atom width, std::vector<VarId> inputs, Lambda lambda,
                                const std::string& name) {
  std::vector<Type> types;
  for (const Type& t : lambda.ret) types.push_back(array_of(width, t));
  return emit(ESoac{width, std::move(inputs), std::move(lambda), {}, {}}, types, name);
}

}  // namespace kenaz::ir
