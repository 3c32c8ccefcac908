// Reverse mode of reductions and scans.
#include <limits>

#include "kernels/ad/reverse_sweep.h"

namespace kenaz::ad {

using namespace ir;

namespace {

std::vector<char> first_of(size_t n) {
  std::vector<char> out(2 * n, 0);
  std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), 1);
  return out;
}
std::vector<char> second_of(size_t n) {
  std::vector<char> out(2 * n, 1);
  std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), 0);
  return out;
}
std::vector<Atom> joined(std::vector<Atom> x, const std::vector<Atom>& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}
/// The k-th of equally long groups.
std::vector<Atom> group(const std::vector<VarId>& v, size_t n, size_t k) {
  return {v.begin() + static_cast<std::ptrdiff_t>(k * n),
          v.begin() + static_cast<std::ptrdiff_t>((k + 1) * n)};
}

Atom zero_or_one(PrimType t, bool one) {
  if (t == PrimType::kBool) return PrimValue::of_bool(one);
  return is_float(t) ? PrimValue::of_float(t, one ? 1 : 0) : PrimValue::of_int(t, one ? 1 : 0);
}

/// Of the first one's type, where an operator works on values of several types. What one type holds
/// may be infinite in the other, and that times 0 be no number: so floats are multiplied in the
/// wider type.
Atom product(Builder& b, const Atom& x, const Atom& y) {
  const PrimType t = b.program().type_of(x).prim, u = b.program().type_of(y).prim;
  if (is_float(t) && is_float(u) && prim_size(u) > prim_size(t)) {
    return b.convert(b.mul(b.convert(x, u), y), t);
  }
  const Atom other = b.convert(y, t);
  return t == PrimType::kBool ? b.logical_and(x, other) : b.mul(x, other);
}

/// Of two functions z -> c + T z, the first one first. `types` are those of T, row by row, and c.
std::vector<Atom> compose(Builder& b, const std::vector<VarId>& v, size_t n) {
  const size_t size = n * n + n;
  const auto first = [&](size_t k) { return Atom(v[k]); };
  const auto second = [&](size_t k) { return Atom(v[size + k]); };
  std::vector<Atom> out;
  for (size_t p = 0; p < n; ++p) {
    for (size_t q = 0; q < n; ++q) {
      Atom sum = product(b, second(p * n), first(q));
      for (size_t k = 1; k < n; ++k) {
        sum = add_values(b, sum, product(b, second(p * n + k), first(k * n + q)));
      }
      out.push_back(sum);
    }
  }
  for (size_t p = 0; p < n; ++p) {
    Atom sum = second(n * n + p);
    for (size_t k = 0; k < n; ++k) {
      sum = add_values(b, sum, product(b, second(p * n + k), first(n * n + k)));
    }
    out.push_back(sum);
  }
  return out;
}

Monoid composition(Builder& b, const std::vector<Type>& types, size_t n) {
  Monoid m;
  std::vector<Type> params = types;
  params.insert(params.end(), types.begin(), types.end());
  m.op = b.lambda(
      params, [&](Builder& in, const std::vector<VarId>& v) { return compose(in, v, n); }, types);
  for (size_t k = 0; k < types.size(); ++k) {
    m.neutral.push_back(zero_or_one(types[k].prim, k < n * n && k / n == k % n));
  }
  return m;
}

/// Whether the float is not zero, and has all the bits that its type allows.
Atom is_normal(Builder& b, const Atom& x) {
  const PrimType t = b.program().type_of(x).prim;
  constexpr float kLeastF16 = 0x1p-14F, kMostF16 = 65504;
  double least = std::numeric_limits<double>::min(), most = std::numeric_limits<double>::max();
  if (t == PrimType::kF32) {
    least = std::numeric_limits<float>::min();
    most = std::numeric_limits<float>::max();
  } else if (t == PrimType::kF16) {
    least = kLeastF16;
    most = kMostF16;
  }
  const Atom size = b.prim(ScalarOp::kAbs, {x});
  return b.logical_and(b.le(PrimValue::of_float(t, least), size),
                       b.le(size, PrimValue::of_float(t, most)));
}

}  // namespace

