// The passes: each one function on a whole program, meaning-preserving, independent of the others.
#pragma once

#include "kernels/ir/ir.h"
#include "protocol/base/result.h"

namespace kenaz::passes {

/// The most elements of a combinator, known to be so many, that one thread should do for want of
/// more of them: those of a window of 3 by 3, say. (16 take longer so in backprop of
/// futhark-benchmarks.)
inline constexpr int64_t kFewElements = 9;
/// .. and of packings and sorts.
inline constexpr int64_t kFewToMove = 32;

/// Copies arrays before they are consumed where somebody else needs them as well.
void copy_shared(ir::Program& p);
/// Makes loops of functions that call themselves only as the last thing they do.
void tail_calls(ir::Program& p);
/// Puts the bodies of functions that do not come to call themselves in the place of their calls,
/// and removes those.
void inline_calls(ir::Program& p);
/// Makes loops of combinators, histograms and scatters whose functions call others: calls stand at
/// host level.
void sequence_calls(ir::Program& p);
/// Removes what nothing uses: statements, results of combinators.
void remove_dead_code(ir::Program& p);
/// Copy propagation, constant folding, algebra that is exact for the type, checks that hold by
/// the ranges of indices, common subexpressions, ifs that are choices.
void simplify(ir::Program& p);
/// Makes sorts in lambdas, where a thread would do them, and of a few elements packings bit by bit;
/// of the others, which stay, sorts the numbers of those elements that are no scalars or large.
void sorts(ir::Program& p);
/// As sorts() before flattening, which makes one sort of those in a map: only those of few elements
/// are packings.
void sorts_in_maps(ir::Program& p);
/// Makes packings in lambdas, where a thread would do them, and of a few elements scans and
/// scatters; of the others, which stay, packs the numbers of those rows that are no scalars.
void packs(ir::Program& p);
/// The same of all packings, for targets on which barriers take long.
void packs_by_scans(ir::Program& p);
/// Makes packings and sorts of scatters to places that are counts of elements before, at host level
/// only, and sorts of loops of these, also in maps whose rows have the same length.
void partitions(ir::Program& p);
/// Fuses producers into their consumers: maps into maps, reductions, scans, scatters, histograms,
/// packings.
void fuse(ir::Program& p);
/// Makes rows that a later combinator adds up by a map of their own, behind the combinator that
/// makes what they need, if that is a few scalars.
void split_rows(ir::Program& p);
/// Makes one concatenation of those whose parts are concatenations.
void concats(ir::Program& p);
/// Lets copies be what they are copies of, where neither is overwritten or given to a caller.
void drop_copies(ir::Program& p);
/// Puts maps into the reductions and writes at whose points alone their elements are needed. Of a
/// program at stage seg.
void fuse_segs(ir::Program& p);
/// Transposes of what maps compute at each point leave these, and become ones of all.
void outer_views(ir::Program& p);
/// In lambdas: where all that is used of a map's result is one element, makes that alone.
void single_elements(ir::Program& p);
/// In lambdas: where branches that differ between points make rows, a map makes these rows, and
/// each of its points takes a branch.
void row_ifs(ir::Program& p);
/// Moves what does not depend on the lambda or loop around it out: cheap scalar code, iotas,
/// reductions to scalars, and (out of lambdas only) checks, which then hold where there are no
/// elements.
void hoist(ir::Program& p);
/// Lets the host make checks that are all a map does. Of a program at stage seg.
void lone_checks(ir::Program& p);
/// Makes one map of two that follow each other, compute under conditions and read the same arrays.
/// Of a program at stage seg.
void join_maps(ir::Program& p);
/// Loads what a point of a map has at its own index before the branches that load it. Of a program
/// at stage seg.
void early_loads(ir::Program& p);
/// Lets arrays of i64 be arrays of i32 where their elements are, and only elements are taken. Of a
/// program at stage seg.
void short_elements(ir::Program& p);
/// Groups long sums of integers by the rows of the array that they read. Of a program at stage seg.
void group_sums(ir::Program& p);
/// Takes both branches of ifs in reductions whose elements are then made of two factors. Of a
/// program at stage seg.
void both_branches(ir::Program& p);
/// Lets a map read what branches of reductions read, where elements are then made of two factors.
/// Of a program at stage seg.
void store_factors(ir::Program& p);
/// Lets kernels do the arithmetic on what other kernels have made, so that the host need not wait
/// for it. Of a program at stage seg, for devices that work beside the host.
void sink_scalars(ir::Program& p);
/// Makes sums of small integers two at a time, in the halves of a word. Of a program at stage seg.
void pairs(ir::Program& p);

}  // namespace kenaz::passes
