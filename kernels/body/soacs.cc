// Array combinators inside a thread: loops.
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

using ir::VarId;
using kir::Value;
using kir::Values;

namespace {

/// Slots that hold the neutral element. `results`: what they end up as, if that has memory already.
std::vector<Slot> accumulators(Thread& t, const ir::Monoid& m, const std::vector<VarId>& results) {
  std::vector<Slot> acc;
  for (size_t k = 0; k < m.neutral.size(); k++) {
    const ir::Type type = t.ir().type_of(m.neutral[k]);
    if (type.is_scalar()) {
      acc.emplace_back(t.k.declare(t.env.scalar(m.neutral[k])));
      continue;
    }
    const auto dest = k < results.size() ? t.dests.of(results[k]) : std::nullopt;
    const KernelArray memory = dest ? *dest : allocate(t, type.prim, type.dims);
    copy(t, t.env.array(m.neutral[k].var()), memory);
    acc.emplace_back(memory);
  }
  return acc;
}

/// Monoids, and slots for their accumulators.
struct Folds {
  const std::vector<ir::Monoid>& monoids;
  std::vector<std::vector<Slot>> slots;

  size_t size() const {
    size_t n = 0;
    for (const auto& m : monoids) n += m.neutral.size();
    return n;
  }
  /// acc = op(acc, elems) with the elements from `at` on; gives the m-th accumulators.
  std::vector<KernelValue> fold(Thread& t, size_t m, const std::vector<KernelValue>& elems,
                                size_t at) const {
    const auto begin = elems.begin() + static_cast<long>(at);
    const auto end = begin + static_cast<long>(slots[m].size());
    const auto& params = monoids[m].op.params;
    const auto results = combine(t, monoids[m], read(t, slots[m]), {begin, end});
    if (t.host.failed()) return {};
    assign(t, slots[m], results, {params.begin(), params.begin() + static_cast<long>(end - begin)});
    std::vector<KernelValue> now = results;
    for (size_t k = 0; k < now.size(); k++) {
      if (const auto* memory = std::get_if<KernelArray>(&slots[m][k])) now[k] = *memory;
    }
    return now;
  }
};

/// The results of an ESoac: first those of scans, then of reductions, then plain ones.
class Soac {
 public:
  Soac(Thread& t, const ir::Stm& s, const ir::ESoac& e)
      : t_(t),
        s_(s),
        e_(e),
        scans_{e.scans, {}},
        reduces_{e.reduces, {}},
        plain_(scans_.size() + reduces_.size()),
        out_(s.pat.size()) {}

  void translate_loop() {
    for (size_t k = 0; k < s_.pat.size(); k++) {
      if (is_array(k)) out_[k] = dest_for(t_, s_.pat[k]);
    }
    for (const auto& m : e_.scans) scans_.slots.push_back(accumulators(t_, m, {}));
    size_t at = scans_.size();
    for (const auto& m : e_.reduces) {
      const auto begin = s_.pat.begin() + static_cast<long>(at);
      const auto end = begin + static_cast<long>(m.neutral.size());
      reduces_.slots.push_back(accumulators(t_, m, {begin, end}));
      at += m.neutral.size();
    }
    if (t_.host.failed()) return;
    for_elements(t_, t_.env.scalar(e_.width), [&](const Value& i) { iteration(i); });
    if (!t_.host.failed()) bind_results();
  }

 private:
  bool is_array(size_t k) const { return k < scans_.size() || k >= plain_; }

  void iteration(const Value& i) {
    bind_rows(t_, e_.map.params, e_.inputs, i);
    std::vector<std::optional<KernelArray>> dests(e_.map.body.results.size());
    std::vector<KernelArray> rows(s_.pat.size());
    for (size_t k = 0; k < s_.pat.size(); k++) {
      if (!is_array(k)) continue;
      rows[k] = row_place(t_, out_[k], i);
      if (k >= plain_ && !rows[k].layout.dims.empty()) dests[k] = rows[k];
    }
    const auto results = translate(t_, e_.map.body, dests);
    t_.k.set_prov(s_.prov);
    if (t_.host.failed()) return;
    size_t at = 0;
    for (size_t m = 0; m < e_.scans.size(); m++) {
      for (const KernelValue& acc : scans_.fold(t_, m, results, at)) place(t_, acc, rows[at++]);
      if (t_.host.failed()) return;
    }
    for (size_t m = 0; m < e_.reduces.size(); m++) {
      at += reduces_.fold(t_, m, results, at).size();
      if (t_.host.failed()) return;
    }
    for (size_t k = plain_; k < s_.pat.size(); k++) place(t_, results[k], rows[k]);
  }

  void bind_results() {
    for (size_t k = 0; k < s_.pat.size(); k++) {
      if (is_array(k)) t_.env.bind(s_.pat[k], out_[k]);
    }
    size_t at = scans_.size();
    for (const auto& slots : reduces_.slots) {
      for (const Slot& slot : slots) t_.env.bind(s_.pat[at++], read(t_, slot));
    }
  }

  Thread& t_;
  const ir::Stm& s_;
  const ir::ESoac& e_;
  Folds scans_, reduces_;
  size_t plain_;                  // the first plain result
  std::vector<KernelArray> out_;  // of the array results
};

}  // namespace

std::vector<KernelValue> combine(Thread& t, const ir::Monoid& m,
                                 const std::vector<KernelValue>& acc,
                                 const std::vector<KernelValue>& elems) {
  const size_t n = acc.size();
  for (size_t k = 0; k < n; k++) {
    t.env.bind_param(m.op.params[k], acc[k]);
    t.env.bind_param(m.op.params[n + k], elems[k]);
  }
  return translate(t, m.op.body);
}

kir::FunctionId operator_function(Thread& t, const std::string& name, const ir::Monoid& m) {
  std::vector<kir::Type> params;
  for (VarId p : m.op.params) params.push_back({t.ir().type_of(p).prim});
  return function(t, name, params, [&](const Values& args) {
    for (size_t k = 0; k < args.size(); k++) t.env.bind_param(m.op.params[k], args[k]);
    Values results;
    for (const KernelValue& r : translate(t, m.op.body)) results.push_back(std::get<Value>(r));
    return results;
  });
}

void soac(Thread& t, const ir::Stm& s, const ir::ESoac& e) { Soac(t, s, e).translate_loop(); }

}  // namespace kenaz::body
