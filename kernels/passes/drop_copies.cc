// Copies that nobody can tell from what they are copies of: neither is ever overwritten, and no
// result of a function is one. A map that hands its elements on is such a copy, in each turn of a
// loop, say.
#include <unordered_set>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class DropCopies {
 public:
  explicit DropCopies(Program& p) : p_(p), aliases_(p) {
    look(p.constants);
    for (const Atom& r : p.constants.results) keep(r);
    for (const Function& f : p.functions) {
      look(f.body);
      for (const Atom& r : f.body.results) keep(r);
    }
  }

  void body(Body& b) const {
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      if (const auto* copy = std::get_if<ECopy>(&s.exp)) {
        const VarId of = copy->array;
        const bool plain = !views_.contains(of) && stays(of) && stays(s.pat[0]);
        if (plain) s.exp = EAtom{Atom(of)};
      }
    }
  }

 private:
  void look(const Body& b) {
    for (const Stm& s : b.stms) {
      for (const VarId v : consumed_by(p_, s)) kept_.insert(aliases_.of(v));
      // What lies in another order had better be copied before it is read.
      if (viewed(s.exp)) views_.insert(s.pat.begin(), s.pat.end());
      visit_bodies(s.exp, [&](const Body& inner) { look(inner); });
    }
  }
  void keep(const Atom& a) {
    if (!a.is_const()) kept_.insert(aliases_.of(a.var()));
  }
  bool stays(VarId v) const { return !kept_.contains(aliases_.of(v)); }

  Program& p_;
  Aliases aliases_;
  std::unordered_set<uint32_t> kept_;  // classes that are overwritten or given to callers
  VarSet views_;
};

}  // namespace

void drop_copies(Program& p) {
  const DropCopies pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::passes
