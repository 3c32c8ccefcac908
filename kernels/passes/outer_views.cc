// Views that a map makes at each point: transposes and other shapes. Of what it computes: it
// returns that, and all of it is viewed so behind it, which takes no time. What it is given and
// transposes: all of that is, and copied once. Of what only has another shape nothing is left to a
// map.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class OuterViews {
 public:
  explicit OuterViews(Program& p) : p_(p) {}

  /// Inside first: a transpose may leave one map after the other.
  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      for (Stm& copy : copied_beside(s)) out.push_back(std::move(copy));
      if (s.pat.empty()) continue;
      std::vector<Stm> views = taken_out_of(s);
      copy_if_same(s);
      out.push_back(std::move(s));
      for (Stm& view : views) out.push_back(std::move(view));
    }
    b.stms = std::move(out);
  }

 private:
  /// What the map returns of its inputs, in another order. The copies stand before it, which may
  /// overwrite the inputs.
  std::vector<Stm> copied_beside(Stm& s) {
    Body copies;
    auto* e = std::get_if<ESoac>(&s.exp);
    if (e == nullptr || !s.attrs.empty()) return {};
    for (size_t k = s.pat.size(); k-- > operands_of(*e);) {
      const auto view = view_of_input(*e, e->map.body.results[k]);
      if (!view) continue;
      Builder b(p_, copies, s.prov);
      b.certs() = s.certs;
      b.emit_to({s.pat[k]}, ECopy{b.rearrange(view->perm, view->array)});
      const auto at = static_cast<std::ptrdiff_t>(k);
      s.pat.erase(s.pat.begin() + at);
      e->map.ret.erase(e->map.ret.begin() + at);
      e->map.body.results.erase(e->map.body.results.begin() + at);
    }
    return std::move(copies.stms);
  }

  /// The whole input as it has to be rearranged for a result, if that is a row of it in another
  /// order.
  static std::optional<ERearrange> view_of_input(const ESoac& e, const Atom& result) {
    std::vector<int> perm;  // of the row; empty: as it is
    Atom at = result;
    for (auto s = e.map.body.stms.rbegin(); s != e.map.body.stms.rend(); s++) {
      if (s->pat.size() != 1 || at != Atom(s->pat[0])) continue;
      if (!s->certs.empty() || !s->attrs.empty()) return std::nullopt;
      if (const auto* copy = std::get_if<ECopy>(&s->exp)) {
        at = copy->array;
      } else if (const auto* view = std::get_if<ERearrange>(&s->exp)) {
        if (perm.empty()) {
          perm = view->perm;
        } else {
          for (int& d : perm) d = view->perm[static_cast<size_t>(d)];
        }
        at = view->array;
      } else {
        return std::nullopt;
      }
    }
    if (std::is_sorted(perm.begin(), perm.end())) return std::nullopt;
    for (size_t k = 0; k < e.inputs.size(); k++) {
      if (at == Atom(e.map.params[k])) return ERearrange{of_all(perm), e.inputs[k]};
    }
    return std::nullopt;
  }

  /// A row's order of dims, for an array of rows.
  static std::vector<int> of_all(const std::vector<int>& perm) {
    std::vector<int> all{0};
    for (const int d : perm) all.push_back(d + 1);
    return all;
  }

  std::vector<Stm> taken_out_of(Stm& s) {
    std::vector<Stm> views;
    auto* e = std::get_if<ESoac>(&s.exp);
    if (e == nullptr || !s.attrs.empty()) return views;
    VarSet inside(e->map.params.begin(), e->map.params.end());
    for (const Stm& made : e->map.body.stms) {
      for_each_bound(made, [&](VarId v) { inside.insert(v); });
    }
    for (size_t k = s.pat.size(); k-- > operands_of(*e);) {
      Atom& result = e->map.body.results[k];
      const size_t before = views.size();
      while (const auto view = made_as_view(e->map.body, result, inside)) {
        const Type& row = p_.type_of(view->of);
        result = view->of;
        e->map.ret[k] = row;
        const VarId all = p_.new_var(array_of(e->width, row), p_.vars[s.pat[k].index].name);
        Exp exp = ERearrange{of_all(view->perm), all};
        if (view->perm.empty()) exp = EReshape{p_.type_of(s.pat[k]).dims, all};
        views.push_back(Stm{{s.pat[k]}, std::move(exp), view->certs, s.prov, {}});
        s.pat[k] = all;
      }
      std::reverse(views.begin() + static_cast<std::ptrdiff_t>(before), views.end());
    }
    return views;
  }

  /// A copy of its input instead of a map that returns this. Of several inputs one launch copies
  /// all.
  static void copy_if_same(Stm& s) {
    const auto* e = std::get_if<ESoac>(&s.exp);
    if (e == nullptr || !s.attrs.empty() || operands_of(*e) != 0 || s.pat.size() != 1) return;
    const auto is_view = [](const Stm& made) { return viewed(made.exp).has_value(); };
    if (!std::ranges::all_of(e->map.body.stms, is_view)) return;
    const auto param = std::ranges::find_if(
        e->map.params, [&](VarId v) { return e->map.body.results[0] == Atom(v); });
    if (param == e->map.params.end()) return;
    s.exp = ECopy{e->inputs[static_cast<size_t>(param - e->map.params.begin())]};
  }

  static size_t operands_of(const ESoac& e) {
    size_t n = 0;
    for (const auto* monoids : {&e.scans, &e.reduces}) {
      for (const Monoid& m : *monoids) n += m.neutral.size();
    }
    return n;
  }

  struct View {
    VarId of;
    std::vector<int> perm;  // empty: it has another shape
    std::vector<VarId> certs;
  };

  /// What is a result twice stays two arrays: one may be overwritten. What a thread makes of few
  /// elements can have any shape there. `inside`: what the map binds.
  std::optional<View> made_as_view(const Body& b, const Atom& result, const VarSet& inside) const {
    const auto is_plain = [&](const Stm& s, VarId of) {
      return s.attrs.empty() && std::ranges::count(b.results, Atom(s.pat[0])) <= 1 &&
             std::ranges::count(b.results, Atom(of)) == 0;
    };
    const Stm* made = maker(b, result);
    // The map stores what it copies.
    if (const auto* copy = made == nullptr ? nullptr : std::get_if<ECopy>(&made->exp)) {
      if (!is_plain(*made, copy->array) || !made->certs.empty() || overwrites(b)) return {};
      made = maker(b, copy->array);
    }
    if (made == nullptr) return std::nullopt;
    if (const auto* turned = std::get_if<ERearrange>(&made->exp)) {
      if (!is_plain(*made, turned->array) || !made->certs.empty()) return std::nullopt;
      return View{turned->array, turned->perm, {}};
    }
    const auto* shaped = std::get_if<EReshape>(&made->exp);
    if (shaped == nullptr || !is_plain(*made, shaped->array)) return std::nullopt;
    const auto is_inside = [&](const Atom& a) { return !a.is_const() && inside.contains(a.var()); };
    const auto is_const = [](const Atom& a) { return a.is_const(); };
    const std::vector<Atom>& from = p_.type_of(shaped->array).dims;
    const bool leaves = std::ranges::none_of(from, is_inside) &&
                        std::ranges::none_of(shaped->dims, is_inside) &&
                        std::ranges::none_of(made->certs, [&](VarId c) { return is_inside(c); });
    if (!leaves || std::ranges::all_of(from, is_const)) return std::nullopt;
    return View{shaped->array, {}, made->certs};
  }

  static const Stm* maker(const Body& b, const Atom& result) {
    const auto made = std::ranges::find_if(
        b.stms, [&](const Stm& s) { return s.pat.size() == 1 && result == Atom(s.pat[0]); });
    return made == b.stms.end() ? nullptr : &*made;
  }

  bool overwrites(const Body& b) const {
    return std::ranges::any_of(b.stms, [&](const Stm& s) { return !consumed_in(p_, s).empty(); });
  }

  Program& p_;
};

}  // namespace

void outer_views(Program& p) {
  OuterViews views(p);
  visit_bodies(p, [&](Body& b) { views.body(b); });
}

}  // namespace kenaz::passes
