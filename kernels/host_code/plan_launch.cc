#include "kernels/host_code/plan_launch.h"

#include <memory>

#include "kernels/host_code/launch.h"
#include "kernels/plan/team.h"
#include "protocol/base/check.h"
#include "protocol/base/overloaded.h"

namespace kenaz::host_code {

using body::Thread;
using plan::HostExpr;

namespace {

/// The launches of one plan.
class PlanCode {
 public:
  PlanCode(HostArrays& host, const PlanRequest& request) : host_(host), request_(request) {}

  Operand value(const HostExpr& e) {
    switch (e.leaf()) {
      case HostExpr::Leaf::kConstant: return e.constant();
      case HostExpr::Leaf::kSize: return request_.sizes[static_cast<size_t>(e.number())];
      case HostExpr::Leaf::kSpec: return PrimValue::i64(spec(static_cast<size_t>(e.number())));
      case HostExpr::Leaf::kNone: break;
    }
    std::vector<Operand> args;
    for (const HostExpr& a : e.args()) args.push_back(value(a));
    const PrimType type = e.operand_type();
    return host_.emit_op(e.operation(), type, type, std::move(args));
  }

  void run(const plan::Plan& plan) {
    bool vectors = false;
    std::vector<std::unique_ptr<Thread>> threads;
    work_ = plan.make(request_.facts, host_.target(), [&](plan::Team& team) {
      threads.push_back(std::make_unique<Thread>(host_, team.k));
      plan::Problem problem = request_.bind(*threads.back(), team.asks);
      if (problem.elements.many) note_calls(problem.elements.many, vectors);
      return problem;
    });
    if (host_.failed()) return;
    if (!vectors || request_.facts.segments.is(1)) {
      launch(threads);
      return;
    }
    // Rows that have no multiple of them begin anywhere.
    PlanRequest by_element = request_;
    by_element.facts.widest = 1;
    by_element.facts.name += "_each";  // kernels of one name count as one where calls are observed
    const HostExpr rest =
        HostExpr::op(ScalarOp::kRem, {request_.facts.length, request_.facts.widest});
    choose(
        host_, value(le(rest, 0)), [&] { launch(threads); },
        [&] { PlanCode(host_, by_element).run(plan); });
  }

 private:
  static void note_calls(decltype(plan::Elements::many)& many, bool& called) {
    many = [of = many, &called](kir::Builder& k, const plan::Place& first, int n) {
      called = true;
      return of(k, first, n);
    };
  }

  void launch(const std::vector<std::unique_ptr<Thread>>& threads) {
    std::vector<BlockReg> scratch;
    uint8_t zeroes = 0;
    for (const plan::Scratch& s : work_.scratch) {
      scratch.push_back(s.zero ? allocate_zeroes(s, zeroes++) : allocate(s));
    }
    for (size_t n = 0; n < work_.steps.size(); n++) {
      plan::Step& step = work_.steps[n];
      std::map<size_t, program::Arg> others;
      for (const plan::PlanArg& a : step.args) others[a.arg] = argument(a, scratch);
      const Operand groups = value(step.groups);
      const int group_size = static_cast<int>(work_.specs[0].fallback);
      allocate_private(host_, *threads[n], group_size, groups);  // of operators that make arrays
      launch_kernel(host_, *threads[n], step.kernel, group_size, groups, others);
    }
  }

  /// Conditions are about the workgroup's size alone, and asked before there is work.
  int64_t spec(size_t number) const {
    if (!work_.specs.empty()) return work_.specs[number].fallback;
    CHECK(number == 0);
    return plan::group_size_for(request_.facts, host_.target());
  }

  program::Arg argument(const plan::PlanArg& a, const std::vector<BlockReg>& scratch) {
    return std::visit(
        Overloaded{
            [&](const HostExpr& e) {
              return program::Arg{program::Arg::kScalar, program::Arg::kRead, value(e), {}};
            },
            [&](const plan::ScratchId& id) {
              return program::Arg{program::Arg::kBlock,
                                  program::Arg::kReadWrite,
                                  {},
                                  scratch[static_cast<size_t>(id.number)]};
            },
        },
        a.value);
  }

  BlockReg allocate(const plan::Scratch& s) {
    return host_.allocate_bytes(host_.size(value(s.bytes)));
  }
  BlockReg allocate_zeroes(const plan::Scratch& s, uint8_t number) {
    CHECK(number < program::kMostZeroes);
    const BlockReg b = host_.new_block();
    const Operand bytes = host_.size(value(s.bytes)).operand();
    host_.emit({program::OpAlloc{b, bytes, program::OpAlloc::kZeroes, number}});
    return b;
  }

  HostArrays& host_;
  const PlanRequest& request_;
  plan::Work work_;
};

void emit_from(HostArrays& host, const std::vector<plan::Choice>& choices, size_t n,
               const PlanRequest& request) {
  if (host.failed()) return;
  const plan::Choice& choice = choices[n];
  if (n + 1 == choices.size()) {
    PlanCode(host, request).run(*choice.plan);
    return;
  }
  choose(
      host, PlanCode(host, request).value(choice.when),
      [&] { PlanCode(host, request).run(*choice.plan); },
      [&] { emit_from(host, choices, n + 1, request); });
}

}  // namespace

bool needs_thread_memory(HostArrays& host, const PlanRequest& request) {
  kir::Kernel kernel;
  kir::Builder k(kernel);
  Thread t(host, k);
  program::Code unused;
  host.emit_into(unused, [&] { request.bind(t, plan::Asks::kBySegment); });
  return t.has_own_arrays();
}

void launch_plans(HostArrays& host, std::span<const plan::Plan> table, const PlanRequest& request) {
  const auto choices = plan::choose(table, request.facts, host.target());
  if (host.recorder() != nullptr && !request.prepares) {
    host.recorder()->plans(request.facts, choices, host.target());
  }
  emit_from(host, choices, 0, request);
}

}  // namespace kenaz::host_code
