// The second-order array functions.
#include <algorithm>

#include "kernels/futhark/lower/lowerer.h"

namespace kenaz::lower {

using ir::Atom;

ir::VarId Lowerer::array_var(const Atom& a) {
  if (!a.is_const()) return a.var();
  broken("an array that is no variable");
  return b_.var({PrimType::kI64, {ir::i64(0)}}, "broken");
}

V Lowerer::lambda_row(const V& array, ir::Lambda& lambda, std::vector<ir::VarId>& inputs) {
  return map_leaves(as_array(array).elem, [&](const Atom& a) -> Atom {
    ir::VarId in = array_var(a);
    ir::Type row = b_.type_of(in);
    if (row.dims.empty()) {
      broken("a scalar among arrays");
      return a;
    }
    row.dims.erase(row.dims.begin());
    inputs.push_back(in);
    lambda.params.push_back(b_.var(row, "x"));
    return lambda.params.back();
  });
}

V Lowerer::close_lambda(const V& result, ir::Lambda& lambda, const Atom& width, const Ty* type,
                        const std::string& what) {
  V v = result;
  if (!failed() && type != nullptr) v = conform(v, *type);
  v = materialise(v);
  bool regular = false;
  for (int attempt = 0; attempt < 2 && !regular && !failed(); ++attempt) {
    if (attempt == 1 && type != nullptr) v = conform(v, *type, true);
    v = rebuild(v, atoms(v));  // so that the structure has no sizes but the leaves' own
    regular = true;
    Builder::Outside outside(b_);
    // What makes arrays is moved only where the program would be refused otherwise.
    const bool arrays = attempt == 1;
    auto outer = [&](const Atom& d) { return b_.in_scope(d) || b_.hoist(d.var(), width, arrays); };
    for (const auto& l : leaves(v)) {
      if (l.is_dim()) regular = regular && outer(l.atom);
      for (const Atom& d : b_.type_of(l.atom).dims) regular = regular && outer(d);
    }
  }
  if (!regular && !failed()) {
    fail("irregular nested arrays are not supported yet: " + what +
         " returns an array whose size depends on its argument");
  }
  for (const auto& l : leaves(v)) {
    if (l.is_dim()) continue;
    lambda.body.results.push_back(l.atom);
    lambda.ret.push_back(b_.type_of(l.atom));
  }
  lambda.body.stms = b_.close();
  return v;
}

V Lowerer::result_arrays(const Atom& width, const V& row, std::vector<ir::VarId>& vars) {
  return make(VArr{width, map_leaves(row, [&](const Atom& a) -> Atom {
                     ir::Type t = b_.type_of(a);
                     t.dims.insert(t.dims.begin(), width);
                     vars.push_back(b_.var(t, "result"));
                     return vars.back();
                   })});
}

V Lowerer::map(const VFun& f, const V& fun, const V& array) {
  ir::ESoac soac;
  soac.width = as_array(array).dim;
  const PerElement here(per_element_);
  b_.open();
  V row = lambda_row(array, soac.map, soac.inputs);
  V result = failed() ? unit() : apply(fun, {row});
  std::optional<Ty> type;
  if (f.intrinsic->targs.size() >= 2) type = Ty{f.intrinsic->targs[1], f.env};
  V tmpl = close_lambda(result, soac.map, soac.width, type ? &*type : nullptr, "map's function");
  if (failed()) return unit();
  std::vector<ir::VarId> vars;
  Atom width = soac.width;
  V out = result_arrays(width, tmpl, vars);
  if (!vars.empty()) b_.emit(std::move(vars), std::move(soac));
  return out;
}

bool Lowerer::known_commutative(const ir::Lambda& op) const {
  if (op.params.size() != 2 || op.body.stms.size() != 1 || op.body.results.size() != 1) {
    return false;
  }
  const auto* p = std::get_if<ir::EPrim>(&op.body.stms[0].exp);
  if (p == nullptr || p->args.size() != 2 || is_float(p->type)) return false;
  if (!scalar_op_associates(p->op)) return false;
  const Atom a = op.params[0], c = op.params[1];
  return op.body.results[0] == Atom(op.body.stms[0].pat[0]) &&
         ((p->args[0] == a && p->args[1] == c) || (p->args[0] == c && p->args[1] == a));
}

ir::Monoid Lowerer::monoid(const V& op, const V& neutral, bool commutative) {
  ir::Monoid m;
  for (const auto& l : leaves(neutral)) {
    if (!l.is_dim()) m.neutral.push_back(l.atom);
  }
  const PerElement here(per_element_);
  b_.open();
  auto param = [&](const char* name) {
    return map_leaves(neutral, [&](const Atom& a) -> Atom {
      m.op.params.push_back(b_.var(b_.type_of(a), name));
      return m.op.params.back();
    });
  };
  V acc = param("acc");
  V elem = param("x");
  V result = materialise(apply(op, {acc, elem}));
  std::vector<Leaf> out = failed() ? std::vector<Leaf>{} : leaves(result);
  std::erase_if(out, [](const Leaf& l) { return l.is_dim(); });
  if (!failed() && out.size() != m.neutral.size()) broken("an operator's result");
  Certs certs;
  Atom same = PrimValue::of_bool(true);
  for (size_t k = 0; k < out.size() && !failed(); ++k) {
    std::vector<Atom> want = b_.type_of(m.neutral[k]).dims, have = b_.type_of(out[k].atom).dims;
    if (want.size() != have.size()) {
      broken("an operator's rank");
      break;
    }
    for (size_t d = 0; d < want.size(); ++d) same = b_.both(same, b_.eq(want[d], have[d]));
  }
  check(same, {"shape of result does not match shape of initial value"}, certs);
  for (size_t k = 0; k < out.size() && !failed(); ++k) {
    ir::Type t = b_.type_of(m.neutral[k]);
    m.op.body.results.push_back(t.dims.empty() ? out[k].atom : reshape(out[k].atom, t.dims, certs));
    m.op.ret.push_back(t);
  }
  m.op.body.stms = b_.close();
  m.commutative = commutative || known_commutative(m.op);
  return m;
}

ir::Lambda Lowerer::identity_lambda(const std::vector<Atom>& arrays,
                                    std::vector<ir::VarId>& inputs) {
  ir::Lambda l;
  b_.open();
  for (const Atom& a : arrays) {
    ir::VarId in = array_var(a);
    ir::Type row = b_.type_of(in);
    if (!row.dims.empty()) row.dims.erase(row.dims.begin());
    inputs.push_back(in);
    l.params.push_back(b_.var(row, "x"));
    l.body.results.push_back(l.params.back());
    l.ret.push_back(row);
  }
  b_.close();
  return l;
}

V Lowerer::reduce(const V& op, const V& neutral_value, const V& array, bool commutative,
                  bool scan) {
  V neutral = materialise(neutral_value);
  if (failed()) return unit();
  const Atom width = as_array(array).dim;
  if (!has_leaves(neutral)) return scan ? array : neutral;
  // Rows must have the neutral element's shape.
  std::vector<Atom> arrays;
  for (const auto& l : leaves(as_array(array).elem)) {
    if (!l.is_dim()) arrays.push_back(l.atom);
  }
  ir::Monoid m = monoid(op, neutral, commutative);
  if (failed()) return unit();
  if (arrays.size() != m.neutral.size()) return broken("a neutral element's structure");
  Certs certs;
  match_rows(arrays, width, m.neutral, certs,
             "Row shape of input array does not match shape of neutral element");
  ir::ESoac soac;
  soac.width = width;
  soac.map = identity_lambda(arrays, soac.inputs);
  (scan ? soac.scans : soac.reduces).push_back(std::move(m));
  std::vector<ir::VarId> vars;
  V out;
  if (scan) {
    out = result_arrays(width, neutral, vars);
  } else {
    out = map_leaves(neutral, [&](const Atom& a) -> Atom {
      vars.push_back(b_.var(b_.type_of(a), "reduced"));
      return vars.back();
    });
  }
  b_.emit(std::move(vars), std::move(soac), certs);
  return out;
}

void Lowerer::match_rows(std::vector<Atom>& arrays, const Atom& width,
                         const std::vector<Atom>& rows, Certs& certs, const char* message) {
  Atom same = PrimValue::of_bool(true);
  std::vector<std::vector<Atom>> wanted;
  for (size_t k = 0; k < arrays.size() && k < rows.size(); ++k) {
    std::vector<Atom> want = b_.type_of(rows[k]).dims;
    want.insert(want.begin(), width);
    std::vector<Atom> have = b_.type_of(arrays[k]).dims;
    if (have.size() != want.size()) {
      broken("rows of another rank");
      return;
    }
    for (size_t d = 1; d < want.size(); ++d) same = b_.both(same, b_.eq(want[d], have[d]));
    wanted.push_back(std::move(want));
  }
  check(same, {message}, certs);
  for (size_t k = 0; k < wanted.size(); ++k) arrays[k] = reshape(arrays[k], wanted[k], certs);
}

V Lowerer::scatter(const V& dest, const V& indices, const V& values, int rank) {
  std::vector<Atom> dests, index, rows;
  V elem = dest;
  std::vector<Atom> spine;
  for (int i = 0; i < rank; ++i) {
    const VArr& a = as_array(elem);
    spine.push_back(a.dim);
    V next = a.elem;
    elem = next;
  }
  if (failed()) return unit();
  const Atom width = as_array(indices).dim;
  for (const auto& l : leaves(elem)) {
    if (!l.is_dim()) dests.push_back(l.atom);
  }
  if (dests.empty()) return dest;
  for (const auto& l : leaves(as_array(indices).elem)) index.push_back(l.atom);
  for (const auto& l : leaves(as_array(values).elem)) {
    if (!l.is_dim()) rows.push_back(l.atom);
  }
  if (failed()) return unit();
  if (static_cast<int>(index.size()) != rank || rows.size() != dests.size()) {
    return broken("scatter's arguments");
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    std::vector<Atom> d = b_.type_of(dests[k]).dims;
    std::vector<Atom> want{width};
    want.insert(want.end(), d.begin() + rank, d.end());
    if (want.size() != b_.type_of(rows[k]).dims.size()) return broken("scatter's ranks");
    rows[k] = reshape(rows[k], want, {});
  }
  ir::EScatter s;
  s.width = width;
  std::vector<Atom> all = index;
  all.insert(all.end(), rows.begin(), rows.end());
  s.map = identity_lambda(all, s.inputs);
  std::vector<Atom> results;
  std::vector<ir::Type> ret;
  for (size_t k = 0; k < dests.size(); ++k) {
    s.dests.push_back({array_var(dests[k]), rank});
    for (int i = 0; i < rank; ++i) {
      results.push_back(s.map.params[i]);
      ret.push_back(s.map.ret[i]);
    }
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    results.push_back(s.map.params[rank + k]);
    ret.push_back(s.map.ret[rank + k]);
  }
  s.map.body.results = std::move(results);
  s.map.ret = std::move(ret);
  std::vector<ir::VarId> vars;
  V out = map_leaves(elem, [&](const Atom& a) -> Atom {
    vars.push_back(b_.var(b_.type_of(a), "scattered"));
    return vars.back();
  });
  b_.emit(std::move(vars), std::move(s));
  for (size_t i = spine.size(); i-- > 0;) out = make(VArr{spine[i], out});
  return out;
}

V Lowerer::hist(const V& dest, const V& op, const V& neutral_value, const V& bins, const V& values,
                int rank) {
  V neutral = materialise(neutral_value);
  V elem = dest;
  std::vector<Atom> spine;
  for (int i = 0; i < rank && !failed(); ++i) {
    const VArr& a = as_array(elem);
    spine.push_back(a.dim);
    V next = a.elem;
    elem = next;
  }
  if (failed()) return unit();
  if (!has_leaves(elem)) return dest;
  const Atom width = as_array(bins).dim;
  std::vector<Atom> dests, index, rows;
  for (const auto& l : leaves(elem)) {
    if (!l.is_dim()) dests.push_back(l.atom);
  }
  for (const auto& l : leaves(as_array(bins).elem)) index.push_back(l.atom);
  for (const auto& l : leaves(as_array(values).elem)) {
    if (!l.is_dim()) rows.push_back(l.atom);
  }
  ir::EHist h;
  ir::EHist::Op o;
  o.index_rank = rank;
  o.monoid = monoid(op, neutral, false);
  if (failed()) return unit();
  if (static_cast<int>(index.size()) != rank || rows.size() != dests.size() ||
      dests.size() != o.monoid.neutral.size()) {
    return broken("hist's arguments");
  }
  Certs certs;
  const char* message = "Row shape of input array does not match shape of neutral element";
  match_rows(rows, width, o.monoid.neutral, certs, message);
  for (size_t k = 0; k < dests.size() && !failed(); ++k) {
    // The destination's rows as well: they are combined by the same operator.
    std::vector<Atom> want = spine;
    std::vector<Atom> row = b_.type_of(o.monoid.neutral[k]).dims;
    want.insert(want.end(), row.begin(), row.end());
    dests[k] = reshape(dests[k], want, {});
    o.dests.push_back(array_var(dests[k]));
  }
  h.width = width;
  std::vector<Atom> all = index;
  all.insert(all.end(), rows.begin(), rows.end());
  h.map = identity_lambda(all, h.inputs);
  std::vector<ir::VarId> vars;
  size_t k = 0;
  V out = map_leaves(elem, [&](const Atom&) -> Atom {
    vars.push_back(b_.var(b_.type_of(dests[k++]), "histogram"));
    return vars.back();
  });
  h.ops.push_back(std::move(o));
  b_.emit(std::move(vars), std::move(h), certs);
  for (size_t i = spine.size(); i-- > 0;) out = make(VArr{spine[i], out});
  return out;
}

}  // namespace kenaz::lower
