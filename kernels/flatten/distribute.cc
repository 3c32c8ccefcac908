#include "kernels/flatten/distribute.h"

#include <utility>

#include "kernels/flatten/attributes.h"
#include "kernels/flatten/distribution.h"
#include "kernels/flatten/group.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "protocol/base/check.h"

namespace kenaz::flatten {

using namespace ir;

namespace {

bool has_combinators(const Exp& e) {
  bool found = is_combinator(e);
  visit_bodies(e, [&](const Body& b) {
    for (const Stm& s : b.stms) found = found || has_combinators(s.exp);
  });
  return found;
}

}  // namespace

bool has_sorts(const Stm& s) {
  return any_inside(s.exp, [](const Stm& t) { return std::holds_alternative<ESort>(t.exp); });
}

bool is_combinator(const Exp& e) {
  return std::holds_alternative<ESoac>(e) || std::holds_alternative<EScatter>(e) ||
         std::holds_alternative<EHist>(e) || std::holds_alternative<EPack>(e) ||
         std::holds_alternative<ESort>(e);
}

// Spreads what is worth it. `group` is left with the statements behind the last of that.
void Distribution::walk(const Nest& nest, Body& b, Stms& group, Stms& out) {
  for (size_t k = 0; k < b.stms.size() && !failed_; k++) {
    const Stm& s = b.stms[k];
    if (parallelism_.can_move_out(s)) {
      for (const VarId v : s.pat) parallelism_.is_uniform(v);
      out.push_back(s);
      continue;
    }
    if (parallelism_.can_make_again(s) && values_.make_again(s)) continue;
    if (reshape(nest, s, out)) continue;
    if (!spreads(nest, s) || (!parallelism_.passes_arrays() && is_used_behind(b, k))) {
      group.push_back(s);
      continue;
    }
    spreading_ = s.pat[0];
    pass_on(nest, group, b, k, out);
    if (failed_) return;
    const Vars arrays = spread_or_group(nest, s, out);
    for (size_t r = 0; r < arrays.size(); r++) {
      const bool is_uniform = arrays[r] == s.pat[r];
      if (!is_uniform) values_.store(s.pat[r], arrays[r], nest);
    }
  }
}

bool Distribution::spreads(const Nest& nest, const Stm& s) {
  const bool by_elements = parallelism_.makes_by_elements(s) ||
                           (parallelism_.writes_by_elements(s) && is_stored(nest, s));
  if (by_elements) return kept_.count(s.pat[0]) == 0;
  const auto stays =
      kept_.count(s.pat[0]) != 0 ? Stays{Stays::Why::kIntermediate} : parallelism_.stay(s);
  if (stays && has_combinators(s.exp)) add_note(notes_, {s.prov, *stays});
  return !stays;
}

bool Distribution::is_used_behind(const Body& b, size_t k) const {
  const VarSet made(b.stms[k].pat.begin(), b.stms[k].pat.end());
  bool used = false;
  for (size_t n = k + 1; n < b.stms.size(); n++) {
    for_each_use(p_, b.stms[n], [&](VarId v) { used |= made.contains(v); });
  }
  return used;
}

Vars Distribution::body(const Nest& nest, Body b, Stms& out) {
  Stms group;
  walk(nest, b, group, out);
  if (failed_) return {};
  return results(nest, group, b.results, out);
}

// Runs the statements of `group` for every point, and stores what b's statements from `next` on
// need of them.
void Distribution::pass_on(const Nest& nest, Stms& group, const Body& b, size_t next, Stms& out) {
  if (group.empty()) return;
  VarSet made;
  for (const Stm& s : group) made.insert(s.pat.begin(), s.pat.end());
  VarSet needed;
  for (size_t k = next; k < b.stms.size(); k++) {
    for (const VarId v : free_vars(p_, b.stms[k])) values_.add_needs(v, needed);
  }
  for (const Atom& r : b.results) {
    if (!r.is_const()) values_.add_needs(r.var(), needed);
  }
  std::set<VarId> passed;
  for (const VarId v : needed) {
    if (made.contains(v)) passed.insert(v);
  }
  if (passed.empty()) {
    // Only checks that nobody needs could have had an effect.
    group.clear();
    return;
  }
  std::vector<Atom> atoms(passed.begin(), passed.end());
  for (const Atom& a : atoms) {
    if (parallelism_.varies(p_.type_of(a)) ||
        (!parallelism_.passes_arrays() && !p_.type_of(a).is_scalar())) {
      kept_.insert(spreading_);
      failed_ = true;
      return;
    }
  }
  const Vars arrays = results(nest, std::exchange(group, {}), atoms, out);
  for (size_t k = 0; k < arrays.size(); k++) {
    values_.store(atoms[k].var(), arrays[k], nest);
  }
}

void Distribution::wait_inside(Body& b, const Vars& params, const std::vector<VarId>& certs,
                               ProvId prov) {
  if (certs.empty()) return;
  VarSet made(params.begin(), params.end());
  for (Stm& s : b.stms) {
    s.certs.insert(s.certs.end(), certs.begin(), certs.end());
    made.insert(s.pat.begin(), s.pat.end());
  }
  for (Atom& r : b.results) {
    if (!r.is_const() && made.contains(r.var())) continue;
    const VarId v = p_.new_var(p_.type_of(r), r.is_const() ? "r" : p_.vars[r.var().index].name);
    parallelism_.is_varying(v);
    b.stms.push_back(Stm{{v}, EAtom{r}, certs, prov, {}});
    r = Atom(v);
  }
}

Vars Distribution::spread(const Nest& nest, Stm s, Stms& out) {
  const std::vector<VarId> around = certs_;
  for (const VarId c : s.certs) {
    if (!parallelism_.varies(c)) certs_.push_back(c);
  }
  const bool stays = parallelism_.set_stays(asks_for_outer_only(s));
  Vars made = spread_exp(nest, std::move(s), out);
  parallelism_.set_stays(stays);
  certs_ = around;
  return made;
}

Vars Distribution::spread_exp(const Nest& nest, Stm s, Stms& out) {
  if (std::holds_alternative<ESoac>(s.exp)) return soac(nest, std::move(s), out);
  if (std::holds_alternative<EScatter>(s.exp)) return scatter(nest, std::move(s), out);
  if (std::holds_alternative<EHist>(s.exp)) return hist(nest, std::move(s), out);
  if (std::holds_alternative<EPack>(s.exp)) return pack(nest, std::move(s), out);
  if (std::holds_alternative<ESort>(s.exp)) return sort(nest, std::move(s), out);
  if (parallelism_.makes_by_elements(s)) return {put_together(nest, s, out)};
  if (std::holds_alternative<EUpdate>(s.exp)) return {updated(nest, s, out)};
  if (std::holds_alternative<ELoop>(s.exp)) return loop(nest, std::move(s), out);
  CHECK(std::holds_alternative<EIf>(s.exp));
  return branch(nest, std::move(s), out);
}

Vars Distribution::spread_or_group(const Nest& nest, const Stm& s, Stms& out) {
  constexpr size_t kManyPieces = 3;
  const auto* e = std::get_if<ESoac>(&s.exp);
  const bool may_be = choice_ != nullptr && in_loop_ && nest.depth() > 0 && e != nullptr &&
                      e->scans.empty() && e->reduces.empty() && !asks_for_no_groups(s) &&
                      varying_certs(s).empty();
  if (!may_be) return spread(nest, s, out);
  const size_t before = pieces();
  Distributed all;
  // Not in both: what is deeper belongs to the groups here.
  GroupChoice* const choice = std::exchange(choice_, nullptr);
  all.results = spread(nest, s, all.stms);
  choice_ = choice;
  if (failed_) return {};
  all.pieces = pieces() - before;
  std::optional<Grouped> group;
  if (all.pieces >= kManyPieces) {
    group = group_version(p_, facts_, s, nest, parallelism_, values_);
  }
  if (!group) {
    for (Stm& made : all.stms) out.push_back(std::move(made));
    return all.results;
  }
  group->seg.certs.insert(group->seg.certs.end(), certs_.begin(), certs_.end());
  const Vars pat = new_arrays(nest, s.pat);
  choice_->choose(s, *std::move(group), std::move(all), pat, out);
  return pat;
}

Distributed distribute(Program& p, const ProgramFacts& facts, const Stm& s, Depth depth,
                       GroupChoice* choice) {
  std::set<VarId> kept;
  if (choice != nullptr) choice->mark();
  for (;;) {
    const size_t stayed = kept.size();
    Parallelism parallelism(p, facts, s, depth);
    Distribution d(p, facts, parallelism, kept, choice);
    Distributed result;
    result.results = d.spread({}, s, result.stms);
    if (d.failed()) {
      CHECK(kept.size() > stayed);  // one statement more stays in its thread
      if (choice != nullptr) choice->back_to_mark();
      continue;
    }
    result.pieces = d.pieces();
    if (depth == Depth::kAll) {
      for (const Note& note : d.notes()) add_note(p.notes, note);
    }
    return result;
  }
}

}  // namespace kenaz::flatten
