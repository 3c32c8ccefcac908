// What workgroups have left in mailboxes, scanned by one of them.
#pragma once

#include "kernels/primitives/blocks/combine.h"
#include "kernels/primitives/blocks/ticket.h"

namespace kenaz::primitives::blocks {

/// The boxes' `count` (i64) values become what stands before each; by all threads of a workgroup,
/// each of which takes a share. Contains barriers.
void scan_boxes(Team& t, Combiner& c, Mailboxes& boxes, const Value& count);

}  // namespace kenaz::primitives::blocks
