#include "kernels/host_code/seg_element.h"

#include <algorithm>

#include "kernels/host_code/indices.h"

namespace kenaz::host_code {

using body::KernelArray;
using body::KernelValue;
using body::Thread;
using kir::Value;
using kir::Values;

namespace {

bool combines(const ir::ESeg& e) {
  return std::any_of(e.writes.begin(), e.writes.end(),
                     [](const ir::SegWrite& w) { return w.combine.has_value(); });
}

/// The place of this point in an array with the space's dims in front.
KernelArray place_of(Thread& t, const ir::ESeg& e, const HostArray& a) {
  KernelArray place = t.args.array(a);
  for (const auto& d : e.space.dims) {
    place = body::row_place(t, place, std::get<Value>(t.env.value(ir::Atom(d.index))));
  }
  return place;
}

}  // namespace

size_t handed_by(const ir::ESeg& e) {
  return combines(e) ? operands_of(e) + write_results_of(e) : operands_of(e);
}

SegParts make_parts(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  SegParts parts;
  if (!e.writes.empty()) host.settle_borrowed();
  size_t k = operands_of(e);
  for (const auto& w : e.writes) {
    for (const ir::VarId d : w.dests) {
      if (!w.combine) {
        parts.dests.push_back(host.in_memory(host.array(d)));
        host.bind(s.pat[k], parts.dests.back());
      }
      k++;
    }
  }
  for (; k < s.pat.size(); k++) parts.stored.push_back(host.make_and_bind(s.pat[k]));
  return parts;
}

void bind_indices(HostArrays& host, Thread& t, const std::vector<ir::SegDim>& dims,
                  const Value& linear) {
  if (dims.empty()) return;
  const Values at = indices_of(host, t, host.dims_of(ir::sizes_of(dims)), linear);
  for (size_t d = 0; d < dims.size(); d++) t.env.bind_param(dims[d].index, at[d]);
}

kir::FunctionId point_function(HostArrays& host, Thread& t, const ir::ESeg& e,
                               const std::vector<size_t>& groups, const SegParts& parts) {
  const std::vector<kir::Type> numbers(groups.size(), kir::Type{PrimType::kI64});
  return body::function(t, "elem", numbers, [&](const Values& args) {
    auto from = e.space.dims.begin();
    for (size_t g = 0; g < groups.size(); g++) {
      const auto to = from + static_cast<std::ptrdiff_t>(groups[g]);
      bind_indices(host, t, {from, to}, args[g]);
      from = to;
    }
    return run_point(host, t, e, parts);
  });
}

void write_values(Thread& t, const ir::ESeg& e, const std::vector<HostArray>& dests,
                  const std::vector<KernelValue>& results) {
  std::vector<int> ranks;
  std::vector<KernelArray> to;
  std::vector<KernelValue> indices, values;
  size_t at = operands_of(e);
  for (const auto& w : e.writes) {
    const size_t first = at, rank = static_cast<size_t>(w.index_rank);
    at += rank;
    for (size_t n = 0; n < w.dests.size(); n++) {  // each at the same index
      for (int d = 0; d < w.segment_rank; d++) {
        indices.push_back(t.env.value(ir::Atom(e.space.dims[static_cast<size_t>(d)].index)));
      }
      for (size_t d = 0; d < rank; d++) indices.push_back(results[first + d]);
      values.push_back(results[at++]);
      ranks.push_back(w.segment_rank + w.index_rank);
      to.push_back(t.args.array(dests[to.size()]));
    }
  }
  indices.insert(indices.end(), values.begin(), values.end());
  if (!to.empty()) body::scatter_element(t, to, ranks, indices);
}

Values run_point(HostArrays& host, Thread& t, const ir::ESeg& e, const SegParts& parts) {
  const size_t count = e.body.results.size();
  const size_t handed = parts.hands_all ? count : handed_by(e);
  const size_t first_plain = std::max(handed, operands_of(e) + write_results_of(e));
  const size_t kept = parts.hands_on ? 0 : handed;
  std::vector<std::optional<KernelArray>> places(count);
  std::vector<KernelArray> rows(count);
  const auto store = [&](size_t n, size_t number) {
    rows[n] = place_of(t, e, parts.stored[number]);
    if (!rows[n].layout.dims.empty()) places[n] = rows[n];
  };
  for (size_t n = 0; n < kept; n++) store(n, n);
  for (size_t n = first_plain; n < count; n++) store(n, kept + n - first_plain);
  const auto results = body::translate(t, e.body, places);
  Values out;
  if (host.failed()) return out;
  for (size_t n = kept; n < handed; n++) out.push_back(std::get<Value>(results[n]));
  // What a scatter writes is its own, not the last statement's of a map that has become part of it.
  if (!e.writes.empty()) t.k.set_prov(t.kernel.prov);
  if (!combines(e) && !parts.hands_all) write_values(t, e, parts.dests, results);
  for (size_t n = 0; n < count; n++) {
    if (n < kept || n >= first_plain) body::place(t, results[n], rows[n]);
  }
  return out;
}

void store_points(Thread& t, const ScalarResults& scalars, const SegParts& parts,
                  const Value& place, const std::vector<Values>& results) {
  size_t next = 0;
  for (size_t n = 0; n < parts.stored.size(); n++) {
    const int length = scalars.lengths[n];
    const Value base = t.args.block(parts.stored[n].block), first = t.k.mul(place, length);
    for (size_t c = 0; c < results.size(); c++) {
      for (int j = 0; j < length; j++) {
        const auto lane = static_cast<int64_t>(c) * length + j;
        t.k.store(base, t.k.add(first, lane), results[c][next + static_cast<size_t>(j)]);
      }
    }
    next += static_cast<size_t>(length);
  }
}

}  // namespace kenaz::host_code
