// What a program asks of flattening, by attributes on combinators. Lowering puts an attribute on
// all statements of the expression that it stands before, those inside of combinators included, of
// which it can say something.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// #[sequential]: inside of a nest it stays in the thread of its element. At host level it means
/// nothing: one thread of a device is no place for what could have many.
bool asks_for_one_thread(const ir::Stm& s);
/// #[sequential_inner]: what is inside of the combinator stays in the thread of its element.
bool asks_for_outer_only(const ir::Stm& s);
/// #[flattening(only_inner)] or (no_outer), and their older name incremental_flattening(..): no
/// version that leaves inner levels in a thread. only_intra counts as that, too: of the versions
/// that there are, it is the one with threads for all levels.
bool asks_for_all_levels(const ir::Stm& s);

}  // namespace kenaz::flatten
