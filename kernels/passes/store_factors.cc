// What a branch in a reduction reads, if it does not depend on all segments and may not be there in
// any case, is read by a map before, where elements are then made of two factors:
//
//   sum over j of (if j < i then { check; v[n, j] * t[i*i + j] } else 0)
//     = let u = map over i, j of (if j < i then { check; t[i*i + j] } else 0)
//       in sum over j of (if j < i then v[n, j] * u[i, j] else 0)
//
// Rows and columns of the factors are then loaded once for many elements, as in products of
// matrices. Where few segments share what is read, the reduction stays as it was.
#include <optional>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/factors.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Segments that share what is read, at least: what is stored takes so much less than the
/// reduction reads.
constexpr int64_t kLeastShared = 16;

void drop_unneeded(const Program& p, Body& b) {
  keep_needed(p, b, [&](Stm& s, const VarSet&) {
    visit_bodies(s.exp, [&](Body& inner) { drop_unneeded(p, inner); });
  });
}

class StoreFactors {
 public:
  explicit StoreFactors(Program& p) : p_(p) {}

  void body(Body& b) {
    for (Stm& s : std::exchange(b.stms, {})) {
      if (std::holds_alternative<ESeg>(s.exp)) {
        reduction(b, std::move(s));
      } else {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
        b.stms.push_back(std::move(s));
      }
    }
  }

 private:
  using Dims = uint64_t;  // a bit per dim of the space

  /// An element that a branch reads.
  struct Read {
    size_t branch;  // the statement of the body
    bool when;      // in the then-body
    size_t at;      // the statement there
    Dims on;
  };

  void reduction(Body& out, Stm s) {
    const auto& e = std::get<ESeg>(s.exp);
    const size_t dims = e.space.dims.size();
    const auto read = e.kind == SegKind::kReduce && e.level == SegLevel::kDevice && dims >= 3 &&
                              dims < 64 && s.attrs.empty() && !is_product(p_, e)
                          ? find(e)
                          : std::nullopt;
    if (!read || !stores(out, s, *read)) out.stms.push_back(std::move(s));
  }

  Dims dims_of(const ESeg& e, const VarId v) const {
    const auto it = on_.find(v);
    if (it != on_.end()) return it->second;
    for (size_t d = 0; d < e.space.dims.size(); d++) {
      if (e.space.dims[d].index == v) return Dims{1} << d;
    }
    return 0;
  }

  void note(const ESeg& e, const Stm& s, Dims around) {
    Dims on = around;
    for_each_use(p_, s, [&](VarId v) { on |= dims_of(e, v); });
    for (const VarId v : s.pat) on_[v] = on;
  }

  /// The first one that may not be there, and depends on the position but not on all segments.
  std::optional<Read> find(const ESeg& e) {
    on_.clear();
    const size_t n = e.space.dims.size();
    const Dims all = (Dims{1} << n) - 1, position = Dims{1} << (n - 1);
    for (size_t k = 0; k < e.body.stms.size(); k++) {
      const Stm& s = e.body.stms[k];
      note(e, s, 0);
      const auto* branch = std::get_if<EIf>(&s.exp);
      if (branch == nullptr || branch->cond.is_const()) continue;
      const Dims cond = dims_of(e, branch->cond.var());
      for (const bool when : {true, false}) {
        const auto& stms = (when ? branch->then_body : branch->else_body).stms;
        for (size_t at = 0; at < stms.size(); at++) {
          note(e, stms[at], cond);
          const Dims on = on_[stms[at].pat[0]];
          if (std::holds_alternative<EIndex>(stms[at].exp) && !stms[at].certs.empty() &&
              p_.type_of(stms[at].pat[0]).is_scalar() && (on & position) != 0 && on != all &&
              (on & ~position) != 0) {
            return Read{k, when, at, on};
          }
        }
      }
    }
    return std::nullopt;
  }

