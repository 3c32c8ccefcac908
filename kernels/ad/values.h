// Building blocks that both modes share: values of any shape as elements of a vector space, and
// code of lambdas put in a place.
#pragma once

#include <vector>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/builder.h"

namespace kenaz::ad {

ir::Atom zero_of(ir::Builder& b, const ir::Type& type);
/// Elementwise, at every rank. Truth values: or.
ir::Atom add_values(ir::Builder& b, const ir::Atom& x, const ir::Atom& y);
/// The operator of sums of such values.
ir::Monoid sum_of(ir::Builder& b, const ir::Type& type);
/// The sum of an array's rows; zero if there are none.
ir::Atom sum_rows(ir::Builder& b, ir::VarId array);
/// Whether the operator is the sum of its operands, at any rank.
bool is_addition(const ir::Monoid& m);
/// The scalar operation of both operands, in their order, that is all the operator does; or null.
const ir::EPrim* scalar_operation(const ir::Monoid& m);
/// Whether the operator is the minimum or maximum of its operands, of equals the first.
bool is_extreme(const ir::Monoid& m);
/// If the statement is a map, without scans and reductions: that; else null.
const ir::ESoac* as_map(const ir::Stm& s);
/// Whether the lambda returns just its params, in their order.
bool is_identity(const ir::Lambda& l);
/// A lambda that returns its params.
ir::Lambda identity_lambda(ir::Program& p, const std::vector<ir::Type>& types);

/// Appends a copy of the lambda's code with the arguments in the place of the params.
std::vector<ir::Atom> inline_lambda(ir::Builder& b, const ir::Lambda& l,
                                    const std::vector<ir::Atom>& args);
/// New variables, of the params' types, that stand for the arguments; `s` gets them for the params.
std::vector<ir::VarId> bind_arguments(ir::Builder& b, const ir::Lambda& l,
                                      const std::vector<ir::Atom>& args, ir::Subst& s);

/// The array's rows in the opposite order.
ir::VarId reversed(ir::Builder& b, ir::VarId array);
/// Whether the index (one atom per dim) is inside of the array's leading dims.
ir::Atom is_inside(ir::Builder& b, const std::vector<ir::Atom>& index, const ir::Type& t);
/// The row at the index, or zero if it is outside.
ir::Atom row_or_zero(ir::Builder& b, ir::VarId array, const std::vector<ir::Atom>& index);
/// The rows at `at`, one after the other; `otherwise` where `exists` does not hold.
std::vector<ir::Atom> rows_or(ir::Builder& b, const ir::Atom& exists, const ir::Atom& at,
                              const std::vector<ir::VarId>& arrays,
                              const std::vector<ir::Atom>& otherwise);

}  // namespace kenaz::ad
