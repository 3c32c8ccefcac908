#include "kernels/ad/loops_apart.h"

#include <algorithm>
#include <utility>

#include "kernels/ad/activity.h"
#include "kernels/ad/interchange.h"
#include "kernels/ad/turns.h"
#include "kernels/ad/values.h"
#include "kernels/ir/analysis/plain.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"

namespace kenaz::ad {

using namespace ir;

namespace {

bool is_short(const ELoop& e) {
  const auto* form = std::get_if<LoopFor>(&e.form);
  return form != nullptr && form->bound.is_const() && form->bound.constant().as_i64() <= kShort;
}

/// Whether it may be done twice: arithmetic, elements and views of arrays, maps of such.
bool is_cheap(const Stm& s) {
  if (const ESoac* e = as_map(s)) {
    return std::all_of(e->map.body.stms.begin(), e->map.body.stms.end(), is_cheap);
  }
  return std::holds_alternative<EPrim>(s.exp) || std::holds_alternative<EIndex>(s.exp) ||
         std::holds_alternative<EAtom>(s.exp) || std::holds_alternative<EAssert>(s.exp) ||
         std::holds_alternative<EIota>(s.exp) || std::holds_alternative<EReplicate>(s.exp) ||
         std::holds_alternative<ERearrange>(s.exp);
}

class LoopsApart {
 public:
  LoopsApart(Program& p, const Lambda& fun) : p_(p) {
    for (const VarId v : fun.params) activity_.add(v);
    activity_.mark(fun.body);
  }

  /// That stands in no map.
  void body(Body& b) {
    for (Stm& s : std::exchange(b.stms, {})) {
      if (auto* e = std::get_if<ELoop>(&s.exp)) body(e->body);
      map(b, s);
      b.stms.push_back(std::move(s));
    }
  }

 private:
  /// What is taken out of the map, if `s` is one, becomes statements of `out`.
  void map(Body& out, Stm& s) {
    if (as_map(s) == nullptr) return;
    auto& e = std::get<ESoac>(s.exp);
    Body& inner = e.map.body;
    for (Stm& each : std::exchange(inner.stms, {})) {
      map(inner, each);
      inner.stms.push_back(std::move(each));
    }
    for (size_t at = 0; at < inner.stms.size();) {
      if (!may_stand_apart(inner, at)) {
        ++at;
      } else if (is_all(inner, inner.stms[at])) {
        apart_.insert(s.pat.begin(), s.pat.end());
        return;
      } else if (!take_out(out, e, at)) {
        ++at;
      }
    }
  }

  bool may_stand_apart(const Body& in, size_t at) const {
    const Stm& s = in.stms[at];
    if (const auto* e = std::get_if<ELoop>(&s.exp)) {
      const bool varied =
          std::any_of(s.pat.begin(), s.pat.end(), [&](VarId v) { return activity_.has(v); });
      if (!varied || !binds_scalars(p_, s) || is_short(*e) ||
          !has_independent_turns(p_, activity_, *e)) {
        return false;
      }
    } else if (s.pat.empty() || !apart_.contains(s.pat[0])) {
      return false;
    }
    const auto needed = needed_before(p_, in.stms, at);
    return std::all_of(needed.begin(), needed.end(), [](const Stm* n) { return is_cheap(*n); });
  }

  /// Whether the body returns nothing but what the statement binds.
  static bool is_all(const Body& b, const Stm& s) {
    return std::all_of(b.results.begin(), b.results.end(), [&](const Atom& a) {
      return !a.is_const() && std::find(s.pat.begin(), s.pat.end(), a.var()) != s.pat.end();
    });
  }

  bool has_sizes_from_outside(const ESoac& e, VarId v) const {
    VarSet own(e.map.params.begin(), e.map.params.end());
    for_each_bound(e.map.body, [&](VarId bound) { own.insert(bound); });
    const auto& dims = p_.type_of(v).dims;
    return std::none_of(dims.begin(), dims.end(),
                        [&](const Atom& d) { return !d.is_const() && own.contains(d.var()); });
  }

  bool take_out(Body& out, ESoac& e, size_t at) {
    const Stm& s = e.map.body.stms[at];
    if (!std::all_of(s.pat.begin(), s.pat.end(),
                     [&](VarId v) { return has_sizes_from_outside(e, v); })) {
      return false;
    }
    Stm alone{{}, e, {}, s.prov, {}};
    auto& map = std::get<ESoac>(alone.exp);
    map.map.body = {};
    map.map.ret.clear();
    auto& stms = map.map.body.stms;
    for (const Stm* needed : needed_before(p_, e.map.body.stms, at)) stms.push_back(*needed);
    stms.push_back(s);
    for (const VarId v : s.pat) {
      map.map.body.results.emplace_back(v);
      map.map.ret.push_back(p_.type_of(v));
      alone.pat.push_back(p_.new_var(array_of(e.width, p_.type_of(v)), "kept"));
    }
    prune(p_, map);
    if (map.inputs.empty()) return false;
    map.map = copy_renamed(p_, map.map);
    for (size_t k = 0; k < s.pat.size(); ++k) {
      e.inputs.push_back(alone.pat[k]);
      e.map.params.push_back(s.pat[k]);
    }
    apart_.insert(alone.pat.begin(), alone.pat.end());
    e.map.body.stms.erase(e.map.body.stms.begin() + static_cast<std::ptrdiff_t>(at));
    out.stms.push_back(std::move(alone));
    activity_.mark(out);
    return true;
  }

  Program& p_;
  Activity activity_;
  VarSet apart_;  // what maps return that do nothing but such loops
};

}  // namespace

void set_loops_apart(Program& p, Lambda& fun) { LoopsApart(p, fun).body(fun.body); }

}  // namespace kenaz::ad
