// Transposes that a map makes of what it computes at each point: it returns what is computed, and
// all of that is transposed behind it, which takes no time.
#include <algorithm>
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
      std::vector<Stm> views = taken_out_of(s);
      out.push_back(std::move(s));
      for (Stm& view : views) out.push_back(std::move(view));
    }
    b.stms = std::move(out);
  }

 private:
  std::vector<Stm> taken_out_of(Stm& s) {
    std::vector<Stm> views;
    auto* e = std::get_if<ESoac>(&s.exp);
    if (e == nullptr || !s.attrs.empty()) return views;
    size_t n = e->map.body.results.size();
    for (size_t k = s.pat.size(); k-- > 0 && n-- > operands_of(*e);) {
      Atom& result = e->map.body.results[n];
      const ERearrange* view = made_as_view(e->map.body, result);
      if (view == nullptr) continue;
      std::vector<int> perm{0};
      for (const int d : view->perm) perm.push_back(d + 1);
      const Type& row = p_.type_of(view->array);
      result = view->array;
      e->map.ret[n] = row;
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
