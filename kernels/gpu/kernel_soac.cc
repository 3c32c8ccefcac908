// Array combinators inside a thread: loops.
#include <fmt/format.h>

#include "kernels/glsl/types.h"
#include "kernels/gpu/kernel_gen.h"

namespace kenaz::gpu {

using ir::VarId;

// Variables (or memory) that start as the neutral element. `results`: what they end up as, if
// that has memory already.
std::vector<KernelValue> KernelGen::accumulators(const ir::Monoid& m,
                                                 const std::vector<VarId>& results) {
  std::vector<KernelValue> acc;
  for (size_t k = 0; k < m.neutral.size(); k++) {
    const ir::Type type = host_.ir().type_of(m.neutral[k]);
    if (type.is_scalar()) {
      acc.emplace_back(local(type.prim, scalar(m.neutral[k]).text));
      continue;
    }
    const auto dest = k < results.size() ? dest_of(results[k]) : std::nullopt;
    const KernelArray memory = dest ? *dest : allocate(type.prim, type.dims);
    copy(array(m.neutral[k].var()), memory);
    acc.emplace_back(memory);
  }
  return acc;
}

// acc = op(acc, elems)
void KernelGen::accumulate(const ir::Monoid& m, const std::vector<KernelValue>& acc,
                           const std::vector<KernelValue>& elems) {
  const size_t n = acc.size();
  std::vector<VarId> types_of;
  for (size_t k = 0; k < n; k++) {
    bind(m.op.params[k], acc[k]);
    bind(m.op.params[n + k], elems[k]);
    bound_here_.insert(m.op.params[k]);
    bound_here_.insert(m.op.params[n + k]);
    types_of.push_back(m.op.params[k]);
  }
  const auto results = body(m.op.body);
  if (host_.failed()) return;
  assign(acc, results, types_of);
}

void KernelGen::operator_function(const std::string& name, const ir::Monoid& m) {
  const size_t n = m.neutral.size();
  std::vector<KernelValue> params;
  std::string head;
  for (const char* side : {"a", "b"}) {
    for (size_t k = 0; k < n; k++) {
      const PrimType t = host_.ir().type_of(m.neutral[k]).prim;
      const std::string p = fmt::format("{}{}", side, k);
      head += fmt::format("{}{} {}", head.empty() ? "" : ", ", glsl::glsl_type(t), p);
      const VarId v = m.op.params[params.size()];
      params.emplace_back(Expr{t, p, {}});
      bind(v, params.back());
      bound_here_.insert(v);
    }
  }
  for (size_t k = 0; k < n; k++) {
    head += fmt::format(", out {} r{}", glsl::glsl_type(host_.ir().type_of(m.neutral[k]).prim), k);
  }
  begin_function(fmt::format("void {}({})", name, head));
  for (size_t k = 0; k < n; k++) line(fmt::format("r{0} = a{0};", k));
  const auto results = body(m.op.body);
  for (size_t k = 0; k < n; k++) line(fmt::format("r{} = {};", k, std::get<Expr>(results[k]).text));
  end_function();
}

void KernelGen::soac(const ir::Stm& s, const ir::ESoac& e) {
  const Expr width = scalar(e.width);
  size_t scanned = 0, reduced = 0;
  for (const auto& m : e.scans) scanned += m.neutral.size();
  for (const auto& m : e.reduces) reduced += m.neutral.size();

  std::vector<std::vector<KernelValue>> scan_acc, reduce_acc;
  std::vector<KernelArray> out(s.pat.size());
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (k < scanned || k >= scanned + reduced) out[k] = dest_for(s.pat[k]);
  }
  for (const auto& m : e.scans) scan_acc.push_back(accumulators(m, {}));
  size_t at = scanned;
  for (const auto& m : e.reduces) {
    const auto begin = s.pat.begin() + static_cast<long>(at);
    at += m.neutral.size();
    reduce_acc.push_back(
        accumulators(m, std::vector<VarId>(begin, s.pat.begin() + static_cast<long>(at))));
  }
  if (host_.failed()) return;

  const Expr i = open_for(width);
  const Expr mark = heap_mark();
  bind_rows(e.map.params, e.inputs, i);
  std::vector<std::optional<KernelArray>> dests(e.map.body.results.size());
  std::vector<KernelArray> rows(s.pat.size());
  for (size_t k = 0; k < s.pat.size(); k++) {
    if (out[k].layout.dims.empty()) continue;
    rows[k] = out[k];
    rows[k].layout = LayoutMath(*this).row(out[k].layout, i);
    if (k >= scanned + reduced && !rows[k].layout.dims.empty()) dests[k] = rows[k];
  }
  const auto results = body(e.map.body, dests);
  if (host_.failed()) return;
  at = 0;
  const auto fold = [&](const ir::Monoid& m, const std::vector<KernelValue>& acc) {
    const auto begin = results.begin() + static_cast<long>(at);
    accumulate(m, acc, {begin, begin + static_cast<long>(acc.size())});
  };
  for (size_t m = 0; m < e.scans.size(); m++) {
    fold(e.scans[m], scan_acc[m]);
    if (host_.failed()) return;
    for (const auto& a : scan_acc[m]) place(a, rows[at++]);
  }
  for (size_t m = 0; m < e.reduces.size(); m++) {
    fold(e.reduces[m], reduce_acc[m]);
    if (host_.failed()) return;
    at += reduce_acc[m].size();
  }
  for (size_t k = scanned + reduced; k < s.pat.size(); k++) place(results[k], rows[k]);
  heap_reset(mark);
  close_for(i, width);

