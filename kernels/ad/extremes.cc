// Reverse mode of reductions and histograms by min and max: the whole adjoint goes to one element.
#include <limits>

#include "kernels/ad/reverse_sweep.h"

namespace kenaz::ad {

using namespace ir;

namespace {

const Type kIndex{PrimType::kI64, {}};
/// The number of no element: later than all.
const Atom kNone = PrimValue::of_int(PrimType::kI64, std::numeric_limits<int64_t>::max());

/// The smaller of two numbers of elements: of equals, the first one is the result.
Monoid first_of_two(Builder& b) {
  Monoid m;
  m.op = b.lambda({kIndex, kIndex},
                  [](Builder& in, const std::vector<VarId>& v) {
                    return std::vector<Atom>{in.min(v[0], v[1])};
                  },
                  {kIndex});
  m.neutral = {kNone};
  m.commutative = true;
  return m;
}

bool takes_least(const Monoid& m) {
  return std::get<EPrim>(m.op.body.stms[0].exp).op == ScalarOp::kMin;
}

/// What stands before all elements, as a number: that of a minimum whose neutral element is none is
/// infinity, for comparisons find no order among what is no number.
Atom neutral_number(Builder& b, const Monoid& m, const Type& value) {
  const Atom neutral = m.neutral[0];
  if (!is_float(value.prim)) return neutral;
  const double infinity = std::numeric_limits<double>::infinity();
  const Atom last = PrimValue::of_float(value.prim, takes_least(m) ? infinity : -infinity);
  return b.select(b.prim(ScalarOp::kIsNan, {neutral}), last, neutral);
}

/// The extreme of two elements with their numbers, the first one of equals. Elements that are no
/// numbers must have been taken out.
Monoid extreme_of_two(Builder& b, const Monoid& of, const Atom& neutral, const Type& value) {
  const bool least = takes_least(of);
  const auto pick = [&](Builder& in, const std::vector<VarId>& v) {
    const Atom x = v[0], i = v[1], y = v[2], j = v[3];
    const Atom before = least ? in.lt(x, y) : in.lt(y, x);
    const Atom earlier = in.lt(i, j);
    const Atom first = in.logical_and(in.eq(x, y), earlier);
    const Atom left = in.prim(ScalarOp::kOr, {before, first});
    return std::vector<Atom>{in.select(left, x, y), in.select(left, i, j)};
  };
  Monoid m;
  m.op = b.lambda({value, kIndex, value, kIndex}, pick, {value, kIndex});
  m.neutral = {neutral, kNone};
  m.commutative = true;
  return m;
}

}  // namespace

/// The first element that equals the result is the result, unless the neutral element does, which
/// stands before all. It is found without the result, so that one pass over the elements gives
/// both.
void Reverse::reduce_extreme(Builder& b, const ESoac& e, const Atom& adj) {
  const Type value = e.reduces[0].op.ret[0];
  const Atom neutral = e.reduces[0].neutral[0];
  const Atom start = neutral_number(b, e.reduces[0], value);
  const auto candidate = [&](Builder& in, const Vars& v) {
    Atom counts = in.prim(ScalarOp::kNe, {v[0], neutral});
    if (is_float(value.prim)) {
      const Atom none = in.prim(ScalarOp::kIsNan, {v[0]});
      counts = in.logical_and(counts, in.prim(ScalarOp::kNot, {none}));
    }
    return Atoms{in.select(counts, v[0], start), in.select(counts, v[1], kNone)};
  };
  ESoac find{e.width,
             {e.inputs[0], b.iota(e.width)},
             b.lambda({value, kIndex}, candidate, {value, kIndex}),
             {},
             {extreme_of_two(b, e.reduces[0], start, value)}};
  const Vars found = b.emit(std::move(find), {value, kIndex}, "first");
  const Atom exists = b.lt(found[1], kNone);
  Part part;
  part.index = {b.select(exists, found[1], i64(0))};
  part.value = b.select(exists, adj, zero_of(b, value));
  part.found = true;
  contribute(e.inputs[0], std::move(part));
}

/// Per bin as in a reduction; what was in it before stands before all elements.
void Reverse::hist_extreme(Builder& b, const Stm& s, const EHist& e, VarId adj) {
  const VarId dest = e.ops[0].dests[0], bins = s.pat[0], value = e.inputs.back();
  const Type t = p_.type_of(bins), element{t.prim, {}};
  const Vars index(e.inputs.begin(), e.inputs.end() - 1);
  const auto of_bins = [&](const Vars& arrays, const Builder::LambdaFn& fn, const Type& ret) {
    Vars flat;
    const Atom count = b.product(t.dims);
    for (const VarId v : arrays) flat.push_back(t.rank() == 1 ? v : b.reshape({count}, v));
    const std::vector<Type> params(arrays.size(), element);
    const VarId out = b.map(count, flat, b.lambda(params, fn, {ret}))[0];
    return t.rank() == 1 ? out : b.reshape(t.dims, out);
  };
  if (varies(value)) {
    const VarId before = of_bins(
        {dest, bins},
        [&](Builder& in, const Vars& v) {
          return Atoms{in.select(in.eq(v[0], v[1]), i64(-1), kNone)};
        },
        kIndex);
    const auto place_of = [&](const Vars& v) { return Atoms(v.begin(), v.begin() + t.rank()); };
    const auto candidate = [&](Builder& in, const Vars& v) {
      Atoms out = place_of(v);
      const Atom x = v[index.size()], i = v.back();
      const Atom is_result = in.eq(x, row_or_zero(in, bins, out));
      out.push_back(in.select(is_result, i, kNone));
      return out;
    };
    std::vector<Type> rows(index.size(), kIndex);
    const std::vector<Type> found(index.size() + 1, kIndex);
    Vars inputs = index;
    inputs.insert(inputs.end(), {value, b.iota(e.width)});
    rows.insert(rows.end(), {element, kIndex});
    EHist find{e.width, inputs, b.lambda(rows, candidate, found), {}};
    find.ops.push_back({{before}, e.ops[0].index_rank, first_of_two(b)});
    const VarId first = b.emit(std::move(find), Type{PrimType::kI64, t.dims}, "first");
    inputs.erase(inputs.end() - 2);
    const auto back = [&](Builder& in, const Vars& v) {
      const Atoms place = place_of(v);
      const Atom zero = zero_of(in, element);
      const Vars out = in.if_(
          is_inside(in, place, t),
          [&](Builder& at) {
            const Atom is_first = at.eq(at.index(first, place), v.back());
            return Atoms{at.select(is_first, at.index(adj, place), zero)};
          },
          [&](Builder&) { return Atoms{zero}; }, {element});
      return Atoms{out[0]};
    };
    contribute(b, value, b.map(e.width, inputs, b.lambda(found, back, {element}), "adj")[0]);
  }
  const auto of_dest = [&](Builder& in, const Vars& v) {
    return Atoms{in.select(in.eq(v[0], v[1]), v[2], zero_of(in, element))};
  };
  if (varies(dest)) contribute(b, dest, of_bins({dest, bins, adj}, of_dest, element));
}

}  // namespace kenaz::ad
