#include "kernels/memory/sink_updates.h"

#include <algorithm>
#include <utility>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/places.h"
#include "kernels/ir/visit.h"
#include "kernels/memory/candidates.h"

namespace kenaz::memory {
namespace {

using namespace ir;

class SinkUpdates {
 public:
  explicit SinkUpdates(Program& p) : p_(p), aliases_(p), uses_(count_uses(p)) {}

  void run() {
    visit_bodies(p_, [&](Body& b) { body(b); });
  }

 private:
  void body(Body& b) {
    for (size_t n = 0; n < b.stms.size(); n++) {
      if (std::holds_alternative<EUpdate>(b.stms[n].exp) && sink(b, n)) n--;
    }
    // What was moved into a branch may go on into one inside.
    for (Stm& s : b.stms) {
      if (is_choice(s) || std::holds_alternative<ELoop>(s.exp)) {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
    }
  }

  static bool is_choice(const Stm& s) {
    return std::holds_alternative<EIf>(s.exp) || std::holds_alternative<EVersions>(s.exp);
  }

  bool sink(Body& b, size_t n) {
    const EUpdate e = std::get<EUpdate>(b.stms[n].exp);
    if (p_.type_of(e.value).is_scalar() || uses_[e.value.var().index] != 1) return false;
    const Candidates candidates(p_, aliases_, b);
    const auto at = candidates.definition(e.value.var()), made = candidates.definition(e.array);
    if (!at || !is_choice(b.stms[*at]) || (made && *made >= *at)) return false;
    Stm& choice = b.stms[*at];
    const auto& pat = choice.pat;
    const auto k =
        static_cast<size_t>(std::find(pat.begin(), pat.end(), e.value.var()) - pat.begin());
    if (!any_makes(choice, k) || candidates.uses_memory(e.array, *at, n)) return false;
    std::set<size_t> raised;
    bool fine = true;
    for_each_use(p_, b.stms[n], [&](VarId v) {
      const bool is_scalar = p_.type_of(v).is_scalar();
      fine = fine && (!is_scalar || candidates.raise(v, *at, raised));
    });
    if (!fine) return false;
    visit_bodies(choice.exp, [&](Body& inner) {
      Stm own = b.stms[n];
      own.pat = copy_pattern(p_, own.pat);
      std::get<EUpdate>(own.exp).value = inner.results[k];
      inner.results[k] = own.pat[0];
      inner.stms.push_back(std::move(own));
    });
    choice.pat[k] = b.stms[n].pat[0];
    uses_.resize(p_.vars.size(), 1);
    move(b, *at, n, raised);
    return true;
  }

  bool any_makes(const Stm& choice, size_t k) const {
    bool found = false;
    visit_bodies(choice.exp, [&](const Body& inner) {
      for (const Stm& s : inner.stms) {
        for (size_t i = 0; i < s.pat.size(); i++) {
          found =
              found || (Atom(s.pat[i]) == inner.results[k] && (makes(p_, s, i) || is_choice(s)));
        }
      }
    });
    return found;
  }

  /// Statement n goes, and those `raised` go before statement `to`.
  static void move(Body& b, size_t to, size_t n, const std::set<size_t>& raised) {
    std::vector<Stm> stms;
    for (size_t k = 0; k < b.stms.size(); k++) {
      if (k == to) {
        for (const size_t r : raised) stms.push_back(b.stms[r]);
      }
      if (k != n && !raised.contains(k)) stms.push_back(std::move(b.stms[k]));
    }
    b.stms = std::move(stms);
  }

  Program& p_;
  const Aliases aliases_;
  std::vector<int> uses_;
};

}  // namespace

void sink_updates(Program& p) { SinkUpdates(p).run(); }

}  // namespace kenaz::memory
