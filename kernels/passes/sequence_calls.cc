// Combinators whose functions call others become loops: the device has no calls.
#include <span>

#include "kernels/diagnostics/diagnostic.h"
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
      const bool is_write =
          std::holds_alternative<EHist>(s.exp) || std::holds_alternative<EScatter>(s.exp);
      if (is_write && calls_inside(s.exp)) refuse(s.prov);
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }
  const Status& status() const { return status_; }

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

  void refuse(ProvId prov) {
    if (!status_) return;
    Diagnostic d;
    if (prov.valid()) d.range = p_.provenances[prov.index].range;
    d.message =
        "A recursive function cannot be called by the operator of a histogram or a scatter yet.";
    status_ = fail(ErrorKind::kCompile, d.str());
  }

  /// Parameters for the accumulators of an operator, with its neutral element.
  void add_accumulators(Loop& loop, const Monoid& m, const std::vector<VarId>& bound) {
    for (size_t k = 0; k < m.neutral.size(); ++k) {
      Type t = p_.type_of(m.neutral[k]);
      loop.add(p_.new_var(t, "acc"), m.neutral[k], bound[k]);
    }
  }

  /// Applies an operator to its accumulators, which begin at loop parameter `at`.
  std::vector<Atom> combine(Builder& b, const Loop& loop, size_t at, Monoid& m,
                            std::span<const Atom> elements) {
    const size_t n = m.neutral.size();
    for (size_t k = 0; k < 2 * n; ++k) {
      const Atom from = k < n ? Atom(loop.exp.params[at + k].var) : elements[k - n];
      b.emit_to({m.op.params[k]}, EAtom{from});
    }
    for (Stm& s : m.op.body.stms) b.body().stms.push_back(std::move(s));
    return m.op.body.results;
  }

  /// Writes one row of an array that the loop makes.
  Atom store(Builder& b, VarId array, VarId index, const Atom& row) {
    std::vector<Dim> dims = {DimFix{index}};
    const auto& sizes = p_.type_of(array).dims;
    for (size_t d = 1; d < sizes.size(); ++d) dims.push_back(DimRange{i64(0), sizes[d], i64(1)});
    return b.update(array, std::move(dims), row);
  }

  /// Binds the rows of the inputs, and runs the function on them.
  void apply(Builder& b, ESoac& e, VarId index) {
    for (size_t k = 0; k < e.inputs.size(); ++k) {
      std::vector<Dim> dims = {DimFix{index}};
      const auto& sizes = p_.type_of(e.inputs[k]).dims;
      for (size_t d = 1; d < sizes.size(); ++d) dims.push_back(DimRange{i64(0), sizes[d], i64(1)});
      b.emit_to({e.map.params[k]}, EIndex{e.inputs[k], std::move(dims)});
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
      loop.results.push_back(store(b, loop.exp.params[k].var, index, row));
    }
    loop.exp.body.results = std::move(loop.results);
    out.push_back(Stm{std::move(loop.pat), std::move(loop.exp), s.certs, s.prov, {}});
  }

  Program& p_;
  Status status_;
};

}  // namespace

Status sequence_calls(Program& p) {
  SequenceCalls pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
  return pass.status();
}

}  // namespace kenaz::passes
