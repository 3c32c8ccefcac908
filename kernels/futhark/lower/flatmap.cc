// flatmap: the one map whose function may return arrays of different sizes. The function is run
// twice: for the sizes of its results, all at once, and for their elements, one after the other,
// each written to its place.
#include "kernels/futhark/lower/lowerer.h"
#include "kernels/ir/builder.h"

namespace kenaz::lower {

using ir::Atom;

namespace {
// For the sum of lengths that the program's data decide: there is no memory for one that would
// wrap.
const core::EIntrinsic kPlus{core::Intrinsic::kSizeAdd, {}, {}};
}  // namespace

/// Results: offsets and where the flags of the segments go (-1 for an empty one).
std::pair<Atom, Atom> Lowerer::segment_starts(const Atom& width, const Atom& ends,
                                              const Atom& lengths) {
  ir::ESoac soac;
  soac.width = width;
  soac.map = identity_lambda({ends, lengths}, soac.inputs);
  b_.open();
  const Atom end = soac.map.params[0], length = soac.map.params[1];
  const Atom offset = b_.sub(end, length);
  const Atom flag = b_.select(PrimType::kI64, b_.lt(ir::i64(0), length), offset, ir::i64(-1));
  soac.map.body.stms = b_.close();
  soac.map.body.results = {offset, flag};
  const ir::Type type{PrimType::kI64, {width}};
  ir::VarId offsets = b_.var(type, "offsets"), flags = b_.var(type, "flag_places");
  b_.emit({offsets, flags}, std::move(soac));
  return {offsets, flags};
}

V Lowerer::flatmap(const V& fun, const V& array) {
  const Atom n = as_array(array).dim;
  VFun plus;
  plus.intrinsic = &kPlus;
  plus.arity = 2;
  const V add = make(std::move(plus));
  const size_t calls = recursive_calls_;

  // Sizes, and what else the function returns.
  const PerElement here(per_element_);
  ir::ESoac soac;
  soac.width = n;
  b_.open();
  V result = apply(fun, {lambda_row(array, soac.map, soac.inputs)});
  V rows = failed() ? unit() : materialise(project(result, "0"));
  V rest = failed() ? unit() : project(result, "1");
  if (failed()) return unit();
  VRec pair;
  pair.fields.emplace_back("0", leaf(as_array(rows).dim));
  pair.fields.emplace_back("1", rest);
  std::vector<ir::Type> elems;
  {
    Builder::Outside outside(b_);
    for (const auto& l : leaves(as_array(rows).elem)) {
      ir::Type t = b_.type_of(l.atom);
      if (!l.is_dim() && !t.dims.empty()) t.dims.erase(t.dims.begin());
      for (const Atom& d : t.dims) {
        if (!b_.in_scope(d) && !b_.hoist(d.var(), n, false)) {
          return fail(
              "irregular nested arrays are not supported yet: flatmap's function returns "
              "rows whose size depends on its argument");
        }
      }
      if (!l.is_dim()) elems.push_back(std::move(t));
    }
  }
  V tmpl = close_lambda(make(std::move(pair)), soac.map, n, nullptr, "flatmap's function");
  if (failed()) return unit();
  // To call a function that calls itself twice would take exponential time: once, one after the
  // other. What has been lowered so far only tells the types.
  if (recursive_calls_ != calls)
    return flatmap_in_turn(fun, array, rows, elems, project(tmpl, "1"));
  std::vector<ir::VarId> vars;
  V both = result_arrays(n, tmpl, vars);
  b_.emit(std::move(vars), std::move(soac));
  const V lengths = make(VArr{n, project(as_array(both).elem, "0")});
  const V others = make(VArr{n, project(as_array(both).elem, "1")});

  const Atom total = as_atom(reduce(add, leaf(ir::i64(0)), lengths, true, false));
  if (failed()) return unit();
  auto [offsets, flags] = segment_flags(lengths, total);
  V elements = flatmap_elements(fun, array, rows, elems, total, offsets);
  return flatmap_result(lengths, flags, offsets, elements, others);
}

/// Where segments of these lengths begin, and a flag for each element whether one begins there.
std::pair<Atom, V> Lowerer::segment_flags(const V& lengths, const Atom& total) {
  VFun plus;
  plus.intrinsic = &kPlus;
  plus.arity = 2;
  const Atom n = as_array(lengths).dim;
  const V ends = reduce(make(std::move(plus)), leaf(ir::i64(0)), lengths, false, true);
  if (failed()) return {ir::i64(0), unit()};
  const Atom length_array = as_atom(as_array(lengths).elem);
  auto [offsets, places] = segment_starts(n, as_atom(as_array(ends).elem), length_array);
  const V flags =
      scatter(replicate(total, leaf(PrimValue::of_bool(false))), make(VArr{n, leaf(places)}),
              replicate(n, leaf(PrimValue::of_bool(true))), 1);
  return {offsets, flags};
}

V Lowerer::flatmap_result(const V& lengths, const V& flags, const Atom& offsets, const V& elements,
                          const V& others) {
  const Atom n = as_array(lengths).dim;
  VRec out;
  out.fields = {{"0", lengths},
                {"1", flags},
                {"2", make(VArr{n, leaf(offsets)})},
                {"3", elements},
                {"4", others}};
  return make(std::move(out));
}

V Lowerer::flatmap_elements(const V& fun, const V& array, const V& rows,
                            const std::vector<ir::Type>& elems, const Atom& total,
                            const Atom& offsets) {
  if (failed()) return unit();
  ir::ELoop loop;
  std::vector<ir::VarId> results;
  std::vector<Atom> finals;
  for (ir::Type t : elems) {
    std::vector<Atom> dims = t.dims;
    t.dims.insert(t.dims.begin(), total);
    results.push_back(b_.var(t, "elements"));
    finals.push_back(results.back());
    ir::VarId init = b_.let(t, ir::EScratch{t.prim, t.dims}, "elements");
    loop.params.push_back({ir::VarId{}, init});
  }
  b_.open();
  ir::VarId i = b_.var({PrimType::kI64, {}}, "i");
  loop.form = ir::LoopFor{i, as_array(array).dim};
  for (size_t k = 0; k < elems.size(); ++k) {
    loop.params[k].var = b_.var(b_.type_of(results[k]), "elements");
  }
  V row_values = materialise(project(apply(fun, {row(array, i)}), "0"));
  if (failed()) return unit();
  const Atom count = as_array(row_values).dim;
  const Atom start = as_atom(row(make(VArr{as_array(array).dim, leaf(offsets)}), i));
  size_t k = 0;
  for (const auto& l : leaves(as_array(row_values).elem)) {
    if (l.is_dim() || k >= elems.size()) continue;
    ir::EUpdate u{loop.params[k].var, {ir::DimRange{start, count, ir::i64(1)}}, {}};
    std::vector<Atom> want{count};
    for (const Atom& d : elems[k].dims) {
      u.dims.push_back(ir::DimRange{ir::i64(0), d, ir::i64(1)});
      want.push_back(d);
    }
    u.value = reshape(l.atom, want, {});
    loop.body.results.push_back(b_.let(b_.type_of(results[k]), std::move(u), "elements"));
    ++k;
  }
  loop.body.stms = b_.close();
  if (k != elems.size()) return broken("flatmap's function gives different structures");
  if (!results.empty()) b_.emit(std::move(results), std::move(loop));
  k = 0;
  return make(
      VArr{total, map_leaves(as_array(rows).elem, [&](const Atom&) { return finals[k++]; })});
}

/// A loop that appends the rows of one call after the other. `rest`: what the function returns
/// beside rows, for its structure and types.
V Lowerer::flatmap_in_turn(const V& fun, const V& array, const V& rows,
                           const std::vector<ir::Type>& elems, const V& rest) {
  const Atom n = as_array(array).dim;
  const ir::Type number{PrimType::kI64, {}};
  // Total length, lengths, elements, rest: the loop's results, and its parameters of the same
  // types.
  ir::ELoop loop;
  std::vector<ir::VarId> finals = {b_.var(number, "total")};
  loop.params.push_back({{}, ir::i64(0)});
  const auto add = [&](const Atom& size, ir::Type t, const Atom& now) {
    t.dims.insert(t.dims.begin(), size);
    finals.push_back(b_.var(t, "parts"));
    t.dims[0] = now;
    loop.params.push_back({{}, b_.let(t, ir::EScratch{t.prim, t.dims}, "parts")});
  };
  add(n, number, n);
  for (const ir::Type& t : elems) add(finals[0], t, ir::i64(0));
  for (const auto& l : leaves(rest)) add(n, b_.type_of(l.atom), n);
  b_.open();
  const ir::VarId i = b_.var(number, "i");
  loop.form = ir::LoopFor{i, n};
  for (size_t k = 0; k < finals.size(); ++k) {
    ir::Type t = b_.type_of(finals[k]);
    const bool grows = k > 1 && k < 2 + elems.size();
    if (grows) t.dims[0] = loop.params[0].var;
    loop.params[k].var = b_.var(t, "parts");
  }
  const V result = apply(fun, {row(array, i)});
  if (failed()) return unit();
  const V made = materialise(project(result, "0"));
  const Atom count = as_array(made).dim;
  const Atom total = b_.prim(ScalarOp::kSizeAdd, PrimType::kI64, {loop.params[0].var, count});
  loop.body.results = {total};
  const auto store = [&](const Atom& value) {
    const ir::VarId to = loop.params[loop.body.results.size()].var;
    ir::EUpdate u{to, ir::row_dims(b_.type_of(to), {i}), value};
    std::vector<Atom> dims = b_.type_of(to).dims;
    dims.erase(dims.begin());
    if (!dims.empty()) u.value = reshape(value, dims, {});
    loop.body.results.push_back(b_.let(b_.type_of(to), std::move(u), "parts"));
  };
  store(count);
  for (const auto& l : leaves(as_array(made).elem)) {
    const size_t k = loop.body.results.size();
    if (l.is_dim() || k >= 2 + elems.size()) continue;
    std::vector<Atom> dims = elems[k - 2].dims;
    dims.insert(dims.begin(), count);
    ir::EConcat join{{loop.params[k].var, array_var(reshape(l.atom, dims, {}))}, total};
    dims[0] = total;
    loop.body.results.push_back(b_.let({elems[k - 2].prim, dims}, std::move(join), "parts"));
  }
  for (const auto& l : leaves(materialise(project(result, "1")))) store(l.atom);
  loop.body.stms = b_.close();
  if (failed()) return unit();
  if (loop.body.results.size() != finals.size()) return broken("flatmap's function in turn");
  b_.emit(finals, std::move(loop));
  size_t k = 1;
  const auto next = [&](const Atom&) -> Atom { return finals[k++]; };
  const V lengths = make(VArr{n, leaf(finals[k++])});
  const V elements = make(VArr{finals[0], map_leaves(as_array(rows).elem, next)});
  const V others = make(VArr{n, map_leaves(rest, next)});
  auto [offsets, flags] = segment_flags(lengths, finals[0]);
  return failed() ? unit() : flatmap_result(lengths, flags, offsets, elements, others);
}

}  // namespace kenaz::lower
