// Reverse mode of scatters and histograms.
#include "kernels/ad/normalise.h"
#include "kernels/ad/reverse_sweep.h"

namespace kenaz::ad {

using namespace ir;

namespace {
const Type kIndex{PrimType::kI64, {}};

std::vector<Atom> rows_at(const std::vector<VarId>& params, size_t from, size_t n) {
  return {params.begin() + static_cast<std::ptrdiff_t>(from),
          params.begin() + static_cast<std::ptrdiff_t>(from + n)};
}
std::vector<Atom> joined(std::vector<Atom> x, const std::vector<Atom>& y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}
std::vector<char> wanted(size_t n, bool first) {
  std::vector<char> out(2 * n, first ? 0 : 1);
  std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), first ? 1 : 0);
  return out;
}
/// The array with its leading dims joined.
VarId flat(Builder& b, VarId array, size_t rank, const Atom& total) {
  const Type t = b.program().type_of(array);
  if (rank == 1) return array;
  std::vector<Atom> dims{total};
  dims.insert(dims.end(), t.dims.begin() + static_cast<std::ptrdiff_t>(rank), t.dims.end());
  return b.reshape(dims, array);
}
}  // namespace

void Reverse::scatter(Builder& b, const EScatter& e, const Atom& adj) {
  const Vars index(e.inputs.begin(), e.inputs.end() - 1);
  const VarId value = e.inputs.back();
  const Type row = row_type(p_.type_of(value));
  const std::vector<Type> indices(index.size(), kIndex);
  if (varies(value)) {
    const Vars back =
        b.map(e.width, index,
              b.lambda(indices,
                       [&](Builder& in, const Vars& i) {
                         return Atoms{row_or_zero(in, adj.var(), {i.begin(), i.end()})};
                       },
                       {row}),
              "adj");
    contribute(b, value, back[0]);
  }
  if (!varies(e.dests[0].array)) return;
  EScatter zeros = e;
  zeros.inputs.back() = zero_of(b, p_.type_of(value)).var();
  zeros.dests[0].array = adj.var();
  std::vector<Type> types = indices;
  types.push_back(row);
  zeros.map = identity_lambda(p_, types);
  const VarId rest = b.emit(std::move(zeros), p_.type_of(e.dests[0].array), "adj");
  b.last().attrs.emplace_back(kUniqueWrites);
  contribute(b, e.dests[0].array, rest);
}

void Reverse::hist(Builder& b, const Stm& s, const EHist& e, const std::vector<Maybe>& adj) {
  const EHist::Op& op = e.ops[0];
  const auto rank = static_cast<size_t>(op.index_rank);
  if (is_addition(op.monoid)) {
    const VarId value = e.inputs.back();
    const Vars index(e.inputs.begin(), e.inputs.end() - 1);
    if (varies(value)) {
      const Vars back =
          b.map(e.width, index,
                b.lambda(std::vector<Type>(rank, kIndex),
                         [&](Builder& in, const Vars& i) {
                           return Atoms{row_or_zero(in, adj[0]->var(), {i.begin(), i.end()})};
                         },
                         {row_type(p_.type_of(value))}),
                "adj");
      contribute(b, value, back[0]);
    }
    return contribute(b, op.dests[0], *adj[0]);
  }
  if (is_extreme(op.monoid)) return hist_extreme(b, s, e, adj[0]->var());
  Vars given;
  for (size_t k = 0; k < adj.size(); ++k) {
    given.push_back((adj[k] ? *adj[k] : zero_of(b, p_.type_of(op.dests[k]))).var());
  }
  hist_values(b, e, given);
  bool dests = false;
  for (const VarId v : op.dests) dests = dests || varies(v);
  if (dests) hist_dests(b, e, given);
}