Lambda flipped(Program& p, const Lambda& op) {
  Lambda out = copy_renamed(p, op);
  const auto half = static_cast<std::ptrdiff_t>(out.params.size() / 2);
  std::rotate(out.params.begin(), out.params.begin() + half, out.params.end());
  return out;
}

/// The reductions of what stands before each element.
Reverse::Vars Reverse::prefixes(Builder& b, const Atom& width, const Vars& arrays,
                                const Monoid& m) {
  std::vector<Type> rows, types;
  for (const VarId v : arrays) {
    rows.push_back(row_type(p_.type_of(v)));
    types.push_back(p_.type_of(v));
  }
  ESoac e{width, arrays, identity_lambda(p_, rows), {}, {}};
  e.scans.push_back({copy_renamed(p_, m.op), m.neutral, m.commutative});
  const Vars scanned = b.emit(std::move(e), types, "scanned");
  return b.map(width, {b.iota(width)},
               b.lambda(
                   {Type{PrimType::kI64, {}}},
                   [&](Builder& in, const Vars& i) {
                     const Atom exists = in.lt(i64(0), i[0]);
                     return rows_or(in, exists, in.sub(i[0], i64(1)), scanned, m.neutral);
                   },
                   rows),
               "before");
}

void Reverse::reduce(Builder& b, const Stm& s, const ESoac& e, const std::vector<Maybe>& adj) {
  const Monoid& m = e.reduces[0];
  if (is_addition(m)) {
    if (varies(e.inputs[0])) contribute(b, e.inputs[0], b.replicate({e.width}, *adj[0], "adj"));
    return;
  }
  if (is_extreme(m)) return reduce_extreme(b, e, *adj[0]);
  const EPrim* op = scalar_operation(m);
  if (op != nullptr && op->op == ScalarOp::kMul && is_float(op->type)) {
    return reduce_product(b, s, e, *adj[0]);
  }
  Atoms seeds;
  for (size_t k = 0; k < adj.size(); ++k) {
    seeds.push_back(adj[k] ? *adj[k] : zero_of(b, m.op.ret[k]));
  }
  const Vars arrays = adjoints_from_both_sides(b, e, seeds);
  for (size_t k = 0; k < arrays.size(); ++k) contribute(b, e.inputs[k], arrays[k]);
}

/// y = left op x op right, for each element.
Reverse::Vars Reverse::adjoints_from_both_sides(Builder& b, const ESoac& e, const Atoms& seeds) {
  const Monoid& m = e.reduces[0];
  const size_t n = m.neutral.size();
  Vars inputs = prefixes(b, e.width, e.inputs, m), turned;
  inputs.insert(inputs.end(), e.inputs.begin(), e.inputs.end());
  for (const VarId v : e.inputs) turned.push_back(reversed(b, v));
  const Monoid other{flipped(p_, m.op), m.neutral, m.commutative};
  for (const VarId v : prefixes(b, e.width, turned, other)) inputs.push_back(reversed(b, v));
  return reverse_map(b, e.width, inputs, [&](Builder& in, const Vars& params) {
    const Atoms left = group(params, n, 0), x = group(params, n, 1), right = group(params, n, 2);
    const Atoms both = inline_lambda(in, m.op, joined(left, x));
    const Atoms adj_both = pull(in, m.op, joined(both, right), seeds, first_of(n), false);
    const Atoms adj_x = pull(in, m.op, joined(left, x), adj_both, second_of(n), true);
    std::vector<Row> rows;
    for (size_t k = 0; k < n; ++k) rows.push_back({adj_x[k], m.op.ret[k]});
    return rows;
  });
}

