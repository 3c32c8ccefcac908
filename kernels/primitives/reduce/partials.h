// Combining what several workgroups found.
#pragma once

#include "kernels/primitives/blocks/ticket.h"
#include "kernels/primitives/reduce/fold.h"

namespace kenaz::primitives::reduce {

/// The values of `count` boxes from `first` on, in order, by all threads of a workgroup; every
/// thread gets it.
Values fold_partials(Team& t, Combiner& c, blocks::Mailboxes& boxes, const Value& first,
                     const Value& count);

}  // namespace kenaz::primitives::reduce
