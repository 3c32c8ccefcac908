// Copies that nobody can tell from what they are copies of: neither is ever overwritten, and no
// result of a function is one. A map that hands its elements on is such a copy, in each turn of a
// loop, say; at stage seg, where rows have become arrays, it is a map still.
#include <optional>
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
      const auto of = copied(s);
      if (!of || views_.contains(*of) || !stays(*of) || !stays(s.pat[0])) continue;
      if (auto* map = std::get_if<ESeg>(&s.exp)) {
        // What its loads waited for.
        const std::vector<VarId> certs = map->body.stms[0].certs;
        s.certs.insert(s.certs.end(), certs.begin(), certs.end());
      }
      s.exp = EAtom{Atom(*of)};
    }
  }

 private:
  /// The array of which the statement makes a copy, and nothing else.
  std::optional<VarId> copied(const Stm& s) const {
    if (const auto* copy = std::get_if<ECopy>(&s.exp)) return copy->array;
    const auto* map = std::get_if<ESeg>(&s.exp);
    if (map == nullptr || map->kind != SegKind::kMap || map->level != SegLevel::kDevice ||
        !map->writes.empty() || !s.attrs.empty() || map->body.stms.size() != 1 ||
        map->body.results.size() != 1) {
      return std::nullopt;
    }
    const Stm& only = map->body.stms[0];
    const auto* load = std::get_if<EIndex>(&only.exp);
    const auto& dims = map->space.dims;
    if (load == nullptr || map->body.results[0] != Atom(only.pat[0]) ||
        load->dims.size() != dims.size() ||
        p_.type_of(load->array).dims != p_.type_of(s.pat[0]).dims) {
      return std::nullopt;
    }
    for (size_t d = 0; d < dims.size(); d++) {
      const auto* fix = std::get_if<DimFix>(&load->dims[d]);
      if (fix == nullptr || fix->index != Atom(dims[d].index)) return std::nullopt;
    }
    return load->array;
  }

  void look(const Body& b) {
    for (const Stm& s : b.stms) {
      for (const VarId v : consumed_by(p_, s)) kept_.insert(aliases_.of(v));
      // What lies in another order had better be copied before it is read.
      const auto of = viewed(s.exp);
      const bool in_order = std::holds_alternative<EReshape>(s.exp) && of && !of->is_const() &&
                            !views_.contains(of->var());
      if (of && !in_order) views_.insert(s.pat.begin(), s.pat.end());
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
