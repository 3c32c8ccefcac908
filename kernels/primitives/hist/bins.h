// The bins of a histogram: as the caller has them, as cells that any thread may change, and as
// copies for each workgroup that are merged in the end.
#pragma once

#include "kernels/primitives/blocks/cells.h"
#include "kernels/primitives/blocks/stripes.h"
#include "kernels/primitives/blocks/ticket.h"

namespace kenaz::primitives::hist {

using blocks::Cells;
using kir::Builder;
using kir::Value;
using kir::Values;
using plan::Facts;
using plan::HostExpr;
using plan::Team;
using program::Target;

/// The value of bin number `index` (i64, of all segments' bins in a row).
Values load_bin(Team& t, const Value& index);
void store_bin(Team& t, const Value& index, const Values& x);

/// Cells in the caller's own memory; only if Cells::in_place.
Cells cells_in_place(Team& t);

/// An element, taken apart: [bin, values..].
struct Item {
  Value bin;  // i64
  Values x;
};
Item item_of(const Values& element);

/// Combines every element of every segment with its cell, by all threads of all workgroups.
/// Launched with `groups_for_cells` of them.
void update_cells(Team& t, Cells& cells);
HostExpr groups_for_cells(const Facts& f, const Target& target);

/// The steps of plans that others use, too.
namespace shared {
/// Bins that it has room for at a time.
HostExpr window(const Facts& f, const Target& target);
void add_steps(plan::Maker& m, const Facts& f, const Target& target);
}  // namespace shared
namespace global {
void add_steps(plan::Maker& m, const Facts& f, const Target& target);
}

/// Bins of their own for each of `parts` workgroups per segment.
struct Copies {
  HostExpr parts;
  plan::ScratchId block;
};
Copies make_copies(plan::Maker& m, const Facts& f, const HostExpr& parts);
blocks::Mailboxes boxes_of(Team& t, const Copies& c);
/// Where the first bin of a segment's part is in the boxes.
Value first_box(Team& t, const Copies& c, const Value& segment, const Value& part);
/// Combines the caller's bins with all copies.
void merge_step(plan::Maker& m, const Facts& f, const Target& target, const Copies& c);

}  // namespace kenaz::primitives::hist