/// bin = dest op (all of its values).
void Reverse::hist_dests(Builder& b, const EHist& e, const Vars& adj) {
  const EHist::Op& op = e.ops[0];
  const auto rank = static_cast<size_t>(op.index_rank);
  const size_t n = op.dests.size();
  const Type dest = p_.type_of(op.dests[0]);
  const Atoms dims(dest.dims.begin(), dest.dims.begin() + static_cast<std::ptrdiff_t>(rank));
  const Atom bins = b.product(dims);
  EHist all{e.width, e.inputs, copy_renamed(p_, e.map), {}};
  EHist::Op values{{}, op.index_rank, {copy_renamed(p_, op.monoid.op), op.monoid.neutral, false}};
  std::vector<Type> types;
  for (size_t k = 0; k < n; ++k) {
    values.dests.push_back(b.replicate(dims, op.monoid.neutral[k]));
    types.push_back(p_.type_of(op.dests[k]));
  }
  values.monoid.commutative = op.monoid.commutative;
  all.ops.push_back(std::move(values));
  const Vars totals = b.emit(std::move(all), types, "total");
  Vars inputs;
  for (const Vars& list : {op.dests, totals, adj}) {
    for (const VarId v : list) inputs.push_back(flat(b, v, rank, bins));
  }
  const Vars back = reverse_map(b, bins, inputs, [&](Builder& in, const Vars& params) {
    const Atoms adj_dest = pull(in, op.monoid.op, rows_at(params, 0, 2 * n),
                                rows_at(params, 2 * n, n), wanted(n, true), false);
    std::vector<Row> rows;
    for (size_t k = 0; k < n; ++k) rows.push_back({adj_dest[k], op.monoid.op.ret[k]});
    return rows;
  });
  for (size_t k = 0; k < n; ++k) {
    const Atoms shape = p_.type_of(op.dests[k]).dims;
    contribute(b, op.dests[k], rank == 1 ? back[k] : b.reshape(shape, back[k]));
  }
}

/// Elements in the order of their bins, which are numbered row by row; those outside of the
/// histogram come last, in a bin of their own.
struct Reverse::Bins {
  VarId bins, order;  // by place: the bin, and the element's number
  Atom count;         // of bins
};

/// One step of the sort: elements whose bit is 0 before those whose bit is 1.
void Reverse::sort_by_bit(Builder& in, ELoop& loop, const Atom& n) {
  const Type array{PrimType::kI64, {n}};
  const VarId bit = std::get<LoopFor>(loop.form).index;
  const VarId key = loop.params[0].var, order = loop.params[1].var;
  const VarId is_one = in.map(n, {key},
                              in.lambda({kIndex},
                                        [&](Builder& r, const Vars& v) {
                                          const Atom moved = r.prim(ScalarOp::kShr, {v[0], bit});
                                          return Atoms{r.prim(ScalarOp::kAnd, {moved, i64(1)})};
                                        },
                                        {kIndex}))[0];
  Monoid add;
  add.op = in.lambda({kIndex, kIndex},
                     [](Builder& r, const Vars& v) { return Atoms{r.add(v[0], v[1])}; }, {kIndex});
  add.neutral = {i64(0)};
  add.commutative = true;
  ESoac count{n, {is_one}, identity_lambda(p_, {kIndex}), {std::move(add)}, {}};
  const VarId ones = in.emit(std::move(count), array, "ones");
  const Atom zeros = in.sub(n, sum_rows(in, is_one));
  const VarId place =
      in.map(n, {is_one, ones, in.iota(n)},
             in.lambda({kIndex, kIndex, kIndex},
                       [&](Builder& r, const Vars& v) {
                         const Atom up = r.add(zeros, r.sub(v[1], i64(1)));
                         return Atoms{r.select(r.eq(v[0], i64(1)), up, r.sub(v[2], v[1]))};
                       },
                       {kIndex}))[0];
  EScatter move{n, {place, key, order}, identity_lambda(p_, {kIndex, kIndex, kIndex}), {}};
  move.map.body.results.insert(move.map.body.results.begin(), move.map.params[0]);
  move.map.ret.push_back(kIndex);
  for (int k = 0; k < 2; ++k) {
    move.dests.push_back({in.emit(EScratch{PrimType::kI64, {n}}, array, "moved"), 1});
  }
  const Vars moved = in.emit(std::move(move), {array, array}, "moved");
  in.last().attrs.emplace_back(kUniqueWrites);
  loop.body.results = {moved[0], moved[1]};
}

