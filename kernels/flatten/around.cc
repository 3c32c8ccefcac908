// Loops and branches that go around what is spread inside of them.
#include <utility>

#include "kernels/flatten/distribution.h"
#include "kernels/ir/builder.h"

namespace kenaz::flatten {

using namespace ir;

// What the parameter is at first, once the certificates are there.
Atom Distribution::waiting(const ELoop::Param& param, const std::vector<VarId>& certs,
                           ProvId prov) {
  if (certs.empty()) return param.init;
  const VarId v = p_.new_var(p_.type_of(param.init), p_.vars[param.var.index].name);
  values_.make_always(Stm{{v}, EAtom{param.init}, certs, prov, {}});
  return Atom(v);
}

// Of no points none asks for a turn.
Atom Distribution::where_points_are(const Nest& nest, const Atom& condition, const Stm& s,
                                    Stms& out) {
  Body made;
  Builder b(p_, made, s.prov);
  Atom result = condition;
  for (const SegDim& level : nest.levels) {
    if (!level.size.is_const()) result = b.logical_and(result, b.lt(i64(0), level.size));
  }
  out.insert(out.end(), made.stms.begin(), made.stms.end());
  return result;
}

// What is the same for all points stays a scalar, of the host.
Vars Distribution::loop(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<ELoop>(s.exp);
  ELoop around;
  around.form = e.form;
  const std::vector<VarId> certs = varying_certs(s);
  const VarSet uniform = certs.empty() ? parallelism_.uniform_params(e) : VarSet{};
  if (const auto* form = std::get_if<LoopFor>(&e.form)) parallelism_.is_uniform(form->index);
  Vars params;
  for (const auto& param : e.params) params.push_back(param.var);
  wait_inside(e.body, params, certs, s.prov);
  std::vector<Atom> varying;
  for (size_t k = 0; k < e.params.size(); k++) {
    const auto& param = e.params[k];
    if (uniform.contains(param.var)) {
      parallelism_.is_uniform(param.var);
      around.params.push_back(param);
      const auto* form = std::get_if<LoopWhile>(&e.form);
      if (form != nullptr && form->cond == param.var) {
        around.params.back().init = where_points_are(nest, param.init, s, out);
      }
      continue;
    }
    varying.push_back(e.body.results[k]);
    const VarId init = own_array(nest, waiting(param, certs, s.prov), s.prov, out);
    const VarId array =
        p_.new_var(nest.array_of(p_.type_of(param.var)), p_.vars[param.var.index].name);
    around.params.push_back({array, Atom(init)});
    values_.store(param.var, array, nest);
  }
  around.body.results = std::exchange(e.body.results, std::move(varying));
  const bool was_in_loop = std::exchange(in_loop_, true);
  const Vars made = body(nest, std::move(e.body), around.body.stms);
  in_loop_ = was_in_loop;
  if (failed_) return {};
  Vars pat = new_arrays(nest, s.pat);
  auto next = made.begin();
  for (size_t k = 0; k < params.size(); k++) {
    if (uniform.contains(params[k])) {
      parallelism_.is_uniform(s.pat[k]);
      pat[k] = s.pat[k];
    } else {
      around.body.results[k] = Atom(*next++);
    }
  }
  out.push_back(Stm{pat, std::move(around), certs_, s.prov, s.attrs});
  return pat;
}

Vars Distribution::branch(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<EIf>(s.exp);
  EIf around;
  around.cond = e.cond;
  for (const bool then : {true, false}) {
    Body& to = then ? around.then_body : around.else_body;
    prov_ = s.prov;
    Body& from = then ? e.then_body : e.else_body;
    wait_inside(from, {}, varying_certs(s), s.prov);
    const Vars made = body(nest, std::move(from), to.stms);
    if (failed_) return {};
    for (const VarId v : made) to.results.emplace_back(v);
  }
  const Vars pat = new_arrays(nest, s.pat);
  out.push_back(Stm{pat, std::move(around), certs_, s.prov, s.attrs});
  return pat;
}

}  // namespace kenaz::flatten