/// Of products of floats: y / x. Unless an element is zero, or y has left the range in which floats
/// have all their bits: then as of any operator. (So a derivative of this one is right as well.)
void Reverse::reduce_product(Builder& b, const Stm& s, const ESoac& e, const Atom& adj) {
  const Type value = e.reduces[0].op.ret[0];
  const auto from_both_sides = [&](Builder& in) {
    return Atoms{adjoints_from_both_sides(in, e, {adj})[0]};
  };
  // A branch of each element of a map would run in one thread.
  if (in_map_) return contribute(b, e.inputs[0], from_both_sides(b)[0]);
  const auto by_quotients = [&](Builder& in) {
    const Lambda of_element = in.lambda({value},
                                        [&](Builder& at, const Vars& x) {
                                          const Atom y = s.pat[0];
                                          const Atom others = at.prim(ScalarOp::kDiv, {y, x[0]});
                                          return Atoms{at.mul(adj, others)};
                                        },
                                        {value});
    return Atoms{in.map(e.width, {e.inputs[0]}, of_element, "adj")[0]};
  };
  const Vars back = b.if_(is_normal(b, s.pat[0]), by_quotients, from_both_sides,
                          {p_.type_of(e.inputs[0])}, "adj");
  contribute(b, e.inputs[0], back[0]);
}

void Reverse::scan(Builder& b, const Stm& s, const ESoac& e, const std::vector<Maybe>& adj) {
  const Monoid& m = e.scans[0];
  const size_t n = m.neutral.size();
  if (is_addition(m)) {
    const VarId turned = reversed(b, adj[0]->var());
    const Type t = p_.type_of(turned);
    ESoac sum{e.width, {turned}, identity_lambda(p_, {row_type(t)}), {}, {}};
    sum.scans.push_back({copy_renamed(p_, m.op), m.neutral, m.commutative});
    contribute(b, e.inputs[0], reversed(b, b.emit(std::move(sum), t, "adj")));
    return;
  }
  Vars given;
  for (size_t k = 0; k < n; ++k) {
    given.push_back((adj[k] ? *adj[k] : zero_of(b, p_.type_of(s.pat[k]))).var());
  }
  Vars inputs{b.iota(e.width)};
  inputs.insert(inputs.end(), e.inputs.begin(), e.inputs.end());
  for (const VarId v : suffix_adjoints(b, s, e, given)) inputs.push_back(v);
  const Vars arrays = reverse_map(b, e.width, inputs, [&](Builder& in, const Vars& params) {
    const Vars rest(params.begin() + 1, params.end());
    const Atom exists = in.lt(i64(0), params[0]), at = in.sub(params[0], i64(1));
    const Atoms before = rows_or(in, exists, at, s.pat, m.neutral);
    const Atoms adj_x =
        pull(in, m.op, joined(before, group(rest, n, 0)), group(rest, n, 1), second_of(n), true);
    std::vector<Row> rows;
    for (size_t k = 0; k < n; ++k) rows.push_back({adj_x[k], m.op.ret[k]});
    return rows;
  });
  for (size_t k = 0; k < n; ++k) contribute(b, e.inputs[k], arrays[k]);
}

/// For each element of the scan its adjoint with what it contributes to the later ones:
/// z[i] = adj[i] + (how op depends on its first operand at y[i], x[i + 1])^T z[i + 1].
Reverse::Vars Reverse::suffix_adjoints(Builder& b, const Stm& s, const ESoac& e, const Vars& adj) {
  constexpr size_t kMaxWidth = 4;  // of operators whose Jacobians are multiplied
  bool scalar = adj.size() <= kMaxWidth;
  for (const Type& t : e.scans[0].op.ret) scalar = scalar && t.is_scalar();
  return scalar ? linear_scan(b, s, e, adj) : linear_loop(b, s, e, adj);
}

