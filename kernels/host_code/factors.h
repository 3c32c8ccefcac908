// The code of a reduction's factors (ir/analysis/factors.h), in a kernel.
#pragma once

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"
#include "kernels/ir/analysis/factors.h"
#include "kernels/plan/plan.h"

namespace kenaz::host_code {

plan::Factors factor_facts(const ir::Program& p, const ir::Factors& factors);

/// The functions that make them. `e`, which was taken apart, and `factors` must outlive the thread.
plan::Elements::Factors factor_functions(HostArrays& host, body::Thread& t, const ir::ESeg& e,
                                         const ir::Factors& factors);

}  // namespace kenaz::host_code
