// Two maps at stage seg over the same points, one right behind the other, that read the same
// arrays where conditions let them become one:
//
//   let xs = seg map (i < n, j < m) { .. if 0 < i then a[i - 1, j] .. }
//   let ys = seg map (i < n, j < m) { .. if 0 < j then a[i, j - 1] .. }
//
// What they read then comes from memory once, and there is one launch. fuse does that to maps that
// have not been distributed. Maps without conditions stay: their points are made several at a time.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Statements and results of the map that comes out: more need more registers than they save loads.
constexpr size_t kMaxJoined = 256, kMaxJoinedResults = 6;

class JoinMaps {
 public:
  explicit JoinMaps(Program& p) : p_(p) {}

  void body(Body& b) {
    for (Stm& s : b.stms) {
      if (!std::holds_alternative<ESeg>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
    }
    for (size_t first = 0; first < b.stms.size(); first++) {
      while (is_candidate(b.stms[first]) && join_next(b, first)) {
      }
    }
  }

 private:
  /// How much a map computes, whether under conditions, and which elements it reads.
  struct Facts {
    size_t statements = 0;
    bool has_branches = false;
    VarSet reads;
  };

  bool is_candidate(const Stm& s) const {
    const auto* e = std::get_if<ESeg>(&s.exp);
    return e != nullptr && e->kind == SegKind::kMap && e->level == SegLevel::kDevice &&
           !is_single(*e) && e->writes.empty() && s.attrs.empty() &&
           std::all_of(e->body.results.begin(), e->body.results.end(),
                       [&](const Atom& a) { return p_.type_of(a).is_scalar(); });
  }

  /// False: something else is computed there.
  bool look(const Body& b, size_t rank, Facts& f) const {
    return std::all_of(b.stms.begin(), b.stms.end(), [&](const Stm& s) {
      f.statements++;
      if (const auto* branch = std::get_if<EIf>(&s.exp)) {
        f.has_branches = true;
        return look(branch->then_body, rank, f) && look(branch->else_body, rank, f);
      }
      if (const auto* load = std::get_if<EIndex>(&s.exp)) {
        if (load->dims.size() == rank) f.reads.insert(load->array);
        return p_.type_of(s.pat[0]).is_scalar();
      }
      return std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EAtom>(s.exp) ||
             std::holds_alternative<EAssert>(s.exp);
    });
  }

  /// Joins the map with the next one, if nothing but scalars is computed in between: it goes behind
  /// these, which know nothing of its results.
  bool join_next(Body& b, size_t first) {
    size_t second = first + 1;
    while (second < b.stms.size() && is_of_scalars(b.stms[second])) second++;
    if (second == b.stms.size() || !is_candidate(b.stms[second])) return false;
    if (!belong_together(b.stms[first], b.stms[second])) return false;
    b.stms[second] = join(std::move(b.stms[first]), std::move(b.stms[second]));
    b.stms.erase(b.stms.begin() + static_cast<std::ptrdiff_t>(first));
    return true;
  }
  static bool is_of_scalars(const Stm& s) {
    return std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EAssert>(s.exp);
  }

  bool belong_together(const Stm& a, const Stm& b) const {
    const auto &x = std::get<ESeg>(a.exp), &y = std::get<ESeg>(b.exp);
    if (sizes_of(x.space.dims) != sizes_of(y.space.dims)) return false;
    if (a.pat.size() + b.pat.size() > kMaxJoinedResults) return false;
    const VarSet used = free_vars(p_, b);
    if (std::any_of(a.pat.begin(), a.pat.end(), [&](VarId v) { return used.contains(v); })) {
      return false;
    }
    Facts of_a, of_b;
    const size_t rank = x.space.dims.size();
    if (!look(x.body, rank, of_a) || !look(y.body, rank, of_b)) return false;
    return of_a.has_branches && of_b.has_branches &&
           of_a.statements + of_b.statements <= kMaxJoined &&
           std::any_of(of_a.reads.begin(), of_a.reads.end(),
                       [&](VarId v) { return of_b.reads.contains(v); });
  }

  Stm join(Stm a, Stm b) {
    auto &x = std::get<ESeg>(a.exp), &y = std::get<ESeg>(b.exp);
    Subst at;
    for (size_t d = 0; d < x.space.dims.size(); d++) {
      at[y.space.dims[d].index] = x.space.dims[d].index;
    }
    Body more = copy_renamed(p_, y.body, at);
    std::move(more.stms.begin(), more.stms.end(), std::back_inserter(x.body.stms));
    std::move(more.results.begin(), more.results.end(), std::back_inserter(x.body.results));
    a.pat.insert(a.pat.end(), b.pat.begin(), b.pat.end());
    for (const VarId c : b.certs) {
      if (std::find(a.certs.begin(), a.certs.end(), c) == a.certs.end()) a.certs.push_back(c);
    }
    if (a.prov != b.prov) add_note(p_.notes, {a.prov, Fused{b.prov}});
    return a;
  }

  Program& p_;
};

}  // namespace

void join_maps(Program& p) {
  JoinMaps pass(p);
  visit_bodies(p, [&](Body& b) { pass.body(b); });
}

}  // namespace kenaz::passes