/// T for element i: how op's results depend on its first operands at y[i], x[i + 1], row by row
/// transposed.
Reverse::Atoms Reverse::jacobian(Builder& in, const Stm& s, const ESoac& e, const Atom& i) {
  const Monoid& m = e.scans[0];
  const size_t n = m.neutral.size();
  Atoms at;
  for (const VarId v : s.pat) at.push_back(in.index(v, Atoms{i}));
  for (const VarId v : e.inputs) at.push_back(in.index(v, Atoms{in.add(i, i64(1))}));
  Atoms out(n * n, i64(0));
  for (size_t q = 0; q < n; ++q) {
    Atoms unit;
    for (size_t k = 0; k < n; ++k) unit.push_back(zero_or_one(m.op.ret[k].prim, k == q));
    const Atoms column = pull(in, m.op, at, unit, first_of(n), false);
    for (size_t p = 0; p < n; ++p) out[p * n + q] = column[p];
  }
  return out;
}

/// By a scan, from the end, of the linear functions z -> c + T z.
Reverse::Vars Reverse::linear_scan(Builder& b, const Stm& s, const ESoac& e, const Vars& adj) {
  const std::vector<Type>& values = e.scans[0].op.ret;
  const size_t n = adj.size();
  std::vector<Type> types, matrix, arrays;
  for (size_t p = 0; p < n; ++p) matrix.insert(matrix.end(), n, values[p]);
  types = matrix;
  types.insert(types.end(), values.begin(), values.end());
  const Vars elements = b.map(e.width, {b.iota(e.width)},
                              b.lambda(
                                  {Type{PrimType::kI64, {}}},
                                  [&](Builder& in, const Vars& j) {
                                    const Atom i = in.sub(in.sub(e.width, i64(1)), j[0]);
                                    const Vars t = in.if_(
                                        in.lt(i64(0), j[0]),
                                        [&](Builder& inside) { return jacobian(inside, s, e, i); },
                                        [&](Builder& inside) {
                                          Atoms zeros;
                                          for (const Type& z : matrix)
                                            zeros.push_back(zero_of(inside, z));
                                          return zeros;
                                        },
                                        matrix);
                                    Atoms out(t.begin(), t.end());
                                    for (const VarId v : adj) out.push_back(in.index(v, Atoms{i}));
                                    return out;
                                  },
                                  types),
                              "linear");
  ESoac all{e.width, elements, identity_lambda(p_, types), {}, {}};
  all.scans.push_back(composition(b, types, n));
  for (const Type& t : types) arrays.push_back(array_of(e.width, t));
  const Vars scanned = b.emit(std::move(all), arrays, "adj");
  Vars out;
  for (size_t k = 0; k < n; ++k) out.push_back(reversed(b, scanned[n * n + k]));
  return out;
}

/// One element after the other: for operators on arrays, and wide ones.
Reverse::Vars Reverse::linear_loop(Builder& b, const Stm& s, const ESoac& e, const Vars& adj) {
  const Monoid& m = e.scans[0];
  const size_t n = adj.size();
  ELoop loop;
  const VarId turn = p_.new_var({PrimType::kI64, {}}, "turn");
  loop.form = LoopFor{turn, b.sub(e.width, i64(1))};
  Vars sums, pat;
  for (const VarId v : adj) {
    sums.push_back(p_.new_var(p_.type_of(v), "adj"));
    pat.push_back(p_.new_var(p_.type_of(v), "adj"));
    loop.params.push_back({sums.back(), b.copy(v)});
  }
  Builder in(p_, loop.body, b.prov());
  const Atom next = in.sub(in.sub(e.width, i64(1)), turn), i = in.sub(next, i64(1));
  Atoms at, z;
  for (const VarId v : s.pat) at.push_back(in.index(v, Atoms{i}));
  for (const VarId v : e.inputs) at.push_back(in.index(v, Atoms{next}));
  for (const VarId v : sums) z.push_back(in.index(v, Atoms{next}));
  const Atoms back = pull(in, m.op, at, z, first_of(n), false);
  for (size_t k = 0; k < n; ++k) {
    const Atom sum = add_values(in, in.index(sums[k], Atoms{i}), back[k]);
    loop.body.results.emplace_back(in.update_at(sums[k], Atoms{i}, sum));
  }
  b.emit_to(pat, std::move(loop));
  return pat;
}

}  // namespace kenaz::ad
