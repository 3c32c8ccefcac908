#include "kernels/gpu/prepare.h"

#include <algorithm>

#include "kernels/flatten/flatten.h"
#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/visit.h"

namespace kenaz::gpu {
namespace {

using namespace ir;

/// Calls f(Stm&) for all statements at host level, those in branches and loops first.
template <class F>
void host_statements(Body& b, const F& f) {
  for (Stm& s : b.stms) {
    if (!std::holds_alternative<ESeg>(s.exp)) {
      const bool is_control = std::holds_alternative<EIf>(s.exp) ||
                              std::holds_alternative<ELoop>(s.exp) ||
                              std::holds_alternative<EVersions>(s.exp);
      if (is_control) visit_bodies(s.exp, [&](Body& inner) { host_statements(inner, f); });
    }
    f(s);
  }
}
template <class F>
void host_statements(Program& p, const F& f) {
  host_statements(p.constants, f);
  for (Function& fun : p.functions) host_statements(fun.body, f);
}

bool on_arrays(const Program& p, const std::vector<Monoid>& monoids) {
  return std::any_of(monoids.begin(), monoids.end(), [&](const Monoid& m) {
    return std::any_of(m.neutral.begin(), m.neutral.end(),
                       [&](const Atom& n) { return !p.type_of(n).is_scalar(); });
  });
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

}  // namespace

void run_by_one_thread(Program& p) {
  host_statements(p, [&](Stm& s) {
    const auto* soac = std::get_if<ESoac>(&s.exp);
    if (std::holds_alternative<EHist>(s.exp) ||
        (soac && (on_arrays(p, soac->scans) || on_arrays(p, soac->reduces)))) {
      s = flatten::by_one_thread(p, std::move(s));
    }
  });
}

void fix_choices(Program& p) {
  host_statements(p, [&](Stm& s) {
    if (const auto* tune = std::get_if<ETune>(&s.exp)) {
      s.exp = EAtom{i64(p.tunes[tune->id.index].fallback.value_or(1))};
    } else if (auto* e = std::get_if<EVersions>(&s.exp)) {
      if (e->versions.size() == 1) {  // an if has two branches
        EVersions::Version same = e->versions.front();
        same.body = copy_renamed(p, same.body);
        e->versions.push_back(std::move(same));
      }
      choose(p, s, std::move(*e), 0);
    }
  });
}

}  // namespace kenaz::gpu
