// Views: indexes of views, slices of slices, transpositions of transpositions, and elements of
// arrays that need not exist.
#pragma once

#include <functional>
#include <optional>

#include "kernels/ir/builder.h"
#include "kernels/ir/ir.h"

namespace kenaz::passes {

/// The statement that defines an array, or null if there is none to look at. It must be in scope
/// where the view is, and what it uses as well.
using Definition = std::function<const ir::Stm*(ir::VarId)>;

/// One step of rewriting an EIndex, ERearrange, EReshape,
/// EReplicate, EConcat or ECopy into something nearer
/// to the memory behind it. New scalar code goes to `b`; the certificates of the definitions that
/// were skipped must be added to the statement's (`certs`). Nothing if no rule applies.
std::optional<ir::Exp> simplify_view(ir::Builder& b, const ir::Exp& e, const ir::Type& result,
                                     const Definition& definition, std::vector<ir::VarId>& certs);

}  // namespace kenaz::passes
