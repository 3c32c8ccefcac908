// Updates in place: of a slice, of scattered elements, of histograms.
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;
using kir::Values;

void update(Thread& t, const ir::Stm& s, const ir::EUpdate& e) {
  KernelArray a = t.env.array(e.array);
  if (a.kind != ArrayKind::kMemory) {
    const auto wanted = t.dests.of(e.array);
    const KernelArray d = wanted ? *wanted : dest_for(t, s.pat[0]);
    copy(t, a, d);
    a = d;
  }
  place(t, t.env.value(e.value), sliced(t, a, slice_dims(t, e.dims)));
  t.env.bind(s.pat[0], a);
}

namespace {

Value in_bounds(Thread& t, const KernelArray& dest, const Values& at) {
  Value all = kir::boolean(true);
  for (size_t k = 0; k < at.size(); k++) {
    all = t.k.and_(all, t.k.and_(t.k.le(kir::i64(0), at[k]), t.k.lt(at[k], dest.layout.dims[k])));
  }
  return all;
}

KernelArray slot(Thread& t, KernelArray dest, const Values& at) {
  for (const Value& i : at) dest = row_place(t, dest, i);
  return dest;
}

/// The memory of an array that is consumed.
KernelArray consumed_memory(Thread& t, VarId array, VarId result) {
  const KernelArray a = t.env.array(array);
  if (a.kind == ArrayKind::kMemory) return a;
  const KernelArray d = dest_for(t, result);
  copy(t, a, d);
  return d;
}

Values take_index(const std::vector<KernelValue>& results, size_t& at, int rank) {
  Values index;
  for (int r = 0; r < rank; r++) index.push_back(std::get<Value>(results[at++]));
  return index;
}

/// dest[index] = op(dest[index], values)
void bin(Thread& t, const ir::EHist::Op& op, const std::vector<KernelArray>& dests,
         const Values& index, const std::vector<KernelValue>& values) {
  std::vector<KernelArray> places;
  std::vector<KernelValue> old;
  for (const KernelArray& d : dests) {
    places.push_back(slot(t, d, index));
    const KernelArray& p = places.back();
    old.push_back(p.layout.dims.empty() ? KernelValue(load(t, p, p.layout.offset)) : p);
  }
  const auto results = combine(t, op.monoid, old, values);
  if (t.host.failed()) return;
  std::vector<Slot> slots;
  std::vector<KernelValue> arrays;
  std::vector<VarId> types_of;
  for (size_t k = 0; k < places.size(); k++) {
    if (results[k].index() == 0) continue;
    slots.emplace_back(places[k]);
    arrays.push_back(results[k]);
    types_of.push_back(op.monoid.op.params[k]);
  }
  assign(t, slots, arrays, types_of);
  for (size_t k = 0; k < places.size(); k++) {
    if (results[k].index() == 0) place(t, results[k], places[k]);
  }
}

}  // namespace

void scatter_element(Thread& t, const std::vector<KernelArray>& dests,
                     const std::vector<int>& ranks, const std::vector<KernelValue>& results) {
  size_t at = 0, value_at = 0;
  for (int r : ranks) value_at += static_cast<size_t>(r);
  for (size_t k = 0; k < dests.size(); k++) {
    const Values index = take_index(results, at, ranks[k]);
    t.k.if_(in_bounds(t, dests[k], index),
            [&] { place(t, results[value_at], slot(t, dests[k], index)); });
    value_at++;
  }
}

void scatter(Thread& t, const ir::Stm& s, const ir::EScatter& e) {
  std::vector<KernelArray> dests;
  std::vector<int> ranks;
  for (size_t k = 0; k < e.dests.size(); k++) {
    dests.push_back(consumed_memory(t, e.dests[k].array, s.pat[k]));
    ranks.push_back(e.dests[k].index_rank);
  }
  if (t.host.failed()) return;
  for_elements(t, t.env.scalar(e.width), [&](const Value& i) {
    bind_rows(t, e.map.params, e.inputs, i);
    const auto results = translate(t, e.map.body);
    t.k.set_prov(s.prov);
    if (!t.host.failed()) scatter_element(t, dests, ranks, results);
  });
  for (size_t k = 0; k < dests.size(); k++) t.env.bind(s.pat[k], dests[k]);
}

void hist(Thread& t, const ir::Stm& s, const ir::EHist& e) {
  std::vector<KernelArray> dests;
  size_t indices = 0;
  for (const auto& op : e.ops) {
    for (VarId d : op.dests) dests.push_back(consumed_memory(t, d, s.pat[dests.size()]));
    indices += static_cast<size_t>(op.index_rank);
  }
  if (t.host.failed()) return;
  for_elements(t, t.env.scalar(e.width), [&](const Value& i) {
    bind_rows(t, e.map.params, e.inputs, i);
    const auto results = translate(t, e.map.body);
    t.k.set_prov(s.prov);
    size_t index_at = 0, at = 0;
    for (const auto& op : e.ops) {
      if (t.host.failed()) return;
      const Values index = take_index(results, index_at, op.index_rank);
      const auto n = static_cast<long>(op.dests.size());
      const auto dest = dests.begin() + static_cast<long>(at);
      const auto value = results.begin() + static_cast<long>(indices + at);
      t.k.if_(in_bounds(t, *dest, index), [&] {
        bin(t, op, {dest, dest + n}, index, {value, value + n});
      });
      at += op.dests.size();
    }
  });
  for (size_t k = 0; k < dests.size(); k++) t.env.bind(s.pat[k], dests[k]);
}

}  // namespace kenaz::body