  at = 0;
  for (size_t k = 0; k < scanned; k++) bind(s.pat[k], out[k]);
  at = scanned;
  for (const auto& acc : reduce_acc) {
    for (const auto& a : acc) {
      defs_.erase(s.pat[at]);
      bind(s.pat[at++], a);
    }
  }
  for (size_t k = scanned + reduced; k < s.pat.size(); k++) bind(s.pat[k], out[k]);
}

// The place in `dest` that index components point to, and the condition that it exists.
KernelArray KernelGen::slot_of(const KernelArray& dest, const std::vector<Expr>& at,
                               std::string& in_bounds) {
  KernelArray slot = dest;
  for (size_t k = 0; k < at.size(); k++) {
    in_bounds += fmt::format("{}{} >= 0l && {} < {}", in_bounds.empty() ? "" : " && ", at[k].text,
                             at[k].text, dest.layout.dims[k].text);
  }
  return slot;
}

void KernelGen::scatter_element(const std::vector<KernelArray>& dests,
                                const std::vector<int>& ranks,
                                const std::vector<KernelValue>& results) {
  size_t at = 0, value_at = 0;
  for (int r : ranks) value_at += static_cast<size_t>(r);
  for (size_t k = 0; k < dests.size(); k++) {
    std::vector<Expr> index;
    for (int r = 0; r < ranks[k]; r++) index.push_back(std::get<Expr>(results[at++]));
    std::string in_bounds;
    KernelArray slot = slot_of(dests[k], index, in_bounds);
    open(fmt::format("if ({}) {{", in_bounds));
    for (const auto& i : index) slot.layout = LayoutMath(*this).row(slot.layout, i);
    place(results[value_at++], slot);
    close();
  }
}

KernelArray KernelGen::consumed_memory(VarId array_var, VarId result) {
  const KernelArray a = array(array_var);
  if (a.kind == ArrayKind::kMemory) return a;
  const KernelArray d = dest_for(result);
  copy(a, d);
  return d;
}

void KernelGen::scatter(const ir::Stm& s, const ir::EScatter& e) {
  const Expr width = scalar(e.width);
  std::vector<KernelArray> dests;
  std::vector<int> ranks;
  for (size_t k = 0; k < e.dests.size(); k++) {
    dests.push_back(consumed_memory(e.dests[k].array, s.pat[k]));
    ranks.push_back(e.dests[k].index_rank);
  }
  if (host_.failed()) return;
  const Expr i = open_for(width);
  const Expr mark = heap_mark();
  bind_rows(e.map.params, e.inputs, i);
  const auto results = body(e.map.body);
  if (host_.failed()) return;
  scatter_element(dests, ranks, results);
  heap_reset(mark);
  close_for(i, width);
  for (size_t k = 0; k < dests.size(); k++) bind(s.pat[k], dests[k]);
}

void KernelGen::hist(const ir::Stm& s, const ir::EHist& e) {
  const Expr width = scalar(e.width);
  std::vector<KernelArray> dests;
  size_t indices = 0;
  for (const auto& op : e.ops) {
    for (VarId d : op.dests) dests.push_back(consumed_memory(d, s.pat[dests.size()]));
    indices += static_cast<size_t>(op.index_rank);
  }
  if (host_.failed()) return;
  const Expr i = open_for(width);
  const Expr mark = heap_mark();
  bind_rows(e.map.params, e.inputs, i);
  const auto results = body(e.map.body);
  size_t index_at = 0, value_at = indices, dest_at = 0;
  for (const auto& op : e.ops) {
    if (host_.failed()) return;
    std::vector<Expr> index;
    for (int r = 0; r < op.index_rank; r++) index.push_back(std::get<Expr>(results[index_at++]));
    hist_bin(op, {dests.begin() + static_cast<long>(dest_at), dests.end()}, index,
             {results.begin() + static_cast<long>(value_at), results.end()});
    dest_at += op.dests.size();
    value_at += op.dests.size();
  }
  if (host_.failed()) return;
  heap_reset(mark);
  close_for(i, width);
  for (size_t k = 0; k < dests.size(); k++) bind(s.pat[k], dests[k]);
}

// dest[index] = op(dest[index], values), by one thread.
void KernelGen::hist_bin(const ir::EHist::Op& op, const std::vector<KernelArray>& dests,
                         const std::vector<Expr>& index, const std::vector<KernelValue>& values) {
  const size_t n = op.dests.size();
  std::string in_bounds;
  slot_of(dests[0], index, in_bounds);
  open(fmt::format("if ({}) {{", in_bounds));
  std::vector<KernelArray> slots;
  std::vector<KernelValue> acc, elems;
  for (size_t k = 0; k < n; k++) {
    KernelArray slot = dests[k];
    for (const auto& i : index) slot.layout = LayoutMath(*this).row(slot.layout, i);
    if (slot.layout.dims.empty()) {
      acc.emplace_back(load(slot, slot.layout.offset));
    } else {
      acc.emplace_back(slot);
    }
    slots.push_back(slot);
    elems.push_back(values[k]);
  }
  accumulate(op.monoid, acc, elems);
  for (size_t k = 0; k < n; k++) {
    if (acc[k].index() == 0) place(acc[k], slots[k]);
  }
  close();
}

}  // namespace kenaz::gpu