Reverse::Bins Reverse::sort_by_bin(Builder& b, const EHist& e) {
  const auto rank = static_cast<size_t>(e.ops[0].index_rank);
  const Type dest = p_.type_of(e.ops[0].dests[0]);
  const Atom n = e.width;
  Bins out;
  out.count =
      b.product(Atoms(dest.dims.begin(), dest.dims.begin() + static_cast<std::ptrdiff_t>(rank)));
  const Vars index(e.inputs.begin(), e.inputs.begin() + static_cast<std::ptrdiff_t>(rank));
  const VarId keys = b.map(n, index,
                           b.lambda(std::vector<Type>(rank, kIndex),
                                    [&](Builder& in, const Vars& i) {
                                      Atom place = i64(0);
                                      for (size_t d = 0; d < rank; ++d) {
                                        place = in.add(in.mul(place, dest.dims[d]), i[d]);
                                      }
                                      const Atom inside = is_inside(in, {i.begin(), i.end()}, dest);
                                      return Atoms{in.select(inside, place, out.count)};
                                    },
                                    {kIndex}),
                           "bin")[0];
  // By one bit after the other, from the lowest.
  const Atom leading_zeros = b.convert(b.prim(ScalarOp::kClz, {out.count}), PrimType::kI64);
  const Type array{PrimType::kI64, {n}};
  ELoop loop;
  const VarId bit = p_.new_var(kIndex, "bit");
  loop.form = LoopFor{bit, b.sub(i64(64), leading_zeros)};
  const VarId key = p_.new_var(array, "bin"), order = p_.new_var(array, "order");
  loop.params = {{key, keys}, {order, b.iota(n)}};
  Builder in(p_, loop.body, b.prov());
  sort_by_bit(in, loop, n);
  const Vars sorted = b.emit(std::move(loop), {array, array}, "sorted");
  out.bins = sorted[0];
  out.order = sorted[1];
  return out;
}

/// The combinations of the values of the same bin that stand before each element.
Reverse::Vars Reverse::bin_prefixes(Builder& b, const Monoid& m, const Atom& width, VarId bins,
                                    const Vars& values) {
  const Type flag{PrimType::kBool, {}};
  const size_t n = values.size();
  const VarId starts = b.map(width, {b.iota(width), bins},
                             b.lambda({kIndex, kIndex},
                                      [&](Builder& in, const Vars& v) {
                                        const Atom before =
                                            rows_or(in, in.lt(i64(0), v[0]), in.sub(v[0], i64(1)),
                                                    {bins}, {i64(-1)})[0];
                                        return Atoms{in.prim(ScalarOp::kNe, {before, v[1]})};
                                      },
                                      {flag}),
                             "starts")[0];
  std::vector<Type> types{flag}, arrays;
  types.insert(types.end(), m.op.ret.begin(), m.op.ret.end());
  std::vector<Type> params = types;
  params.insert(params.end(), types.begin(), types.end());
  Monoid in_bin;
  in_bin.neutral = joined({PrimValue::of_bool(false)}, m.neutral);
  in_bin.op = b.lambda(
      params,
      [&](Builder& in, const Vars& v) {
        const Atoms acc = rows_at(v, 1, n), x = rows_at(v, n + 2, n);
        const Vars out = in.if_(
            v[n + 1], [&](Builder&) { return x; },
            [&](Builder& r) { return inline_lambda(r, m.op, joined(acc, x)); }, m.op.ret);
        Atoms results{in.prim(ScalarOp::kOr, {v[0], v[n + 1]})};
        return joined(std::move(results), {out.begin(), out.end()});
      },
      types);
  ESoac e{width, {starts}, identity_lambda(p_, types), {}, {}};
  e.inputs.insert(e.inputs.end(), values.begin(), values.end());
  e.scans.push_back(std::move(in_bin));
  for (const Type& t : types) arrays.push_back(array_of(width, t));
  const Vars all = b.emit(std::move(e), arrays, "scanned");
  const Vars scanned(all.begin() + 1, all.end());
  return b.map(width, {b.iota(width), starts},
               b.lambda(
                   {kIndex, flag},
                   [&](Builder& in, const Vars& v) {
                     const Atom exists = in.prim(ScalarOp::kNot, {v[1]});
                     return rows_or(in, exists, in.sub(v[0], i64(1)), scanned, m.neutral);
                   },
                   m.op.ret),
               "before");
}

