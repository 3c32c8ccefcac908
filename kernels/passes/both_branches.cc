// Both branches of an if, where what they read is there in any case, so that the elements of a
// reduction are made of two factors:
//
//   sum over k of (if i < j then a[i, k] * b[k, j] else 0)
//     = sum over k of (i < j ? a[i, k] * b[k, j] : 0)
//
// Rows and columns of the factors are then loaded once for many elements, as in products of
// matrices, which takes less time than half of the products are worth.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/factors.h"
#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class BothBranches {
 public:
  BothBranches(const Program& p, const ESeg& e) : p_(p) {
    for (const SegDim& d : e.space.dims) sizes_.emplace(d.index, d.size);
  }

  /// Whether there were ifs of which both branches can be taken; there are none of these now.
  bool take(Body& b) const {
    bool taken = false;
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      auto* e = std::get_if<EIf>(&s.exp);
      if (e == nullptr || !is_choice(s, *e)) {
        out.push_back(std::move(s));
        continue;
      }
      taken = true;
      for (Body* side : {&e->then_body, &e->else_body}) {
        for (Stm& inner : side->stms) out.push_back(std::move(inner));
      }
      for (size_t k = 0; k < s.pat.size(); k++) {
        const PrimType t = p_.type_of(s.pat[k]).prim;
        EPrim select{
            ScalarOp::kSelect, t, t, {e->cond, e->then_body.results[k], e->else_body.results[k]}};
        out.push_back(Stm{{s.pat[k]}, std::move(select), {}, s.prov, {}});
      }
    }
    b.stms = std::move(out);
    return taken;
  }

 private:
  bool is_choice(const Stm& s, const EIf& e) const {
    const auto can_run = [&](const Body& side) {
      return std::all_of(side.stms.begin(), side.stms.end(),
                         [&](const Stm& inner) { return cannot_fail(inner); });
    };
    return s.certs.empty() && s.attrs.empty() && can_run(e.then_body) && can_run(e.else_body) &&
           binds_scalars(p_, s);
  }

  /// Arithmetic, and elements at indices of the space that are as many as the array has.
  bool cannot_fail(const Stm& s) const {
    if (std::holds_alternative<EPrim>(s.exp)) return true;
    const auto* e = std::get_if<EIndex>(&s.exp);
    if (e == nullptr) return false;
    const Type& t = p_.type_of(e->array);
    for (size_t d = 0; d < e->dims.size(); d++) {
      const auto* fix = std::get_if<DimFix>(&e->dims[d]);
      if (fix == nullptr || fix->index.is_const()) return false;
      const auto size = sizes_.find(fix->index.var());
      if (size == sizes_.end() || size->second != t.dims[d]) return false;
    }
    return true;
  }

  const Program& p_;
  std::unordered_map<VarId, Atom> sizes_;  // of the space's indices
};

}  // namespace

void both_branches(Program& p) {
  visit_segs(p, [&](ESeg& e) {
    if (e.kind != SegKind::kReduce || is_product(p, e)) return;
    ESeg both = e;
    if (BothBranches(p, e).take(both.body) && is_product(p, both)) e = std::move(both);
  });
}

}  // namespace kenaz::passes
