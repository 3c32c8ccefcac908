// Loops and branches that go around what is spread inside of them.
#include <utility>

#include "kernels/flatten/distribution.h"

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

Vars Distribution::loop(const Nest& nest, Stm s, Stms& out) {
  auto& e = std::get<ELoop>(s.exp);
  const auto form = std::get<LoopFor>(e.form);
  ELoop around;
  around.form = form;
  parallelism_.is_uniform(form.index);
  const std::vector<VarId> certs = varying_certs(s);
  Vars params;
  for (const auto& param : e.params) params.push_back(param.var);
  wait_inside(e.body, params, certs, s.prov);
  for (const auto& param : e.params) {
    const VarId init = own_array(nest, waiting(param, certs, s.prov), s.prov, out);
    const VarId array =
        p_.new_var(nest.array_of(p_.type_of(param.var)), p_.vars[param.var.index].name);
    around.params.push_back({array, Atom(init)});
    values_.store(param.var, array, nest);
  }
  const bool was_in_loop = std::exchange(in_loop_, true);
  const Vars made = body(nest, std::move(e.body), around.body.stms);
  in_loop_ = was_in_loop;
  if (failed_) return {};
  for (const VarId v : made) around.body.results.emplace_back(v);
  const Vars pat = new_arrays(nest, s.pat);
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
