#include "kernels/body/thread.h"

#include "kernels/body/analysis.h"
#include "kernels/body/statements.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::body {

Thread::Thread(Host& h, std::string name, ir::ProvId place, bool single)
    : own_(std::make_unique<Own>()),
      host(h),
      k(own_->k),
      kernel(own_->kernel),
      args(h, k),
      env(h, args),
      single_thread(single) {
  kernel.name = std::move(name);
  kernel.prov = place;
  k.set_prov(place);
  heap.begin_function(k);
}

Thread::Thread(Host& h, kir::Builder& builder)
    : host(h), k(builder), kernel(k.kernel()), args(h, k), env(h, args), single_thread(false) {
  heap.begin_function(k);
}

kir::FunctionId function(Thread& t, const std::string& name, const std::vector<kir::Type>& params,
                         const std::function<kir::Values(const kir::Values&)>& body) {
  return t.k.function(name, params, [&](const kir::Values& args) {
    const kir::Var outer = t.heap.begin_function(t.k);
    kir::Values results = body(args);
    t.heap.end_function(outer);
    return results;
  });
}

bool is_within(const ir::Type& type, int64_t most) {
  int64_t bytes = prim_size(type.prim);
  for (const ir::Atom& d : type.dims) {
    if (!d.is_const() || d.constant().as_i64() > most) return false;
    bytes *= d.constant().as_i64();
    if (bytes > most) return false;
  }
  return true;
}

bool works_apart(const Host& host, ir::VarId v) {
  return is_within(host.ir().type_of(v), host.most_apart());
}

void forget(Thread& t, const ir::Body& b) {
  for (const auto& s : b.stms) {
    for (ir::VarId v : s.pat) {
      t.env.forget(v);
      t.dests.forget(v);
    }
    for (const ir::Body* inner : bodies_of(s.exp)) forget(t, *inner);
  }
}

std::vector<KernelValue> translate(Thread& t, const ir::Body& b,
                                   const std::vector<std::optional<KernelArray>>& dests) {
  for (size_t k = 0; k < dests.size(); k++) {
    if (dests[k] && !b.results[k].is_const()) {
      t.dests.spread(t.ir(), b, b.results[k].var(), *dests[k],
                     [&](ir::VarId v) { return !dests[k]->local && works_apart(t.host, v); });
    }
  }
  for (const auto& s : b.stms) {
    if (t.host.failed()) break;
    translate(t, s);
  }
  std::vector<KernelValue> results(b.results.size());
  for (size_t k = 0; k < b.results.size() && !t.host.failed(); k++) {
    results[k] = t.env.value(b.results[k]);
  }
  return results;
}

void translate(Thread& t, const ir::Stm& s) {
  t.k.set_prov(s.prov);
  t.env.define(s);
  std::visit(Overloaded{
                 [&](const ir::EAtom& e) { t.env.bind(s.pat[0], t.env.value(e.atom)); },
                 [&](const ir::EPrim& e) {
                   t.env.bind(s.pat[0], t.k.op(e.op, e.type, e.to, t.env.scalars(e.args)));
                 },
                 [&](const ir::EIndex& e) { index(t, s, e); },
                 [&](const ir::EUpdate& e) { update(t, s, e); },
                 [&](const ir::EIota& e) { iota(t, s, e); },
                 [&](const ir::EReplicate& e) { replicate(t, s, e); },
                 [&](const ir::EScratch&) { t.env.bind(s.pat[0], dest_for(t, s.pat[0])); },
                 [&](const ir::EArrayLit& e) { array_literal(t, s, e); },
                 [&](const ir::EConcat& e) { concat(t, s, e); },
                 [&](const ir::ERearrange& e) { rearrange(t, s, e); },
                 [&](const ir::EReshape& e) { reshape(t, s, e); },
                 [&](const ir::ECopy& e) { copy(t, s, e); },
                 [&](const ir::EAssert& e) { check(t, s, e); },
                 [&](const ir::EIf& e) { branch(t, s, e); },
                 [&](const ir::ELoop& e) { loop(t, s, e); },
                 [&](const ir::ECall& e) { call(t, s, e); },
                 [&](const ir::ESoac& e) { soac(t, s, e); },
                 [&](const ir::EScatter& e) { scatter(t, s, e); },
                 [&](const ir::EHist& e) { hist(t, s, e); },
                 // Threads run no segmented operations, packings and sorts, and host code chooses
                 // versions.
                 [&](const ir::EPack&) { CHECK(false); },
                 [&](const ir::ESort&) { CHECK(false); },
                 [&](const ir::ESeg&) { CHECK(false); },
                 [&](const ir::EJvp&) { CHECK(false); },
                 [&](const ir::EVjp&) { CHECK(false); },
                 [&](const ir::EWithVjp&) { CHECK(false); },
                 [&](const ir::EVersions&) { CHECK(false); },
                 [&](const ir::ETune&) { CHECK(false); },
             },
             s.exp);
}

}  // namespace kenaz::body
