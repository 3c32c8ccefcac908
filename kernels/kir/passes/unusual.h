// Operations whose operands are rarely unusual, together.
#pragma once

#include "kernels/kir/kir.h"

namespace kenaz::kir {

/// A quotient of f32 is a dozen operations of usual operands, and a hundred of others, which stand
/// behind a condition. With many of them a kernel is mostly such code, no two quotients are
/// computed at the same time, and the instructions' cache is too small. So of a few operations that
/// have a usual form (has_usual_form), and what arithmetic is made of them, the usual forms are
/// computed, and behind them, if not all operands were usual, everything again in whole. For
/// devices whose library has the forms; the last of the passes, since no other knows forms.
void gather_unusual(Kernel& kernel);

}  // namespace kenaz::kir
