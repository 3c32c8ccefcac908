#include "kernels/host_code/single.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/cells.h"
#include "kernels/host_code/launch.h"

namespace kenaz::host_code {

using body::KernelArray;
using body::Thread;
using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

/// Whether a result of the body is an array that a combinator in it makes.
bool is_made_by_soac(const ir::Body& b, size_t result) {
  const ir::Atom& r = b.results[result];
  return std::any_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
    return std::holds_alternative<ir::ESoac>(s.exp) &&
           std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return r == ir::Atom(v); });
  });
}

}  // namespace

void single(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  const ir::Program& p = host.ir();
  const bool in_place = updates_in_place(p, e.body);
  if (in_place) host.settle_borrowed();
  for (const VarId v : consumed_in(p, e.body)) {
    if (!host.is_bound(v)) continue;
    const auto* a = std::get_if<HostArray>(&host.value(v));
    if (a != nullptr && a->kind != ArrayKind::kMemory) host.bind(v, host.in_memory(*a));
  }
  Thread t(host, host.kernel_name("sequential"), s.prov, true);
  std::vector<std::optional<HostArray>> made(s.pat.size());
  const auto make = [&](size_t n) {
    const ir::Type& type = p.type_of(s.pat[n]);
    made[n] = host.allocate(type.prim, host.dims_of(type.dims));
    return t.args.array(*made[n]);
  };
  // What a combinator makes is made in its place; others may be what they update.
  std::vector<std::optional<KernelArray>> places(s.pat.size());
  for (size_t n = 0; n < s.pat.size(); n++) {
    if (!p.type_of(s.pat[n]).is_scalar() && is_made_by_soac(e.body, n)) places[n] = make(n);
  }
  std::vector<VarId> scalars;
  std::copy_if(s.pat.begin(), s.pat.end(), std::back_inserter(scalars),
               [&](VarId v) { return p.type_of(v).is_scalar(); });
  const bool told =
      std::any_of(scalars.begin(), scalars.end(), [&](VarId v) { return host.reads(v); });
  std::optional<Cells> cells;
  if (!scalars.empty()) cells = allocate_cells(host, scalars.size(), told);
  const bool alone = !in_place && scalars.size() == s.pat.size();
  std::vector<HostValue> results;
  const auto elem = body::function(t, "elem", {{PrimType::kI64}}, [&](const Values&) {
    const auto values = body::translate(t, e.body, places);
    std::optional<CellStores> stores;
    if (cells) stores.emplace(t, *cells, alone ? program::Kernel::kEnd : program::Kernel::kScalars);
    size_t stored = 0;
    for (size_t n = 0; n < s.pat.size() && !host.failed(); n++) {
      if (const auto* x = std::get_if<Value>(&values[n])) {
        stores->store(t.k, stored, *x);
        results.emplace_back(cells->scalar(x->type.prim, stored++));
        continue;
      }
      const auto& a = std::get<KernelArray>(values[n]);
      if (const auto known = t.args.as_import(a)) {
        results.emplace_back(*known);
        continue;
      }
      body::copy(t, a, made[n] ? *places[n] : make(n));
      results.emplace_back(*made[n]);
    }
    return Values{};
  });
  if (host.failed()) return;
  if (t.heap.used() && in_place) {
    host.refuse(s.prov, "arrays of varying size beside in-place updates");
    return;
  }
  launch_single(host, t, elem);
  for (size_t n = 0; n < s.pat.size(); n++) host.bind(s.pat[n], std::move(results[n]));
}

}  // namespace kenaz::host_code
