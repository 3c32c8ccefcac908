// Differential operators: functions become lambdas, the rest is left to the pass `differentiate`.
#include "kernels/futhark/lower/lowerer.h"

namespace kenaz::lower {

using ir::Atom;

std::vector<Atom> Lowerer::data_of(const V& v) {
  std::vector<Atom> out;
  for (const auto& l : leaves(v)) {
    if (!l.is_dim()) out.push_back(l.atom);
  }
  return out;
}

V Lowerer::new_params(const V& like, ir::Lambda& lambda) {
  return map_leaves(like, [&](const Atom& a) -> Atom {
    lambda.params.push_back(b_.var(b_.type_of(a), "x"));
    return lambda.params.back();
  });
}

V Lowerer::new_results(const V& like, std::vector<ir::VarId>& vars) {
  return map_leaves(like, [&](const Atom& a) -> Atom {
    vars.push_back(b_.var(b_.type_of(a), "derived"));
    return vars.back();
  });
}

/// The arrays under the names that the types have for their sizes, which are equal.
std::vector<Atom> Lowerer::shaped_like(const std::vector<Atom>& values,
                                       const std::vector<ir::Type>& types) {
  if (values.size() != types.size()) {
    broken("tangents of another structure");
    return {};
  }
  std::vector<Atom> out = values;
  for (size_t k = 0; k < out.size(); ++k) {
    if (!types[k].is_scalar()) out[k] = reshape(out[k], types[k].dims, {});
  }
  return out;
}

V Lowerer::jvp(const VFun& f, const V& fun, const V& x, const V& tangent) {
  const V at = materialise(x), seed = materialise(tangent);
  if (failed()) return unit();
  ir::EJvp e;
  e.args = data_of(at);
  std::vector<ir::Type> types;
  for (const Atom& a : e.args) types.push_back(b_.type_of(a));
  e.tangents = shaped_like(data_of(seed), types);
  b_.open();
  const V result = apply(fun, {new_params(at, e.fun)});
  const Ty type{f.intrinsic->targs[1], f.env};
  const V like =
      close_lambda(result, e.fun, ir::i64(1), &type, "the function to be differentiated");
  if (failed()) return unit();
  std::vector<ir::VarId> vars;
  VRec out;
  out.fields.emplace_back("0", new_results(like, vars));
  out.fields.emplace_back("1", new_results(like, vars));
  if (!vars.empty()) b_.emit(std::move(vars), std::move(e));
  return make(std::move(out));
}

V Lowerer::vjp(const VFun& f, const V& fun, const V& x, const V& adjoint) {
  const V at = materialise(x), seed = materialise(adjoint);
  if (failed()) return unit();
  ir::EVjp e;
  e.args = data_of(at);
  b_.open();
  const V result = apply(fun, {new_params(at, e.fun)});
  const Ty type{f.intrinsic->targs[1], f.env};
  const V like =
      close_lambda(result, e.fun, ir::i64(1), &type, "the function to be differentiated");
  if (failed()) return unit();
  e.adjoints = shaped_like(data_of(seed), e.fun.ret);
  std::vector<ir::VarId> vars;
  VRec out;
  out.fields.emplace_back("0", new_results(like, vars));
  out.fields.emplace_back("1", new_results(at, vars));
  if (!vars.empty()) b_.emit(std::move(vars), std::move(e));
  return make(std::move(out));
}

V Lowerer::with_vjp(const VFun& f, const V& fun, const V& adjoint, const V& x) {
  const V at = materialise(x);
  if (failed()) return unit();
  ir::EWithVjp e;
  e.args = data_of(at);
  b_.open();
  const V result = apply(fun, {new_params(at, e.fun)});
  const Ty type{f.intrinsic->targs[1], f.env};
  const V like = close_lambda(result, e.fun, ir::i64(1), &type, "the function of with_vjp");
  if (failed()) return unit();
  b_.open();
  const V res = new_params(like, e.adjoint);
  const V change = new_params(like, e.adjoint);
  const V back = apply(adjoint, {res, change});
  const Ty arg_type{f.intrinsic->targs[0], f.env};
  close_lambda(back, e.adjoint, ir::i64(1), &arg_type, "the derivative given to with_vjp");
  if (failed()) return unit();
  if (e.adjoint.ret.size() != e.args.size()) return broken("a derivative's structure");
  std::vector<ir::VarId> vars;
  V out = new_results(like, vars);
  if (!vars.empty()) b_.emit(std::move(vars), std::move(e));
  return out;
}

}  // namespace kenaz::lower
