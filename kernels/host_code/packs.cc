#include "kernels/host_code/packs.h"

#include <algorithm>

#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/neighbours.h"
#include "kernels/host_code/operands.h"
#include "kernels/host_code/plan_launch.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/visit.h"
#include "kernels/primitives/pack/plans.h"
#include "kernels/primitives/sort/plans.h"
#include "kernels/scalar/apply.h"

namespace kenaz::host_code {

using body::Thread;
using kir::Values;

namespace {

/// The operation without what the elements carry, and what only that needs.
ir::ESeg only_first_results(const ir::Program& p, const ir::ESeg& e) {
  ir::ESeg out = e;
  out.body.results.resize(1);
  ir::keep_needed(p, out.body, [](const ir::Stm&, const ir::VarSet&) {});
  return out;
}

/// The elements as the body makes them.
class Source {
 public:
  Source(HostArrays& host, ir::ESeg e) : host_(host), e_(std::move(e)), neighbours_(host, e_) {}

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
  /// Whether there are products and sums of floats that a driver might make one operation of.
  bool may_contract() const {
    return has(e_.body, is_both) || (has(e_.body, is_product) && has(e_.body, is_sum));
  }

 private:
  using Holds = bool (*)(const ir::EPrim&);
  static bool is_product(const ir::EPrim& e) {
    return e.op == ScalarOp::kMul && scalar::is_float_type(e.type);
  }
  static bool is_sum(const ir::EPrim& e) {
    return (e.op == ScalarOp::kAdd || e.op == ScalarOp::kSub) && scalar::is_float_type(e.type);
  }
  static bool is_both(const ir::EPrim& e) {
    return e.op == ScalarOp::kMad && scalar::is_float_type(e.type);
  }
  static bool has(const ir::Body& b, Holds holds) {
    return std::any_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
      const auto* e = std::get_if<ir::EPrim>(&s.exp);
      bool any = e != nullptr && holds(*e);
      ir::visit_bodies(s.exp, [&](const ir::Body& inner) { any = any || has(inner, holds); });
      return any;
    });
  }

  HostArrays& host_;
  ir::ESeg e_;
  Neighbours neighbours_;
};

/// What packings and sorts have in common.
class Arrangement {
 public:
  Arrangement(HostArrays& host, const ir::Stm& s, const ir::ESeg& e, const char* name)
      : host_(host),
        s_(s),
        e_(e),
        length_(host.scalar(e.space.dims[0].size)),
        source_(host, e),
        first_results_(host, only_first_results(host.ir(), e)) {
    facts().name = host.kernel_name(name);
    facts().prov = s.prov;
    facts().length = plan::HostExpr::size(1);
    for (size_t n = 1; n < e.body.results.size(); n++) {
      facts().carried.push_back(host.ir().type_of(e.body.results[n]).prim);
    }
    request_.sizes = {PrimValue::i64(1), length_};
  }

  plan::Facts& facts() { return request_.facts; }
  /// `put`: says where results go, given the addresses of the arrays that are bound.
  using Put = std::function<void(plan::Problem&, const Values& bases)>;
  void launch(std::span<const plan::Plan> plans, const Put& put) {
    std::vector<BlockReg> results;
    for (const ir::VarId v : s_.pat) results.push_back(host_.make_and_bind(v).block);
    request_.bind = [&](Thread& t, plan::Asks) { return from_body(t); };
    // Elements may be made twice, and by threads that must not stop. Drivers may contract products
    // and sums in one kernel and not in the other, which would find other classes or keys.
    const bool differs = host_.target().contracts_floats && first_results_.may_contract();
    const bool apart =
        differs || is_slow(e_.body) || may_stop(e_.body) || needs_thread_memory(host_, request_);
    if (host_.failed()) return;
    std::vector<HostArray> operands;
    if (apart) {
      operands = map_operands(host_, s_, e_, {});
    } else {
      facts().widest = source_.widest();
    }
    if (host_.failed()) return;
    request_.bind = [&](Thread& t, plan::Asks) {
      plan::Problem problem;
      if (apart) {
        problem.elements = elements_from(t, operands, length_);
      } else {
        problem = from_body(t);
      }
      Values bases;
      for (const BlockReg b : results) bases.push_back(t.args.block(b));
      put(problem, bases);
      return problem;
    };
    launch_plans(host_, plans, request_);
  }

 private:
  plan::Problem from_body(Thread& t) {
    plan::Problem problem;
    const int widest = facts().widest;
    problem.elements = source_.elements(t, widest);
    problem.dry_elements = first_results_.elements(t, first_results_.widest() > 1 ? widest : 1);
    return problem;
  }

  HostArrays& host_;
  const ir::Stm& s_;
  const ir::ESeg& e_;
  const Operand length_;
  const Source source_, first_results_;
  PlanRequest request_;
};

}  // namespace

void pack(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  Arrangement all(host, s, e, "pack");
  all.facts().classes = e.classes;
  all.facts().rest = e.rest;
  all.launch(primitives::pack_plans(), [](plan::Problem& problem, const Values& bases) {
    problem.sink.put = [bases](kir::Builder& k, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) k.store(bases[n + 1], at.position, x[n]);
    };
    problem.counts = [bases](kir::Builder& k, const Values& counts) {
      for (size_t c = 0; c < counts.size(); c++) {
        k.store(bases[0], kir::i64(static_cast<int64_t>(c)), counts[c]);
      }
    };
  });
}

void sort(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  Arrangement all(host, s, e, "sort");
  all.facts().key = host.ir().type_of(s.pat[0]).prim;
  all.launch(primitives::sort_plans(), [](plan::Problem& problem, const Values& bases) {
    problem.sink.put = [bases](kir::Builder& k, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) k.store(bases[n], at.position, x[n]);
    };
  });
}

}  // namespace kenaz::host_code
