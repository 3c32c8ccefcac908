#include "kernels/host_code/prepare.h"

#include <algorithm>
#include <utility>

#include "kernels/flatten/device_scalars.h"
#include "kernels/flatten/lift.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/builder.h"
#include "kernels/ir/visit.h"

namespace kenaz::host_code {
namespace {

using namespace ir;

/// Calls f(Stm&, std::vector<Stm>&) for all statements at host level, those in branches and loops
/// first: f appends what becomes of the statement.
template <class F>
void rewrite_host(Body& b, const F& f) {
  std::vector<Stm> out;
  for (Stm& s : b.stms) {
    const bool is_control = std::holds_alternative<EIf>(s.exp) ||
                            std::holds_alternative<ELoop>(s.exp) ||
                            std::holds_alternative<EVersions>(s.exp);
    if (is_control) visit_bodies(s.exp, [&](Body& inner) { rewrite_host(inner, f); });
    f(s, out);
  }
  b.stms = std::move(out);
}
template <class F>
void rewrite_host(Program& p, const F& f) {
  visit_bodies(p, [&](Body& b) { rewrite_host(b, f); });
}

/// The versions from the k-th on, as an if.
void choose(Program& p, Stm& s, EVersions e, size_t k) {
  EIf choice;
  choice.cond = e.versions[k].test;
  choice.then_body = std::move(e.versions[k].body);
  if (k + 2 == e.versions.size()) {
    choice.else_body = std::move(e.versions[k + 1].body);
  } else {
    Stm rest;
    rest.pat = copy_pattern(p, s.pat);
    rest.prov = s.prov;
    choose(p, rest, std::move(e), k + 1);
    choice.else_body.results.assign(rest.pat.begin(), rest.pat.end());
    choice.else_body.stms.push_back(std::move(rest));
  }
  s.exp = std::move(choice);
}

constexpr int64_t kShortLoop = 16;

/// Whether there is a loop that may take more than a few turns. Not in the bodies of combinators.
bool has_long_loop(const Body& b) {
  return std::any_of(b.stms.begin(), b.stms.end(), [](const Stm& s) {
    if (const auto* branch = std::get_if<EIf>(&s.exp)) {
      return has_long_loop(branch->then_body) || has_long_loop(branch->else_body);
    }
    const auto* loop = std::get_if<ELoop>(&s.exp);
    if (loop == nullptr) return false;
    const auto* counted = std::get_if<LoopFor>(&loop->form);
    return counted == nullptr || !counted->bound.is_const() ||
           counted->bound.constant().as_i64() > kShortLoop || has_long_loop(loop->body);
  });
}

/// The map of a combinator as a statement of its own; gives its arrays.
std::vector<VarId> map_apart(Program& p, const Stm& s, const Atom& width,
                             const std::vector<VarId>& inputs, Lambda map, std::vector<Stm>& out) {
  std::vector<Type> types;
  for (const Type& t : map.ret) types.push_back(array_of(width, t));
  Body around;
  Builder b(p, around, s.prov);
  b.certs() = s.certs;
  std::vector<VarId> made = b.emit(ESoac{width, inputs, std::move(map), {}, {}}, types, "made");
  out.push_back(std::move(around.stms.back()));
  return made;
}

/// Replaces the map of a combinator by one that hands on the rows of arrays that are made apart.
template <class Combinator>
void make_apart(Program& p, const Stm& s, Combinator& e, std::vector<Stm>& out) {
  Body unused;
  const auto rows = [](Builder&, const std::vector<VarId>& params) {
    return std::vector<Atom>(params.begin(), params.end());
  };
  Lambda same = Builder(p, unused).lambda(e.map.ret, rows, e.map.ret);
  e.inputs = map_apart(p, s, e.width, e.inputs, std::exchange(e.map, std::move(same)), out);
}

}  // namespace

void make_long_elements_apart(Program& p) {
  rewrite_host(p, [&](Stm& s, std::vector<Stm>& out) {
    if (auto* e = std::get_if<ESoac>(&s.exp)) {
      const bool is_map = e->scans.empty() && e->reduces.empty();
      if (!is_map && has_long_loop(e->map.body)) make_apart(p, s, *e, out);
    } else if (auto* h = std::get_if<EHist>(&s.exp)) {
      if (has_long_loop(h->map.body)) make_apart(p, s, *h, out);
    } else if (auto* pack = std::get_if<EPack>(&s.exp)) {
      if (has_long_loop(pack->map.body)) make_apart(p, s, *pack, out);
    } else if (auto* sort = std::get_if<ESort>(&s.exp)) {
      if (has_long_loop(sort->map.body)) make_apart(p, s, *sort, out);
    }
    out.push_back(std::move(s));
  });
}

void run_by_one_thread(Program& p) {
  const auto replicates = flatten::find_replicates(p);
  rewrite_host(p, [&](Stm& s, std::vector<Stm>& out) {
    if (!flatten::lifts_all(p, replicates, s.exp)) {
      add_note(p.notes, {s.prov, OneThread{OneThread::Why::kOperator}});
      s = flatten::by_one_thread(p, std::move(s));
    }
    out.push_back(std::move(s));
  });
}

explain::VersionNames choices_as_ifs(Program& p) {
  explain::VersionNames names;
  rewrite_host(p, [&](Stm& s, std::vector<Stm>& out) {
    if (auto* e = std::get_if<EVersions>(&s.exp)) {
      if (e->versions.size() == 1) {  // an if has two branches
        EVersions::Version same = e->versions.front();
        same.body = copy_renamed(p, same.body);
        e->versions.push_back(std::move(same));
      }
      for (size_t k = 0; k + 1 < e->versions.size(); k++) {
        if (e->versions[k].test.is_const()) continue;
        const bool last = k + 2 == e->versions.size();
        names[e->versions[k].test.var()] = {e->versions[k].name,
                                            last ? e->versions[k + 1].name : ""};
      }
      choose(p, s, std::move(*e), 0);
    }
    out.push_back(std::move(s));
  });
  return names;
}

}  // namespace kenaz::host_code
