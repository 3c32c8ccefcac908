#include "kernels/gpu/packs.h"

#include <algorithm>

#include "kernels/gpu/body_facts.h"
#include "kernels/gpu/neighbours.h"
#include "kernels/gpu/operands.h"
#include "kernels/gpu/plan_launch.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/primitives/pack/plans.h"

namespace kenaz::gpu {

using body::Thread;
using kir::Value;
using kir::Values;

namespace {

/// The packing without what the elements carry, and what only that needs.
ir::ESeg only_classes(const ir::Program& p, const ir::ESeg& e) {
  ir::ESeg out = e;
  out.body.results.resize(1);
  ir::VarSet needed;
  if (!out.body.results[0].is_const()) needed.insert(out.body.results[0].var());
  std::vector<ir::Stm> kept;
  ir::for_each_needed(p, e.body.stms, needed, [&](const ir::Stm& s) { kept.push_back(s); });
  std::reverse(kept.begin(), kept.end());
  out.body.stms = std::move(kept);
  return out;
}

/// The elements as the body makes them.
class Source {
 public:
  Source(HostGen& host, ir::ESeg e) : host_(host), e_(std::move(e)), neighbours_(host, e_) {}

  int widest() const { return neighbours_.count(false); }
  plan::Elements elements(Thread& t, int widest) const {
    plan::Elements out;
    const auto f = point_function(host_, t, e_, {0, 1}, {});
    out.at = [f](kir::Builder& k, const plan::Place& at) {
      return k.call(f, {at.segment, at.position});
    };
    if (widest > 1) out.many = neighbours_.many(t, {}, Neighbours::Plain::kDropped);
    return out;
  }

 private:
  HostGen& host_;
  ir::ESeg e_;
  Neighbours neighbours_;
};

}  // namespace

void pack(HostGen& host, const ir::Stm& s, const ir::ESeg& e) {
  const Operand length = host.scalar(e.space.dims[0].size);
  PlanRequest request;
  plan::Facts& facts = request.facts;
  facts.name = host.kernel_name("pack");
  facts.prov = s.prov;
  facts.length = plan::HostExpr::size(1);
  facts.classes = e.classes;
  facts.rest = e.rest;
  for (size_t n = 1; n < e.body.results.size(); n++) {
    facts.carried.push_back(host.ir().type_of(e.body.results[n]).prim);
  }
  request.sizes = {PrimValue::i64(1), length};
  std::vector<BlockReg> results;
  for (const ir::VarId v : s.pat) {
    const HostArray a = host.make(v);
    host.bind(v, a);
    results.push_back(a.block);
  }
  const Source source(host, e), classes(host, only_classes(host.ir(), e));
  const auto from_body = [&](Thread& t, plan::Asks) {
    plan::Problem problem;
    problem.elements = source.elements(t, facts.widest);
    problem.dry_elements = classes.elements(t, classes.widest() > 1 ? facts.widest : 1);
    return problem;
  };
  request.bind = from_body;
  // Elements may be made twice, and by threads that must not stop.
  const bool apart = is_slow(e.body) || may_stop(e.body) || needs_thread_memory(host, request);
  if (host.failed()) return;
  std::vector<HostArray> operands;
  if (apart) {
    operands = map_operands(host, s, e, {});
  } else {
    facts.widest = source.widest();
  }
  if (host.failed()) return;
  request.bind = [&](Thread& t, plan::Asks asks) {
    plan::Problem problem;
    if (apart) {
      problem.elements = elements_from(t, operands, length);
    } else {
      problem = from_body(t, asks);
    }
    Values bases;
    for (const BlockReg b : results) bases.push_back(t.args.block(b));
    problem.sink.put = [bases](kir::Builder& k, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) k.store(bases[n + 1], at.position, x[n]);
    };
    problem.counts = [bases](kir::Builder& k, const Values& counts) {
      for (size_t c = 0; c < counts.size(); c++) {
        k.store(bases[0], kir::i64(static_cast<int64_t>(c)), counts[c]);
      }
    };
    return problem;
  };
  launch_plans(host, primitives::pack_plans(), request);
}

}  // namespace kenaz::gpu
