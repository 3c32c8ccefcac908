// Array IR in the few forms that the rules of differentiation are written for.
#pragma once

#include "kernels/ir/ir.h"
#include "protocol/base/result.h"

namespace kenaz::ad {

/// The error that says why a statement cannot be differentiated, at its place in the program.
Error refusal(const ir::Program& p, const ir::Stm& s, const std::string& what);

/// Rewrites the body so that, at every depth: a combinator is a map, or one reduction or scan of
/// its inputs, or writes its inputs to one destination (scatter) or by one operator (histogram);
/// operators on rows that combine them element by element are maps of reductions and scans, but for
/// additions; scatters write no element twice (of two writes, the one of the later element stays,
/// so that code that runs twice does the same); and, for `reverse`, loops have a known number of
/// iterations. Fails with kCompile at what cannot be differentiated.
Status normalise(ir::Program& p, ir::Body& b, bool reverse);

/// The attribute of a scatter that writes no element twice.
constexpr const char* kUniqueWrites = "unique_writes";

}  // namespace kenaz::ad
