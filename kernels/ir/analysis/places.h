// Places in programs' texts.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// The innermost place in the program's own text: what the prelude defines is named by its use.
/// Empty if there is none.
SourceRange own_place(const Program& p, ProvId at);

}  // namespace kenaz::ir
