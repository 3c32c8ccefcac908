// What a program asks of flattening, by attributes on combinators. Lowering puts an attribute on
// all statements of the expression that it stands before, those inside of combinators included, of
// which it can say something.
#pragma once

#include <string_view>

#include "kernels/ir/ir.h"

namespace kenaz::flatten {

/// #[sequential]: inside of a nest it stays in the thread of its element. At host level it means
/// nothing: one thread of a device is no place for what could have many.
bool asks_for_one_thread(const ir::Stm& s);
/// #[sequential_inner]: what is inside of the combinator stays in the thread of its element.
bool asks_for_outer_only(const ir::Stm& s);
/// #[flattening(only_inner)] or (no_outer), and their older name incremental_flattening(..): no
/// version that leaves inner levels in a thread. only_intra counts as that, too, where a nest has
/// no version for workgroups.
bool asks_for_all_levels(const ir::Stm& s);
/// #[flattening(only_intra)]: the version for workgroups alone, if there is one.
bool asks_for_groups(const ir::Stm& s);
/// #[flattening(no_intra)]: no version for workgroups.
bool asks_for_no_groups(const ir::Stm& s);
/// The attribute that offer_groups puts there.
bool are_groups_offered(const ir::Stm& s);
/// Whether there may be one of the whole nest beside others: they are offered, and the program asks
/// neither for none nor, by #[flattening(only_inner)], for all levels. (What stands inside has that
/// attribute as well, so it says nothing of maps that lie deeper.)
bool may_have_groups(const ir::Stm& s);
/// Not to be written in a program: it has spaces.
inline constexpr std::string_view kGroupsOffered = "groups are offered";

}  // namespace kenaz::flatten
