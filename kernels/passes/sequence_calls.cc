// Combinators whose functions call others become loops: the device has no calls.
#include <span>

#include "kernels/ir/analysis/calls.h"
#include "kernels/ir/builder.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

bool calls_inside(const Exp& exp) { return !std::holds_alternative<ECall>(exp) && has_calls(exp); }

class SequenceCalls {
 public:
  explicit SequenceCalls(Program& p) : p_(p) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      auto* soac = std::get_if<ESoac>(&s.exp);
      if (soac != nullptr && calls_inside(s.exp)) {
        by_loop(s, std::move(*soac), out);
        continue;
      }
      if (calls_inside(s.exp)) {
        if (auto* hist = std::get_if<EHist>(&s.exp)) {
          writes_by_loop(s, *hist, out);
          continue;
        }
        if (auto* scatter = std::get_if<EScatter>(&s.exp)) {
          EHist hist{scatter->width, scatter->inputs, std::move(scatter->map), {}};
          for (const auto& d : scatter->dests) hist.ops.push_back({{d.array}, d.index_rank, {}});
          writes_by_loop(s, hist, out);
          continue;
        }
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

 private:
  /// The loop's variables and where they come from; what the combinator binds is among its results.
  struct Loop {
    ELoop exp;
    std::vector<VarId> pat;
    std::vector<Atom> results;
    void add(VarId var, Atom init, VarId bound) {
      exp.params.push_back({var, init});
      pat.push_back(bound);
    }
  };

  /// Parameters for the accumulators of an operator, with its neutral element.
  void add_accumulators(Loop& loop, const Monoid& m, const std::vector<VarId>& bound) {
    for (size_t k = 0; k < m.neutral.size(); ++k) {
      Type t = p_.type_of(m.neutral[k]);
      loop.add(p_.new_var(t, "acc"), m.neutral[k], bound[k]);
    }
  }

  /// Applies an operator to its accumulators, which begin at loop parameter `at`.
  static std::vector<Atom> combine(Builder& b, const Loop& loop, size_t at, Monoid& m,
                                   std::span<const Atom> elements) {
    std::vector<Atom> before;
    for (size_t k = 0; k < m.neutral.size(); ++k) before.emplace_back(loop.exp.params[at + k].var);
    return combine(b, m, before, elements);
  }
  static std::vector<Atom> combine(Builder& b, Monoid& m, const std::vector<Atom>& before,
                                   std::span<const Atom> elements) {
    const size_t n = m.neutral.size();
    for (size_t k = 0; k < 2 * n; ++k) {
      b.emit_to({m.op.params[k]}, EAtom{k < n ? before[k] : elements[k - n]});
    }
    for (Stm& s : m.op.body.stms) b.body().stms.push_back(std::move(s));
    return m.op.body.results;
  }

  /// Binds the rows of the inputs, and runs the function on them.
  void apply(Builder& b, ESoac& e, VarId index) {
    for (size_t k = 0; k < e.inputs.size(); ++k) {
      const VarId array = e.inputs[k];
      b.emit_to({e.map.params[k]}, EIndex{array, row_dims(p_.type_of(array), {index})});
    }
    for (Stm& s : e.map.body.stms) b.body().stms.push_back(std::move(s));
  }

  void by_loop(const Stm& s, ESoac e, std::vector<Stm>& out) {
    Loop loop;
    const VarId index = p_.new_var({PrimType::kI64, {}}, "i");
    loop.exp.form = LoopFor{index, e.width};
    size_t scanned = 0, reduced = 0;
    for (const Monoid& m : e.scans) {
      std::vector<VarId> unused;
      for (const Atom& a : m.neutral) unused.push_back(p_.new_var(p_.type_of(a), "last"));
      add_accumulators(loop, m, unused);
      scanned += m.neutral.size();
    }
    for (const Monoid& m : e.reduces) {
      const auto first = s.pat.begin() + static_cast<std::ptrdiff_t>(scanned + reduced);
      add_accumulators(loop, m, {first, first + static_cast<std::ptrdiff_t>(m.neutral.size())});
      reduced += m.neutral.size();
    }
    // The arrays: of the scans, then the plain ones.
    const size_t arrays = loop.exp.params.size();
    for (size_t k = 0; k < s.pat.size(); ++k) {
      if (k >= scanned && k < scanned + reduced) continue;
      const Type& t = p_.type_of(s.pat[k]);
      const VarId empty = p_.new_var(t, "out");
      out.push_back(Stm{{empty}, EScratch{t.prim, t.dims}, s.certs, s.prov, {}});
      loop.add(p_.new_var(t, "out"), empty, s.pat[k]);
    }
    Builder b(p_, loop.exp.body, s.prov);
    apply(b, e, index);
    const std::vector<Atom> made = e.map.body.results;
    size_t at = 0;
    for (auto* monoids : {&e.scans, &e.reduces}) {
      for (Monoid& m : *monoids) {
        const auto next = combine(b, loop, at, m, std::span(made).subspan(at, m.neutral.size()));
        loop.results.insert(loop.results.end(), next.begin(), next.end());
        at += m.neutral.size();
      }
    }
    for (size_t k = arrays; k < loop.exp.params.size(); ++k) {
      const size_t n = k - arrays;
      const Atom row = n < scanned ? loop.results[n] : made[at + n - scanned];
      const VarId array = loop.exp.params[k].var;
      loop.results.emplace_back(b.update_at(array, std::vector<Atom>{index}, row));
    }
    loop.exp.body.results = std::move(loop.results);
    out.push_back(Stm{std::move(loop.pat), std::move(loop.exp), s.certs, s.prov, {}});
  }

  /// A histogram, or a scatter, whose operators have no neutral elements: each element is written
  /// before the next one is made.
  void writes_by_loop(const Stm& s, EHist& e, std::vector<Stm>& out) {
    Loop loop;
    const VarId index = p_.new_var({PrimType::kI64, {}}, "i");
    loop.exp.form = LoopFor{index, e.width};
    size_t bound = 0, at = 0;
    for (const EHist::Op& op : e.ops) {
      for (const VarId dest : op.dests) {
        loop.add(p_.new_var(Type(p_.type_of(dest)), "dest"), dest, s.pat[bound++]);
      }
      at += static_cast<size_t>(op.index_rank);
    }
    Builder b(p_, loop.exp.body, s.prov);
    ESoac elements{e.width, e.inputs, std::move(e.map), {}, {}};
    apply(b, elements, index);
    const std::span<const Atom> made = elements.map.body.results;
    size_t first = 0, of_index = 0;
    for (EHist::Op& op : e.ops) {
      const size_t n = op.dests.size(), rank = static_cast<size_t>(op.index_rank);
      std::vector<VarId> dests;
      for (size_t k = 0; k < n; ++k) dests.push_back(loop.exp.params[first + k].var);
      const auto written =
          write(b, op.monoid, dests, made.subspan(of_index, rank), made.subspan(at + first, n));
      loop.exp.body.results.insert(loop.exp.body.results.end(), written.begin(), written.end());
      first += n;
      of_index += rank;
    }
    out.push_back(Stm{std::move(loop.pat), std::move(loop.exp), s.certs, s.prov, {}});
  }

  /// What the arrays are when one element has been written, if its place is in them.
  std::vector<VarId> write(Builder& b, Monoid& m, const std::vector<VarId>& dests,
                           std::span<const Atom> place, std::span<const Atom> values) {
    std::vector<Type> types;
    for (const VarId dest : dests) types.push_back(p_.type_of(dest));
    Atom inside = PrimValue::of_bool(true);
    for (size_t d = 0; d < place.size(); ++d) {
      inside = b.logical_and(inside, b.le(i64(0), place[d]));
      inside = b.logical_and(inside, b.lt(place[d], types[0].dims[d]));
    }
    const auto written = [&](Builder& in) {
      std::vector<Atom> before, next(values.begin(), values.end());
      if (!m.neutral.empty()) {
        for (const VarId dest : dests) before.push_back(in.index(dest, place, "before"));
        next = combine(in, m, before, values);
      }
      std::vector<Atom> arrays;
      for (size_t k = 0; k < dests.size(); ++k) {
        arrays.emplace_back(in.update_at(dests[k], place, next[k]));
      }
      return arrays;
    };
    return b.if_(
        inside, written, [&](Builder&) { return std::vector<Atom>(dests.begin(), dests.end()); },
        types, "dest");
  }

  Program& p_;
};

}  // namespace

void sequence_calls(Program& p) {
  SequenceCalls pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::passes
