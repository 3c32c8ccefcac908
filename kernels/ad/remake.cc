#include "kernels/ad/remake.h"

#include <algorithm>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/visit.h"

namespace kenaz::ad {

using namespace ir;

namespace {

/// Whether loops or sums are run.
bool is_costly(const Stm& s) {
  const auto* e = std::get_if<ESoac>(&s.exp);
  bool costly = std::holds_alternative<ELoop>(s.exp) ||
                (e != nullptr && !(e->scans.empty() && e->reduces.empty()));
  visit_bodies(s.exp, [&](const Body& inner) {
    costly = costly || std::any_of(inner.stms.begin(), inner.stms.end(), is_costly);
  });
  return costly;
}

/// Whether it takes more than a few instructions to compute the variable in the body.
bool is_costly(const Program& p, const Body& body, VarId v) {
  VarSet needed{v};
  bool costly = false;
  for_each_needed(p, body.stms, needed, [&](const Stm& s) { costly = costly || is_costly(s); });
  return costly;
}

bool is_smaller(const Type& t, const Type& than) {
  return t.rank() < than.rank() && std::all_of(t.dims.begin(), t.dims.end(), [&](const Atom& d) {
           return std::find(than.dims.begin(), than.dims.end(), d) != than.dims.end();
         });
}

/// What the map computes by loops, and returns as well from `s`, of which it is one result alone,
/// becomes an input, if it is smaller than the result.
void use_other_results(Program& p, const Stm& s, size_t position, ESoac& e) {
  const auto& all = std::get<ESoac>(s.exp);
  const Type row = p.type_of(e.map.body.results[0]);
  Subst names;
  for (size_t k = all.reduces.size(); k < s.pat.size(); ++k) {
    const Atom r = all.map.body.results[k];
    if (k == position || r.is_const() || names.contains(r.var())) continue;
    const Type t = p.type_of(r);
    if (!is_smaller(t, row) || !is_costly(p, e.map.body, r.var())) continue;
    e.inputs.push_back(s.pat[k]);
    e.map.params.push_back(p.new_var(Type(t), "x"));
    names[r.var()] = e.map.params.back();
  }
  if (names.empty()) return;
  substitute(p, e.map.body, names);
  prune(p, e);
}

/// Arithmetic on indices of which the map needs what comes out, and which is made of what there are
/// arrays of, or of what comes from outside, moves into it: no array of it is stored.
class Arithmetic {
 public:
  Arithmetic(const Body& body, const ElementArrays& have) : body_(body), have_(have) {}

  void move_into(const Program& p, ESoac& e) {
    const VarSet used = free_vars(p, e.map);
    std::vector<VarId> free(used.begin(), used.end());
    std::sort(free.begin(), free.end());
    for (const VarId v : free) {
      const size_t before = stms_.size();
      if (!have_.contains(v) && !make(p, v)) stms_.resize(before);
    }
    auto& stms = e.map.body.stms;
    for (size_t k = stms_.size(); k-- > 0;) stms.insert(stms.begin(), *stms_[k]);
  }

 private:
  bool make(const Program& p, VarId v) {
    constexpr size_t kMost = 8;
    size_t position = 0;
    const Stm* s = binding(body_, v, position);
    if (have_.contains(v) || s == nullptr) return true;
    if (std::find(stms_.begin(), stms_.end(), s) != stms_.end()) return true;
    const auto* prim = std::get_if<EPrim>(&s->exp);
    if (prim == nullptr || !s->certs.empty() || is_float(p.type_of(v).prim) ||
        stms_.size() >= kMost) {
      return false;
    }
    for (const Atom& a : prim->args) {
      if (!a.is_const() && !make(p, a.var())) return false;
    }
    stms_.push_back(s);
    return true;
  }

  const Body& body_;
  const ElementArrays& have_;
  std::vector<const Stm*> stms_;
};

}  // namespace

std::optional<ESoac> map_of_result(Program& p, const Body& body, const Stm& s, size_t position,
                                   const ElementArrays& have) {
  auto e = map_to(p, body, s, position);
  if (!e) return e;
  use_other_results(p, s, position, *e);
  Arithmetic(body, have).move_into(p, *e);
  return e;
}

namespace {

/// Makes the result a statement of its own, if it is made of other results.
void split(Program& p, Body& body, size_t at, size_t position) {
  const Stm& s = body.stms[at];
  auto alone = map_of_result(p, body, s, position, {});
  if (!alone || std::none_of(s.pat.begin(), s.pat.end(), [&](VarId v) {
        return std::find(alone->inputs.begin(), alone->inputs.end(), v) != alone->inputs.end();
      })) {
    return;
  }
  alone->map = copy_renamed(p, alone->map);  // it stands beside the one that it is taken from
  Stm own{{s.pat[position]}, std::move(*alone), s.certs, s.prov, s.attrs};
  Stm& rest = body.stms[at];
  auto& map = std::get<ESoac>(rest.exp).map;
  erase_at(rest.pat, position);
  erase_at(map.body.results, position);
  erase_at(map.ret, position);
  body.stms.insert(body.stms.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(own));
}

size_t index_of(const Body& body, const Stm* s) {
  return static_cast<size_t>(s - body.stms.data());
}

}  // namespace

void return_what_is_costly(Program& p, Body& body, VarId value) {
  size_t position = 0;
  const Stm* made = binding(body, value, position);
  if (made == nullptr) return;
  if (const auto* e = std::get_if<ERearrange>(&made->exp)) {
    return return_what_is_costly(p, body, e->array);
  }
  if (!map_to(p, body, *made, position)) return;
  Stm& s = body.stms[index_of(body, made)];
  auto& map = std::get<ESoac>(s.exp);
  Body& inner = map.map.body;
  const Atom row = inner.results[position];
  if (row.is_const() || p.type_of(row).is_scalar()) return;
  return_what_is_costly(p, inner, row.var());
  const Stm* of_row = binding(inner, row.var(), position);
  if (of_row == nullptr) return;
  const auto alone = map_of_result(p, inner, *of_row, position, {});
  if (!alone) return;
  VarSet used = free_vars(p, alone->map);
  used.insert(alone->inputs.begin(), alone->inputs.end());
  std::vector<VarId> needed(used.begin(), used.end());
  std::sort(needed.begin(), needed.end());
  for (const VarId v : needed) {
    const Type t = p.type_of(v);
    const auto& results = inner.results;
    if (std::find(results.begin(), results.end(), Atom(v)) != results.end() ||
        binding(inner, v, position) == nullptr || !is_smaller(t, p.type_of(row)) ||
        !is_costly(p, inner, v)) {
      continue;
    }
    inner.results.emplace_back(v);
    map.map.ret.push_back(t);
    s.pat.push_back(p.new_var(array_of(map.width, t), "kept"));
  }
  const Stm* whole = binding(body, value, position);
  split(p, body, index_of(body, whole), position);
}

}  // namespace kenaz::ad