/// bin = ((dest op values before) op x) op values behind, for each value x in its bin's order.
void Reverse::hist_values(Builder& b, const EHist& e, const Vars& adj) {
  const EHist::Op& op = e.ops[0];
  const Monoid& m = op.monoid;
  const auto rank = static_cast<size_t>(op.index_rank);
  const size_t n = op.dests.size();
  const Vars values(e.inputs.begin() + static_cast<std::ptrdiff_t>(rank), e.inputs.end());
  bool varied = false;
  for (const VarId v : values) varied = varied || varies(v);
  // Variables that the operator uses may vary as well: their part of it is found here.
  if (!varied && !activity_.has_result(m.op.body)) return;
  const Bins sorted = sort_by_bin(b, e);
  const Vars ordered = b.map(e.width, {sorted.order},
                             b.lambda(
                                 {kIndex},
                                 [&](Builder& in, const Vars& i) {
                                   Atoms rows;
                                   for (const VarId v : values) {
                                     rows.push_back(in.index(v, Atoms{i[0]}));
                                   }
                                   return rows;
                                 },
                                 m.op.ret),
                             "ordered");
  Vars inputs{sorted.bins}, turned, dests, adjoints;
  for (const VarId v : bin_prefixes(b, m, e.width, sorted.bins, ordered)) inputs.push_back(v);
  inputs.insert(inputs.end(), ordered.begin(), ordered.end());
  for (const VarId v : ordered) turned.push_back(reversed(b, v));
  const Monoid other{flipped(p_, m.op), m.neutral, m.commutative};
  for (const VarId v : bin_prefixes(b, other, e.width, reversed(b, sorted.bins), turned)) {
    inputs.push_back(reversed(b, v));
  }
  for (size_t k = 0; k < n; ++k) {
    dests.push_back(flat(b, op.dests[k], rank, sorted.count));
    adjoints.push_back(flat(b, adj[k], rank, sorted.count));
  }
  const Vars back = reverse_map(b, e.width, inputs, [&](Builder& in, const Vars& params) {
    const Atom inside = in.lt(params[0], sorted.count);
    Atoms zeros;
    for (const Type& t : m.op.ret) zeros.push_back(zero_of(in, t));
    const Atoms adj_bin = rows_or(in, inside, params[0], adjoints, zeros);
    const Atoms dest = rows_or(in, inside, params[0], dests, m.neutral);
    const Atoms before = rows_at(params, 1, n), x = rows_at(params, 1 + n, n),
                behind = rows_at(params, 1 + 2 * n, n);
    const Atoms left = inline_lambda(in, m.op, joined(dest, before));
    const Atoms with_x = inline_lambda(in, m.op, joined(left, x));
    const Atoms adj_with = pull(in, m.op, joined(with_x, behind), adj_bin, wanted(n, true), false);
    const Atoms adj_x = pull(in, m.op, joined(left, x), adj_with, wanted(n, false), true);
    std::vector<Row> rows;
    const Vars out = in.if_(
        inside, [&](Builder&) { return adj_x; }, [&](Builder&) { return zeros; }, m.op.ret);
    for (size_t k = 0; k < n; ++k) rows.push_back({out[k], m.op.ret[k]});
    return rows;
  });
  EScatter restore{e.width, {sorted.order}, {}, {}};
  std::vector<Type> types{kIndex}, arrays;
  for (size_t k = 0; k < n; ++k) {
    restore.inputs.push_back(back[k]);
    types.push_back(m.op.ret[k]);
    arrays.push_back(p_.type_of(values[k]));
    restore.dests.push_back(
        {b.emit(EScratch{arrays[k].prim, arrays[k].dims}, arrays[k], "adj"), 1});
  }
  restore.map = identity_lambda(p_, types);
  restore.map.body.results.insert(restore.map.body.results.begin(), n - 1, restore.map.params[0]);
  restore.map.ret.insert(restore.map.ret.begin(), n - 1, kIndex);
  const Vars restored = b.emit(std::move(restore), arrays, "adj");
  b.last().attrs.emplace_back(kUniqueWrites);
  for (size_t k = 0; k < n; ++k) contribute(b, values[k], restored[k]);
}

}  // namespace kenaz::ad
