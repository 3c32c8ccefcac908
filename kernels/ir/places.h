// Places: the array IR of stage `mem`, in which arrays share memory.
//
// An array is in memory of its own, unless the variable has a place (terms.h). Only what a
// statement at host level makes has one. A place says three things:
//   - the statement writes its result there, and nowhere else;
//   - whoever uses the memory from then on sees the result in it;
//   - a statement that puts the array into the same memory, at the same place, finds it there and
//     copies nothing: EConcat and EArrayLit, whose own place says where their parts belong, and
//     EUpdate, whose value belongs where it updates.
// So a place costs nothing and changes no result; what is wrong with one is found by the evaluator,
// which makes the contents of a place worthless before something is made there.
#pragma once

#include "kernels/ir/ir.h"

namespace kenaz::ir {

/// Whether the k-th variable that the statement binds is an array that it makes, from beginning to
/// end, so that it may have a place.
bool makes(const Program& p, const Stm& s, size_t k);

}  // namespace kenaz::ir
