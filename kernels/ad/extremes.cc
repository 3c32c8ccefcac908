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

}  // namespace

/// The first element that equals the result is the result, unless the neutral element does, which
/// stands before all.
void Reverse::reduce_extreme(Builder& b, const Stm& s, const ESoac& e, const Atom& adj) {
  const Type value = e.reduces[0].op.ret[0];
  const Atom y = s.pat[0];
  const Atom is_element = b.prim(ScalarOp::kNe, {y, e.reduces[0].neutral[0]});
  const auto number = [&](Builder& in, const Vars& v) {
    return Atoms{in.select(in.logical_and(is_element, in.eq(v[0], y)), v[1], kNone)};
  };
  ESoac find{e.width,
             {e.inputs[0], b.iota(e.width)},
             b.lambda({value, kIndex}, number, {kIndex}),
             {},
             {first_of_two(b)}};
  const Atom first = b.emit(std::move(find), kIndex, "first");
  const Atom exists = b.lt(first, kNone);
  Part part;
  part.index = {b.select(exists, first, i64(0))};
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
