// Calls of the program's functions: translated in place.
#include "kernels/body/analysis.h"
#include "kernels/body/statements.h"
#include "kernels/body/thread.h"

namespace kenaz::body {

using ir::VarId;

namespace {

void bind_params(Thread& t, const ir::Function& f, const ir::ECall& e) {
  std::vector<KernelValue> args;
  for (const auto& a : e.args) args.push_back(t.env.value(a));
  const auto bind = [&](VarId v, KernelValue value, const std::optional<Operand>& on_host) {
    t.env.bind_param(v, std::move(value));
    t.env.set_on_host(v, on_host);
  };
  for (size_t k = 0; k < f.params.size(); k++) {
    t.env.set_on_host(f.params[k], std::nullopt);
    const bool scalar = args[k].index() == 0;
    bind(f.params[k], args[k], scalar ? t.env.on_host(e.args[k]) : std::nullopt);
  }
  for (const auto& [size, at] : size_variables(t.ir(), f)) {
    const ir::Type type = t.ir().type_of(e.args[at.first]);
    t.env.set_on_host(size, std::nullopt);
    bind(size, std::get<KernelArray>(args[at.first]).layout.dims[at.second],
         t.env.on_host(type.dims[at.second]));
  }
}

}  // namespace

void call(Thread& t, const ir::Stm& s, const ir::ECall& e) {
  const ir::Function& f = t.ir().functions[e.fun.index];
  if (t.call_depth >= kMaxCallDepth) {
    t.host.refuse(s.prov, "the recursive function " + f.name);
    return;
  }
  t.call_depth++;
  bind_params(t, f, e);
  std::vector<std::optional<KernelArray>> dests;
  for (VarId v : s.pat) dests.push_back(t.dests.of(v));
  forget(t, f.body);
  const auto results = translate(t, f.body, dests);
  for (size_t k = 0; k < s.pat.size(); k++) t.env.bind(s.pat[k], results[k]);
  t.call_depth--;
}

}  // namespace kenaz::body
