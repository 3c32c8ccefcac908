// Maps at stage seg that do nothing but to check what the host knows before:
//
//   let cs = seg map (i < n) { let c = assert (k < m, ..); return c }
//   .. let c = index cs[i] ..
//
// Flattening leaves them where a loop stands in a map: the check is made for each element of the
// map, in each turn of the loop, by a launch of its own. It cannot leave the loop, for that may
// have no turns, and would take with it what the loop's body knows by it. The host makes such
// checks.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/passes/guard_check.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using namespace ir;

class LoneChecks {
 public:
  explicit LoneChecks(Program& p) : p_(p), uses_(count_uses(p)) {
    visit_bodies(p, [&](const Body& b) { count_elements(b); });
  }

  void program() {
    for (Function& f : p_.functions) {
      for (const VarId v : f.params) {
        if (p_.type_of(v).is_scalar()) of_host_.insert(v);
      }
      body(f.body);
    }
    if (!checks_.empty()) visit_bodies(p_, [&](Body& b) { replace_elements(b); });
  }

 private:
  void count_elements(const Body& b) {
    for (const Stm& s : b.stms) {
      if (const auto* e = element(s)) elements_[e->array.index]++;
      visit_bodies(s.exp, [&](const Body& inner) { count_elements(inner); });
    }
  }
  const EIndex* element(const Stm& s) const {
    const auto* e = std::get_if<EIndex>(&s.exp);
    return e != nullptr && p_.type_of(s.pat[0]).is_scalar() ? e : nullptr;
  }

  void body(Body& b) {
    std::vector<Stm> out;
    for (Stm& s : b.stms) {
      const bool prim = std::holds_alternative<EPrim>(s.exp) ||
                        std::holds_alternative<EAtom>(s.exp) ||
                        std::holds_alternative<EAssert>(s.exp);
      if (prim && knows(s)) of_host_.insert(s.pat.begin(), s.pat.end());
      if (const auto* loop = std::get_if<ELoop>(&s.exp)) {
        if (const auto* turns = std::get_if<LoopFor>(&loop->form)) of_host_.insert(turns->index);
      }
      if (const auto* seg = std::get_if<ESeg>(&s.exp)) {
        if (only_checks(s, *seg)) {
          make_checks(std::move(s), out);
          continue;
        }
      } else {
        visit_bodies(s.exp, [&](Body& inner) { body(inner); });
      }
      out.push_back(std::move(s));
    }
    b.stms = std::move(out);
  }

  /// Whether the host has all that the statement uses, and waits for nothing to get it.
  bool knows(const Stm& s) const {
    bool all = true;
    for_each_use(p_, s, [&](VarId v) { all = all && of_host_.contains(v); });
    return all;
  }

  bool only_checks(const Stm& s, const ESeg& e) const {
    if (e.kind != SegKind::kMap || is_single(e) || !e.writes.empty() || !s.attrs.empty()) {
      return false;
    }
    // A launch does not wait for a certificate that the device makes, the host would.
    const auto of_host = [&](VarId v) { return of_host_.contains(v); };
    if (!std::ranges::all_of(s.certs, of_host)) return false;
    VarSet made, checks;
    for (const Stm& inner : e.body.stms) {
      const bool check = std::holds_alternative<EAssert>(inner.exp);
      if ((!check && !std::holds_alternative<EPrim>(inner.exp)) || !inner.attrs.empty()) {
        return false;
      }
      bool known = true;
      for_each_use(p_, inner,
                   [&](VarId v) { known = known && (of_host_.contains(v) || made.contains(v)); });
      if (!known) return false;
      made.insert(inner.pat[0]);
      if (check) checks.insert(inner.pat[0]);
    }
    for (size_t k = 0; k < s.pat.size(); k++) {
      const Atom& result = e.body.results[k];
      const auto read = elements_.find(s.pat[k].index);
      const int count = read == elements_.end() ? 0 : read->second;
      if (result.is_const() || !checks.contains(result.var())) return false;
      if (count != uses_[s.pat[k].index]) return false;
    }
    return true;
  }

  void make_checks(Stm s, std::vector<Stm>& out) {
    auto& e = std::get<ESeg>(s.exp);
    const std::vector<Atom> sizes = sizes_of(e.space.dims);
    Empty empty;
    for (Stm& inner : e.body.stms) {
      inner.certs.insert(inner.certs.end(), s.certs.begin(), s.certs.end());
      if (std::holds_alternative<EAssert>(inner.exp)) guard_check(p_, inner, sizes, empty, out);
      of_host_.insert(inner.pat[0]);
      out.push_back(std::move(inner));
    }
    for (size_t k = 0; k < s.pat.size(); k++) checks_[s.pat[k].index] = e.body.results[k];
  }

  void replace_elements(Body& b) {
    for (Stm& s : b.stms) {
      if (const auto* e = element(s)) {
        if (const auto made = checks_.find(e->array.index); made != checks_.end()) {
          s.exp = EAtom{made->second};
        }
      }
      visit_bodies(s.exp, [&](Body& inner) { replace_elements(inner); });
    }
  }

  Program& p_;
  const std::vector<int> uses_;
  std::unordered_map<uint32_t, int> elements_;  // of arrays: how many statements take one
  VarSet of_host_;
  std::unordered_map<uint32_t, Atom> checks_;  // by the arrays of certificates that are gone
};

}  // namespace

void lone_checks(Program& p) { LoneChecks(p).program(); }

}  // namespace kenaz::passes
