// Lowering: checked MFG to array IR of stage soacs.
#pragma once

#include "kernels/ir/lowered.h"
#include "kernels/mfg/check/core.h"
#include "protocol/base/result.h"

namespace kenaz::mfg {

/// One entry point, named after the result: from the picture ([height][width][4], blue, green, red,
/// alpha), the other layers that are read ([..][height][width][4], in the order of their numbers;
/// those that are missing are 0), the textures, and the parameters, to a picture. What each
/// parameter is stands in the entry point's attributes, one line each.
Result<ir::Lowered> lower(const CFilter& filter);

}  // namespace kenaz::mfg
