#include "kernels/ad/large_sums.h"

#include <algorithm>

#include "kernels/ad/loops_apart.h"
#include "kernels/ad/values.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

namespace {

/// So many for each param of their type: memory is a few times that of the states.
constexpr std::ptrdiff_t kMost = 4;

bool is_long(const Atom& width) { return !width.is_const() || width.constant().as_i64() > kShort; }

bool has_sums(const Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
    const auto* e = std::get_if<ESoac>(&s.exp);
    return e != nullptr && ((!e->reduces.empty() && is_long(e->width)) || has_sums(e->map.body));
  });
}

/// Whether a map does nothing but add: what goes back through it needs none of its operands.
bool only_adds(const ESoac& e) {
  return std::all_of(e.map.body.stms.begin(), e.map.body.stms.end(), [](const Stm& s) {
    if (const auto* prim = std::get_if<EPrim>(&s.exp)) return prim->op == ScalarOp::kAdd;
    const ESoac* map = as_map(s);
    return map != nullptr && only_adds(*map);
  });
}

class LargeSums {
 public:
  LargeSums(const Program& p, const Activity& activity, const ELoop& e)
      : p_(p), activity_(activity), e_(e) {
    for (const Stm& s : e.body.stms) {
      VarSet used;
      for_each_use(p, s, [&](VarId v) { used.insert(v); });
      for (const VarId v : used) users_[v].push_back(&s);
    }
    for (const Atom& r : e.body.results) {
      if (!r.is_const()) users_[r.var()].push_back(nullptr);
    }
  }

  std::vector<VarId> find() const {
    std::vector<VarId> out;
    for (const Stm& s : e_.body.stms) {
      const ESoac* map = as_map(s);
      if (map == nullptr || s.pat.size() != 1 || !has_sums(map->map.body)) continue;
      const VarId v = added_up_to(s.pat[0]);
      const bool known = std::find(out.begin(), out.end(), v) != out.end();
      if (!known && activity_.has(v) && has_room(p_.type_of(v), out)) out.push_back(v);
    }
    return out;
  }

 private:
  VarId added_up_to(VarId v) const {
    const auto users = users_.find(v);
    if (users == users_.end() || users->second.size() != 1 || users->second[0] == nullptr) return v;
    const Stm& s = *users->second[0];
    const ESoac* map = as_map(s);
    if (map == nullptr || s.pat.size() != 1 || !only_adds(*map)) return v;
    return p_.type_of(s.pat[0]) == p_.type_of(v) ? added_up_to(s.pat[0]) : v;
  }

  bool has_room(const Type& t, const std::vector<VarId>& kept) const {
    const auto room = kMost * std::count_if(e_.params.begin(), e_.params.end(),
                                            [&](const auto& q) { return p_.type_of(q.var) == t; });
    return std::count_if(kept.begin(), kept.end(), [&](VarId v) { return p_.type_of(v) == t; }) <
           room;
  }

  const Program& p_;
  const Activity& activity_;
  const ELoop& e_;
  std::unordered_map<VarId, std::vector<const Stm*>> users_;  // null: the body's results
};

}  // namespace

std::vector<VarId> large_sums(const Program& p, const Activity& activity, const ELoop& e) {
  return LargeSums(p, activity, e).find();
}

}  // namespace kenaz::ad
