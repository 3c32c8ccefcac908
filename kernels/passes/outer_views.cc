// Transposes that a map makes at each point. Of what it computes: it returns that, and all of it is
// transposed behind it, which takes no time. Of what it is given: all of that is transposed, and
// copied once.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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
    for (size_t k = s.pat.size(); k-- > operands_of(*e);) {
      Atom& result = e->map.body.results[k];
      const ERearrange* view = made_as_view(e->map.body, result);
      if (view == nullptr) continue;
      const Type& row = p_.type_of(view->array);
      std::vector<int> perm = of_all(view->perm);
      result = view->array;
      e->map.ret[k] = row;
      const VarId all = p_.new_var(array_of(e->width, row), p_.vars[s.pat[k].index].name);
      views.push_back(Stm{{s.pat[k]}, ERearrange{std::move(perm), all}, {}, s.prov, {}});
      s.pat[k] = all;
    }
    return views;
  }

  static size_t operands_of(const ESoac& e) {
    size_t n = 0;
    for (const auto* monoids : {&e.scans, &e.reduces}) {
      for (const Monoid& m : *monoids) n += m.neutral.size();
    }
    return n;
  }

  /// What is a result twice stays two arrays: one may be overwritten.
  static const ERearrange* made_as_view(const Body& b, const Atom& result) {
    for (const Stm& s : b.stms) {
      const auto* view = std::get_if<ERearrange>(&s.exp);
      if (view == nullptr || result != Atom(s.pat[0])) continue;
      const bool is_plain = s.certs.empty() && s.attrs.empty() &&
                            std::count(b.results.begin(), b.results.end(), result) == 1 &&
                            std::count(b.results.begin(), b.results.end(), Atom(view->array)) == 0;
      return is_plain ? view : nullptr;
    }
    return nullptr;
  }

  Program& p_;
};

}  // namespace

void outer_views(Program& p) {
  OuterViews views(p);
  visit_bodies(p, [&](Body& b) { views.body(b); });
}

}  // namespace kenaz::passes