  /// The map, whose results the reduction reads afterwards.
  Stm map_of(const Stm& s, const Read& read) {
    const auto& e = std::get<ESeg>(s.exp);
    const auto& branch = std::get<EIf>(e.body.stms[read.branch].exp);
    const auto& from = read.when ? branch.then_body : branch.else_body;
    const VarId element = from.stms[read.at].pat[0];
    const PrimType t = p_.type_of(element).prim;
    Body there{{}, {element}};
    for (const Stm* n : needed_before(p_, from.stms, read.at)) there.stms.push_back(*n);
    there.stms.push_back(from.stms[read.at]);
    Body nothing{{}, {Atom(PrimValue{t, 0})}};
    const VarId made = p_.new_var({t, {}}, "factor");
    Stm choice{{made}, EIf{}, {}, s.prov, {}};
    choice.exp = read.when ? EIf{branch.cond, std::move(there), std::move(nothing)}
                           : EIf{branch.cond, std::move(nothing), std::move(there)};
    Body body{{}, {made}};
    body.stms.assign(e.body.stms.begin(),
                     e.body.stms.begin() + static_cast<std::ptrdiff_t>(read.branch));
    body.stms.push_back(std::move(choice));
    drop_unneeded(p_, body);
    ESeg map;
    Subst names;
    Type type{t, {}};
    for (size_t d = 0; d < e.space.dims.size(); d++) {
      if ((read.on >> d & 1) == 0) continue;
      const SegDim& dim = e.space.dims[d];
      map.space.dims.push_back({p_.new_var({PrimType::kI64, {}}, "i"), dim.size});
      names[dim.index] = map.space.dims.back().index;
      type.dims.push_back(dim.size);
    }
    map.body = copy_renamed(p_, body, names);
    return {{p_.new_var(std::move(type), "factors")}, std::move(map), s.certs, s.prov, {}};
  }

  bool stores(Body& out, const Stm& s, const Read& read) {
    Stm map = map_of(s, read);
    Stm reads = s;
    auto& e = std::get<ESeg>(reads.exp);
    auto& stms = e.body.stms;
    auto& branch = std::get<EIf>(stms[read.branch].exp);
    auto& inside = (read.when ? branch.then_body : branch.else_body).stms;
    const auto place = inside.begin() + static_cast<std::ptrdiff_t>(read.at);
    Stm load = std::move(*place);
    inside.erase(place);
    std::vector<Dim> index;
    Body sizes;
    Builder b(p_, sizes, s.prov);
    std::vector<Atom> shared;
    for (size_t d = 0; d < e.space.dims.size(); d++) {
      const SegDim& dim = e.space.dims[d];
      if ((read.on >> d & 1) != 0) {
        index.emplace_back(DimFix{dim.index});
      } else {
        shared.push_back(dim.size);
      }
    }
    load.exp = EIndex{map.pat[0], std::move(index)};
    load.certs.clear();
    stms.insert(stms.begin() + static_cast<std::ptrdiff_t>(read.branch), std::move(load));
    drop_unneeded(p_, e.body);
    if (!is_product(p_, e)) return false;
    const Atom many = b.le(Atom(PrimValue::i64(kLeastShared)),
                           shared.size() == 1 ? shared[0] : b.product(shared));
    const auto alone = [&](const Stm& stm, Body& side) {
      Subst names;
      side.stms.push_back(copy_renamed(p_, stm, &names));
      side.results.assign(side.stms.back().pat.begin(), side.stms.back().pat.end());
    };
    EIf choice;
    choice.cond = many;
    choice.then_body.stms.push_back(std::move(map));
    alone(reads, choice.then_body);
    alone(s, choice.else_body);
    for (Stm& stm : sizes.stms) out.stms.push_back(std::move(stm));
    out.stms.push_back(Stm{s.pat, std::move(choice), {}, s.prov, {}});
    return true;
  }

  Program& p_;
  std::unordered_map<VarId, Dims> on_;  // by variable that the body binds
};

}  // namespace

void store_factors(Program& p) {
  StoreFactors pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::passes
