// Combinators in a nest.
#include <algorithm>

#include "kernels/flatten/distribution.h"
#include "kernels/ir/builder.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Whether the operator as it is written works on scalars.
bool is_scalar(const Monoid& m) {
  return std::all_of(m.op.ret.begin(), m.op.ret.end(), [](const Type& t) { return t.is_scalar(); });
}

}  // namespace

Nest Distribution::enter(const Nest& nest, const Atom& width, const Vars& inputs, Lambda& map,
                         const Stm& s) {
  const VarId i = p_.new_var({PrimType::kI64, {}}, "i");
  parallelism_.is_varying(i);
  const std::vector<VarId> certs = varying_certs(s);
  wait_inside(map.body, map.params, certs, s.prov);
  for (size_t k = 0; k < inputs.size(); k++) {
    EIndex row{inputs[k], row_dims(p_.type_of(inputs[k]), {i})};
    values_.make_always(Stm{{map.params[k]}, std::move(row), certs, s.prov, {}});
  }
  return nest.with({i, width});
}

// A body of one ESeg over these elements; deeper parallelism is spread before it.
Body Distribution::operands(const Nest& in, Body& b, Stms& out, SegSpace& space) {
  Stms group;
  walk(in, b, group, out);
  if (failed_) return {};
  return values_.body_at_point(in, group, b.results, space);
}

// As above for several ESegs: their bodies can read b's results.
void Distribution::make_results(const Nest& in, Body& b, Stms& out) {
  Stms group;
  walk(in, b, group, out);
  if (failed_ || group.empty()) return;
  VarSet made;
  for (const Stm& s : group) made.insert(s.pat.begin(), s.pat.end());
  std::vector<Atom> atoms;
  for (const Atom& r : b.results) {
    const bool is_new = std::find(atoms.begin(), atoms.end(), r) == atoms.end();
    if (is_new && depends_on(made, r)) atoms.push_back(r);
  }
  if (atoms.empty()) return;
  const Vars arrays = results(in, group, atoms, out);
  for (size_t k = 0; k < arrays.size(); k++) values_.store(atoms[k].var(), arrays[k], in);
}

Vars Distribution::soac(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<ESoac>(s.exp);
  const Nest in = enter(nest, e.width, e.inputs, e.map, s);
  prov_ = s.prov;
  Body& b = e.map.body;
  if (e.scans.empty() && e.reduces.empty()) return body(in, std::move(b), out);
  const bool scans = !e.scans.empty();
  std::vector<Monoid> monoids = e.scans;
  append(monoids, e.reduces);
  if (scans != !e.reduces.empty() &&
      std::all_of(monoids.begin(), monoids.end(), [](const Monoid& m) { return is_scalar(m); })) {
    ESeg seg;
    seg.kind = scans ? SegKind::kScan : SegKind::kReduce;
    seg.body = operands(in, b, out, seg.space);
    if (failed_) return {};
    for (Monoid& m : monoids) seg.monoids.push_back({std::move(m), {}});
    return emit(std::move(seg), s, out);
  }
  make_results(in, b, out);
  if (failed_) return {};
  Vars all;
  size_t at = 0;
  for (size_t k = 0; k < monoids.size(); k++) {
    const std::vector<Atom> atoms(
        b.results.begin() + static_cast<long>(at),
        b.results.begin() + static_cast<long>(at) + static_cast<long>(monoids[k].neutral.size()));
    at += atoms.size();
    const SegKind kind = k < e.scans.size() ? SegKind::kScan : SegKind::kReduce;
    append(all, combined(kind, in, monoids[k], atoms, s, out));
  }
  const std::vector<Atom> plain(b.results.begin() + static_cast<long>(at), b.results.end());
  append(all, results(in, {}, plain, out));
  return all;
}

Vars Distribution::pack(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<EPack>(s.exp);
  ESeg seg;
  seg.kind = SegKind::kPack;
  seg.classes = e.classes;
  seg.rest = e.rest;
  return moved(enter(nest, e.width, e.inputs, e.map, s), e.map.body, s, std::move(seg), out);
}

Vars Distribution::sort(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<ESort>(s.exp);
  if (nest.depth() > 0) return sort_rows(nest, s, std::move(e), out);
  ESeg seg;
  seg.kind = SegKind::kSort;
  return moved(enter(nest, e.width, e.inputs, e.map, s), e.map.body, s, std::move(seg), out);
}

Vars Distribution::moved(const Nest& in, Body& elements, const Stm& s, ESeg seg, Stms& out) {
  prov_ = s.prov;
  seg.body = operands(in, elements, out, seg.space);
  if (failed_) return {};
  return emit(std::move(seg), s, out);
}

// The results of the body are all indices, then all values: an ESeg has those of a write together.
std::vector<Atom> Distribution::ordered(const std::vector<Atom>& results,
                                        const std::vector<SegWrite>& writes) {
  std::vector<Atom> out;
  size_t index = 0, value = 0;
  for (const auto& w : writes) value += static_cast<size_t>(w.index_rank);
  for (const auto& w : writes) {
    for (int k = 0; k < w.index_rank; k++) out.push_back(results[index++]);
    for (size_t k = 0; k < w.dests.size(); k++) out.push_back(results[value++]);
  }
  return out;
}

Vars Distribution::write_all(const Nest& in, Body& b, std::vector<SegWrite> writes, const Stm& s,
                             Stms& out) {
  ESeg seg;
  seg.body = operands(in, b, out, seg.space);
  if (failed_) return {};
  seg.body.results = ordered(seg.body.results, writes);
  seg.writes = std::move(writes);
  return emit(std::move(seg), s, out);
}

Vars Distribution::scatter(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<EScatter>(s.exp);
  std::vector<SegWrite> writes;
  for (const auto& d : e.dests) {
    writes.push_back({{own_array(nest, Atom(d.array), s.prov, out)},
                      d.index_rank,
                      static_cast<int>(nest.depth()),
                      {}});
  }
  const Nest in = enter(nest, e.width, e.inputs, e.map, s);
  return write_all(in, e.map.body, std::move(writes), s, out);
}

Vars Distribution::hist(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<EHist>(s.exp);
  std::vector<SegWrite> writes;
  bool scalars = true;
  for (const auto& op : e.ops) {
    SegWrite w;
    for (const VarId d : op.dests) w.dests.push_back(own_array(nest, Atom(d), s.prov, out));
    w.index_rank = op.index_rank;
    w.segment_rank = static_cast<int>(nest.depth());
    w.combine = SegMonoid{op.monoid, {}};
    scalars = scalars && is_scalar(op.monoid);
    writes.push_back(std::move(w));
  }
  const Nest in = enter(nest, e.width, e.inputs, e.map, s);
  if (scalars && writes.size() == 1) {
    return write_all(in, e.map.body, std::move(writes), s, out);
  }
  make_results(in, e.map.body, out);
  if (failed_) return {};
  const std::vector<Atom> atoms = ordered(e.map.body.results, writes);
  Vars all;
  auto next = atoms.begin();
  for (SegWrite& w : writes) {
    const std::vector<Atom> index(next, next + w.index_rank);
    next += w.index_rank;
    const std::vector<Atom> values(next, next + static_cast<long>(w.dests.size()));
    next += static_cast<long>(w.dests.size());
    append(all, written(in, std::move(w), index, values, s, out));
  }
  return all;
}

}  // namespace kenaz::flatten
