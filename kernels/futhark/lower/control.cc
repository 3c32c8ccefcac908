// if and match.
#include <algorithm>
#include <map>

#include "kernels/futhark/core/coverage.h"
#include "kernels/futhark/lower/lowerer.h"

namespace kenaz::lower {

using ir::Atom;

V Lowerer::branch(const Atom& cond, const std::function<V()>& then_fn,
                  const std::function<V()>& else_fn, const Ty* type) {
  if (failed()) return unit();
  if (cond.is_const()) return cond.constant().as_bool() ? then_fn() : else_fn();
  if (b_.depth() > kMaxBodyDepth) return fail("the program nests its control flow too deeply");
  V values[2];
  ir::Body bodies[2];
  for (int k = 0; k < 2; ++k) {
    b_.open();
    V v = k == 0 ? then_fn() : else_fn();
    if (type != nullptr) v = conform(v, *type);
    values[k] = materialise(v);
    bodies[k].stms = b_.close();
    if (failed()) return unit();
  }
  values[0] = join_accumulators(values[0], values[1]);
  if (failed()) return unit();
  auto l1 = leaves(values[0]);
  auto l2 = leaves(values[1]);
  if (l1.size() != l2.size()) return broken("branches of different structure");

  std::vector<Atom> merged;  // the leaves of the result
  std::vector<ir::VarId> size_vars, vars;
  std::map<std::string, ir::VarId> existentials;  // by the pair of dims
  std::vector<Atom> sizes[2], results[2];
  auto text = [](const Atom& a) {
    return a.is_const() ? "c" + std::to_string(a.constant().bits) : std::to_string(a.var().index);
  };
  for (size_t i = 0; i < l1.size(); ++i) {
    const Atom& a = l1[i].atom;
    const Atom& c = l2[i].atom;
    if (a == c && b_.in_scope(a)) {
      merged.push_back(a);
      continue;
    }
    ir::Type t1 = b_.type_of(a), t2 = b_.type_of(c);
    if (t1.prim != t2.prim || t1.rank() != t2.rank()) return broken("branches of different types");
    for (int d = 0; d < t1.rank(); ++d) {
      if (t1.dims[d] == t2.dims[d] && b_.in_scope(t1.dims[d])) continue;
      std::string key = text(t1.dims[d]) + "/" + text(t2.dims[d]);
      auto found = existentials.find(key);
      if (found == existentials.end()) {
        ir::VarId e = b_.var({PrimType::kI64, {}}, "size");
        size_vars.push_back(e);
        sizes[0].push_back(t1.dims[d]);
        sizes[1].push_back(t2.dims[d]);
        found = existentials.emplace(key, e).first;
      }
      t1.dims[d] = found->second;
    }
    ir::VarId v = b_.var(t1, "branch");
    vars.push_back(v);
    merged.push_back(v);
    results[0].push_back(a);
    results[1].push_back(c);
  }
  // c && x and c || x, where x is one value that cannot fail.
  if (vars.size() == 1 && size_vars.empty() && bodies[0].stms.empty() && bodies[1].stms.empty() &&
      b_.type_of(vars[0]) == ir::Type{PrimType::kBool, {}}) {
    std::optional<Atom> choice;
    if (results[1][0].is_bool(false)) choice = b_.both(cond, results[0][0]);
    if (!choice && results[0][0].is_bool(true)) choice = b_.either(cond, results[1][0]);
    if (choice) {
      // The other leaves, such as the tag of a sum, are the same in both branches.
      std::replace(merged.begin(), merged.end(), Atom(vars[0]), *choice);
      return rebuild(values[0], merged);
    }
  }
  if (!vars.empty()) {
    for (int k = 0; k < 2; ++k) {
      bodies[k].results = sizes[k];
      bodies[k].results.insert(bodies[k].results.end(), results[k].begin(), results[k].end());
    }
    std::vector<ir::VarId> pat = size_vars;
    pat.insert(pat.end(), vars.begin(), vars.end());
    b_.emit(std::move(pat), ir::EIf{cond, std::move(bodies[0]), std::move(bodies[1])});
  }
  return rebuild(values[0], merged);
}

V Lowerer::eval_match(const core::Exp& e, const core::EMatch& m, const Env& env) {
  V scrutinee = eval(m.scrutinee, env);
  if (failed()) return unit();
  if (m.cases.empty()) return broken("a match without cases");
  auto [known, fresh] = covered_.emplace(&m, false);
  if (fresh) {
    std::vector<const core::Pat*> patterns;
    for (const auto& c : m.cases) patterns.push_back(c.first.get());
    known->second = core::coverage(patterns).kind == core::Covered::kAll;
  }
  return match_cases(e, m, 0, scrutinee, env);
}

V Lowerer::match_cases(const core::Exp& e, const core::EMatch& m, size_t k, const V& scrutinee,
                       const Env& env) {
  auto body = [&] {
    return eval(m.cases[k].second, bind_pattern(*m.cases[k].first, scrutinee, env));
  };
  if (k + 1 == m.cases.size()) {
    if (covered_.at(&m)) return body();  // what no other case fits fits the last one
    Certs certs;
    check(test_pattern(*m.cases[k].first, scrutinee), {"No case of the match fits the value."},
          certs);
    // Neither the payload nor the result of the last case exists unless it fits.
    V fitting = certify(scrutinee, certs);
    V result = eval(m.cases[k].second, bind_pattern(*m.cases[k].first, fitting, env));
    return failed() ? result : certify(result, certs);
  }
  Atom cond = test_pattern(*m.cases[k].first, scrutinee);
  Ty type{e.type, env};
  return branch(
      cond, body, [&] { return match_cases(e, m, k + 1, scrutinee, env); }, &type);
}

}  // namespace kenaz::lower
