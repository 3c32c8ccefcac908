// Arrays of which one element is wanted: only that is made.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

/// Maps that are taken apart in a program: for each, all uses are counted.
constexpr int kMost = 100;

class SingleElements {
 public:
  explicit SingleElements(Program& p) : p_(p), uses_(count_uses(p)) {}

  void program() {
    for (Function& f : p_.functions) body(f.body, false);
  }

 private:
  /// From the last statement on: what one takes apart may be of use to those before it.
  void body(Body& b, bool in_lambda) {
    for (size_t n = b.stms.size(); n-- > 0 && in_lambda;) {
      while (const auto made = element_at(b, n)) {
        // What is made begins where the map stood; its last statement is the element.
        n += *made;
      }
    }
    for (Stm& s : b.stms) {
      bool lambdas = in_lambda;
      visit_lambdas(s.exp, [&](const Lambda&) { lambdas = true; });
      visit_bodies(s.exp, [&](Body& inner) { body(inner, lambdas); });
    }
  }

  /// Makes what the statement takes out of a map's result, if it is one element and there is no
  /// other use. Says how many statements more there are then before it.
  std::optional<size_t> element_at(Body& b, size_t n) {
    const auto* index = std::get_if<EIndex>(&b.stms[n].exp);
    if (index == nullptr || made_ == kMost || !b.stms[n].attrs.empty()) return std::nullopt;
    const auto* fix = std::get_if<DimFix>(&index->dims[0]);
    if (fix == nullptr || uses_[index->array.index] != 1) return std::nullopt;
    // A row might become a view of what the map reads, and that be written to later.
    if (!p_.type_of(b.stms[n].pat[0]).is_scalar()) return std::nullopt;
    const VarId array = index->array;
    size_t at = n;
    while (at-- > 0) {
      const auto& pat = b.stms[at].pat;
      if (std::find(pat.begin(), pat.end(), array) != pat.end()) break;
      if (!consumed_in(p_, b.stms[at]).empty()) return std::nullopt;
    }
    if (at > n || !is_plain(b.stms[at])) return std::nullopt;
    std::vector<Stm> made = element(b, b.stms[at], b.stms[n]);
    const size_t more = made.size() - 1;
    const auto place = b.stms.begin() + static_cast<std::ptrdiff_t>(n);
    *place = std::move(made.back());
    made.pop_back();
    b.stms.insert(place, std::make_move_iterator(made.begin()),
                  std::make_move_iterator(made.end()));
    uses_ = count_uses(p_);
    ++made_;
    return more;
  }

  /// A map that does nothing but to make values: whether others are made makes no difference.
  static bool is_plain(const Stm& s) {
    const auto* e = std::get_if<ESoac>(&s.exp);
    return e != nullptr && e->scans.empty() && e->reduces.empty() && s.attrs.empty() &&
           is_quiet(e->map.body);
  }
  static bool is_quiet(const Body& b) {
    return std::all_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
      const bool may =
          std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EAtom>(s.exp) ||
          std::holds_alternative<EIf>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
          std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EReplicate>(s.exp) ||
          std::holds_alternative<ESoac>(s.exp);
      bool quiet = may && s.attrs.empty();
      visit_bodies(s.exp, [&](const Body& inner) { quiet = quiet && is_quiet(inner); });
      return quiet;
    });
  }

  /// Whether the array is made whatever becomes of its uses, none of which could be fused with what
  /// makes it: it is a result of the body, and that alone.
  bool stays(const Body& b, VarId array) const {
    const auto n = std::count(b.results.begin(), b.results.end(), Atom{array});
    return n > 0 && n == uses_[array.index];
  }

  /// The map's body for one index, and last the statement that binds what `wanted` did. What the
  /// map leaves in arrays that stay is read.
  std::vector<Stm> element(const Body& b, const Stm& map, const Stm& wanted) {
    const auto& e = std::get<ESoac>(map.exp);
    EIndex index = std::get<EIndex>(wanted.exp);
    const Dim at = index.dims[0];
    std::vector<VarId> certs = wanted.certs;
    certs.insert(certs.end(), map.certs.begin(), map.certs.end());
    std::vector<Stm> out;
    Subst rows;
    for (size_t k = 0; k < e.inputs.size(); k++) {
      EIndex row{e.inputs[k], row_dims(p_.type_of(e.inputs[k]), {})};
      row.dims[0] = at;
      const VarId param = e.map.params[k];
      const VarId own = p_.new_var(p_.type_of(param), p_.vars[param.index].name);
      rows[param] = own;
      out.push_back(Stm{{own}, std::move(row), certs, wanted.prov, {}});
    }
    Body made = copy_renamed(p_, e.map.body, rows);
    Subst known;
    for (size_t k = 0; k < map.pat.size(); k++) {
      const Atom& result = made.results[k];
      if (result.is_const() || !p_.type_of(result.var()).is_scalar()) continue;
      const bool bound_here = std::any_of(made.stms.begin(), made.stms.end(), [&](const Stm& s) {
        return std::find(s.pat.begin(), s.pat.end(), result.var()) != s.pat.end();
      });
      if (!bound_here || known.count(result.var()) > 0 || !stays(b, map.pat[k])) continue;
      const VarId own = p_.new_var(p_.type_of(result.var()), p_.vars[result.var().index].name);
      known[result.var()] = own;
      out.push_back(Stm{{own}, EIndex{map.pat[k], {at}}, certs, wanted.prov, {}});
    }
    substitute(p_, made, known);
    for (Stm& s : made.stms) {
      s.certs.insert(s.certs.end(), certs.begin(), certs.end());
      out.push_back(std::move(s));
    }
    const auto number = std::find(map.pat.begin(), map.pat.end(), index.array) - map.pat.begin();
    const Atom result = made.results[static_cast<size_t>(number)];
    Stm last = wanted;
    last.certs = std::move(certs);
    if (index.dims.size() == 1) {
      last.exp = EAtom{result};
    } else {
      index.array = result.var();
      index.dims.erase(index.dims.begin());
      last.exp = std::move(index);
    }
    out.push_back(std::move(last));
    return out;
  }

  Program& p_;
  std::vector<int> uses_;
  int made_ = 0;
};

}  // namespace

void single_elements(Program& p) {
  SingleElements(p).program();
  remove_dead_code(p);  // the maps
}

}  // namespace kenaz::passes
