// From a parallel operation to the host code that runs it by the plans of its family.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

/// An operation as its family sees it.
struct PlanRequest {
  plan::Facts facts;
  std::vector<Operand> sizes;  // by number, as in the facts' HostExprs; i64
  /// Binds it to a kernel; called for each.
  std::function<plan::Problem(body::Thread&, plan::Asks)> bind;
  /// Prepares an operation that has plans itself: those are what is explained.
  bool prepares = false;
};

/// Whether the code of its elements, as `bind` makes it, needs memory of its own for each thread:
/// plans have none.
bool needs_thread_memory(HostArrays& host, const PlanRequest& request);

/// Emits a chain of ifs over the plans' conditions, with the launches of each.
void launch_plans(HostArrays& host, std::span<const plan::Plan> table, const PlanRequest& request);

}  // namespace kenaz::host_code
