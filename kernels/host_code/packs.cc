#include "kernels/host_code/packs.h"

#include <algorithm>
#include <optional>

#include "kernels/host_code/body_facts.h"
#include "kernels/host_code/cells.h"
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

/// The operation with these results alone, and what they need.
ir::ESeg only_results(const ir::Program& p, const ir::ESeg& e, const std::vector<size_t>& which) {
  ir::ESeg out = e;
  out.body.results.clear();
  for (const size_t n : which) out.body.results.push_back(e.body.results[n]);
  ir::keep_needed(p, out.body, [](const ir::Stm&, const ir::VarSet&) {});
  return out;
}

bool is_product(const ir::EPrim& e) {
  return e.op == ScalarOp::kMul && scalar::is_float_type(e.type);
}
bool is_sum(const ir::EPrim& e) {
  return (e.op == ScalarOp::kAdd || e.op == ScalarOp::kSub) && scalar::is_float_type(e.type);
}
bool is_both(const ir::EPrim& e) { return e.op == ScalarOp::kMad && scalar::is_float_type(e.type); }
bool has(const ir::Body& b, bool (*holds)(const ir::EPrim&)) {
  return std::any_of(b.stms.begin(), b.stms.end(), [&](const ir::Stm& s) {
    const auto* e = std::get_if<ir::EPrim>(&s.exp);
    bool any = e != nullptr && holds(*e);
    ir::visit_bodies(s.exp, [&](const ir::Body& inner) { any = any || has(inner, holds); });
    return any;
  });
}
/// Whether there are products and sums of floats that a driver might make one operation of, in one
/// kernel and not in another.
bool may_contract(const HostArrays& host, const ir::Body& b) {
  return host.target().contracts_floats &&
         (has(b, is_both) || (has(b, is_product) && has(b, is_sum)));
}

/// Whether what an element carries is better made again than stored and loaded: it is arithmetic
/// on indices and on what is loaded at the element's own index, and comes out as it was where the
/// element's class or key was made.
bool is_made_again(const HostArrays& host, const ir::ESeg& e, size_t result) {
  const ir::ESeg alone = only_results(host.ir(), e, {result});
  const auto& stms = alone.body.stms;
  return std::all_of(stms.begin(), stms.end(),
                     [](const ir::Stm& s) {
                       return std::holds_alternative<ir::EPrim>(s.exp) ||
                              std::holds_alternative<ir::EAtom>(s.exp) ||
                              std::holds_alternative<ir::EIndex>(s.exp);
                     }) &&
         !is_slow(alone.body) && !may_contract(host, alone.body) &&
         !reads_of(host.ir(), alone.body).gathers;
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

 private:
  HostArrays& host_;
  ir::ESeg e_;
  Neighbours neighbours_;
};

/// Elements of which a map has stored what is not to be made twice.
class Apart {
 public:
  Apart(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) : made_(e.body.results.size()) {
    std::vector<size_t> stored{0}, again;
    for (size_t n = 1; n < e.body.results.size(); n++) {
      made_[n] = is_made_again(host, e, n);
      (made_[n] ? again : stored).push_back(n);
    }
    operands_ = map_operands(host, s, only_results(host.ir(), e, stored), {});
    if (!again.empty()) again_.emplace(host, only_results(host.ir(), e, again));
  }

  plan::Problem problem(Thread& t, const Operand& length) const {
    plan::Problem out;
    const plan::Elements loaded = elements_from(t, operands_, length);
    if (!again_) {
      out.elements = loaded;
      return out;
    }
    out.dry_elements = elements_from(t, {operands_[0]}, length);
    const plan::Elements made = again_->elements(t, 1);
    out.elements.at = [loaded, made, made_here = made_](kir::Builder& k, const plan::Place& at) {
      const Values x = loaded.at(k, at), y = made.at(k, at);
      Values all;
      auto from_x = x.begin(), from_y = y.begin();
      for (const bool here : made_here) all.push_back(here ? *from_y++ : *from_x++);
      return all;
    };
    return out;
  }

 private:
  std::vector<bool> made_;  // by result: made again
  std::vector<HostArray> operands_;
  std::optional<Source> again_;
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
        first_results_(host, only_results(host.ir(), e, {0})) {
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
  using Put = std::function<void(Thread&, plan::Problem&, const Values& bases)>;
  void launch(std::span<const plan::Plan> plans, const Put& put) {
    std::vector<BlockReg> results;
    for (const ir::VarId v : s_.pat) results.push_back(host_.make_and_bind(v).block);
    request_.bind = [&](Thread& t, plan::Asks) { return from_body(t); };
    // Elements may be made twice, and by threads that must not stop. Drivers may contract products
    // and sums in one kernel and not in the other, which would find other classes or keys.
    const bool differs = may_contract(host_, only_results(host_.ir(), e_, {0}).body);
    const bool apart =
        differs || is_slow(e_.body) || may_stop(e_.body) || needs_thread_memory(host_, request_);
    if (host_.failed()) return;
    std::optional<Apart> stored;
    if (apart) {
      stored.emplace(host_, s_, e_);
    } else {
      facts().widest = source_.widest();
      if (facts().widest > 1) {
        const Reads reads = reads_of(host_.ir(), e_.body);
        facts().read_bytes = reads.bytes;
        facts().gathers = reads.gathers;
      }
    }
    if (host_.failed()) return;
    request_.bind = [&](Thread& t, plan::Asks) {
      plan::Problem problem = stored ? stored->problem(t, length_) : from_body(t);
      Values bases;
      for (const BlockReg b : results) bases.push_back(t.args.block(b));
      put(t, problem, bases);
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
  const Cells told = allocate_cells(host, static_cast<size_t>(e.classes), host.reads(s.pat[0]));
  all.launch(primitives::pack_plans(), [&](Thread& t, plan::Problem& problem, const Values& bases) {
    const CellStores cells(t, told, program::Kernel::kScalars);
    problem.sink.put = [bases](kir::Builder& k, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) k.store(bases[n + 1], at.position, x[n]);
    };
    problem.counts = [bases, cells](kir::Builder& k, const Values& counts) {
      for (size_t c = 0; c < counts.size(); c++) {
        k.store(bases[0], kir::i64(static_cast<int64_t>(c)), counts[c]);
        cells.store(k, c, counts[c]);
      }
    };
  });
  host.note_cells(s.pat[0], told);
}

void sort(HostArrays& host, const ir::Stm& s, const ir::ESeg& e) {
  Arrangement all(host, s, e, "sort");
  all.facts().key = host.ir().type_of(s.pat[0]).prim;
  all.launch(primitives::sort_plans(), [](Thread&, plan::Problem& problem, const Values& bases) {
    problem.sink.put = [bases](kir::Builder& k, const plan::Place& at, const Values& x) {
      for (size_t n = 0; n < x.size(); n++) k.store(bases[n], at.position, x[n]);
    };
  });
}

}  // namespace kenaz::host_code
