// The engine without a device.
#pragma once

#include <memory>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/lowered.h"
#include "server/host/engine.h"

namespace kenaz::host {

/// Runs top-level constants; fails if one of them does.
Result<std::unique_ptr<Engine>> make_reference_engine(ir::Lowered lowered,
                                                      ir::eval::SegOptions segs = {});

}  // namespace kenaz::host
