// Hoisting: what a loop or lambda body computes again and again from things outside of it.
#include <algorithm>

#include "kernels/ir/analysis/uses.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class Hoist {
 public:
  explicit Hoist(Program& p) : p_(p) {}

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      if (std::holds_alternative<ELoop>(s.exp)) {
        out_of(s, std::get<ELoop>(s.exp).body, false, out);
      } else {
        visit_lambdas(s.exp, [&](Lambda& l) { out_of(s, l.body, true, out); });
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

 private:
  /// Whether running the statement once more, or where it would not have run, does no harm.
  bool is_movable(const Stm& s, const Body& inner, bool from_lambda) {
    if (std::holds_alternative<EPrim>(s.exp)) return s.certs.empty();
    if (std::holds_alternative<EIota>(s.exp)) {
      // What the body may consume must be made anew each time.
      return s.certs.empty() && is_only_read(s.pat[0], inner);
    }
    // A check that is the same for all elements is made once, even if there are none of them.
    return from_lambda && std::holds_alternative<EAssert>(s.exp) && s.certs.empty();
  }

  /// Whether all uses of the array are as an input or an element read; anything else may make an
  /// alias that is consumed.
  bool is_only_read(VarId array, const Body& b) {
    int64_t other = 0;
    for_each_use(p_, b, [&](VarId v) { other += v == array; });
    return other == reads(array, b);
  }
  int64_t reads(VarId array, const Body& b) {
    int64_t n = 0;
    const auto count = [&](const std::vector<VarId>& inputs) {
      n += std::count(inputs.begin(), inputs.end(), array);
    };
    for (const Stm& s : b.stms) {
      if (const auto* e = std::get_if<EIndex>(&s.exp)) {
        n += e->array == array && p_.type_of(s.pat[0]).is_scalar();
      }
      if (const auto* e = std::get_if<ESoac>(&s.exp)) count(e->inputs);
      if (const auto* e = std::get_if<EScatter>(&s.exp)) count(e->inputs);
      if (const auto* e = std::get_if<EHist>(&s.exp)) count(e->inputs);
      visit_bodies(s.exp, [&](const Body& inner) { n += reads(array, inner); });
    }
    return n;
  }

  void out_of(const Stm& around, Body& inner, bool from_lambda, std::vector<Stm>& out) {
    VarSet bound;
    visit_binders(around.exp, [&](VarId v) { bound.insert(v); });
    for (const Stm& s : inner.stms) bound.insert(s.pat.begin(), s.pat.end());
    std::vector<Stm> kept;
    for (Stm& s : inner.stms) {
      bool invariant = is_movable(s, inner, from_lambda);
      if (invariant)
        for_each_use(p_, s, [&](VarId v) { invariant = invariant && !bound.contains(v); });
      if (invariant) {
        for (const VarId v : s.pat) bound.erase(v);
        out.push_back(std::move(s));
      } else {
        kept.push_back(std::move(s));
      }
    }
    inner.stms = std::move(kept);
  }

  Program& p_;
};

}  // namespace

void hoist(Program& p) {
  Hoist pass(p);
  pass.body(p.constants);
  for (Function& f : p.functions) pass.body(f.body);
}

}  // namespace kenaz::passes
