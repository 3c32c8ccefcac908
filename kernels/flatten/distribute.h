// Distribution of nests: a combinator whose body has combinators becomes a sequence of ESegs, each
// over all the levels of parallelism around it.
//
//   map (\xs -> let k = f xs[0] in reduce (+) 0 (map (\x -> g k x) xs)) xss
//
// becomes a map over n that stores f xss[i,0], and a reduction over n x m. What stands around inner
// parallelism moves out of the way: a loop whose number of turns is the same for all points goes
// around the ESegs, with arrays for its parameters, and so does a branch on what is the same for
// all points.
//
// The rest runs in one thread: combinators of few elements or of a number that differs between
// points, operators on arrays, loops and branches that differ.
#pragma once

#include <vector>

#include "kernels/flatten/lift.h"
#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/ir.h"

namespace kenaz::flatten {

enum class Depth : uint8_t {
  kOutermost,  // one ESeg over the combinator's own width
  kMaps,       // maps in maps, as long as they are nothing else
  kAll,
};

/// Whether there is a sort inside of the statement.
bool has_sorts(const ir::Stm& s);
/// An ESoac, EScatter, EHist, EPack or ESort.
bool is_combinator(const ir::Exp& e);

/// Of the program before anything of it was distributed.
struct ProgramFacts {
  explicit ProgramFacts(const ir::Program& p) : aliases(p), replicates(find_replicates(p)) {}
  ir::Aliases aliases;
  Replicates replicates;
};

struct Distributed {
  std::vector<ir::Stm> stms;
  /// What the combinator binds, under new names, which `stms` bind.
  std::vector<ir::VarId> results;
  /// How many ESegs there are, those in loops and branches included.
  size_t pieces = 0;
};

struct Grouped;

/// Who chooses between versions of maps that lie deeper, in loops around what is spread. Around a
/// whole nest there may be a version for workgroups as well, but a workgroup for all that loops do
/// at one of its outermost points may be far too few.
class GroupChoice {
 public:
  /// Binds `pat` to what either the group or all levels make, and emits that into `out`.
  virtual void choose(const ir::Stm& s, Grouped group, Distributed all,
                      const std::vector<ir::VarId>& pat, std::vector<ir::Stm>& out) = 0;
  /// What was chosen since the last mark is thrown away.
  virtual void mark() = 0;
  virtual void back_to_mark() = 0;

 protected:
  ~GroupChoice() = default;
};

/// `s` is an ESoac, EScatter, EHist, EPack or ESort at host level. The result binds what `s` binds
/// inside under the same names: of two results at most one can be used as it is. With `choice`
/// maps in loops have versions for workgroups beside them.
Distributed distribute(ir::Program& p, const ProgramFacts& facts, const ir::Stm& s, Depth depth,
                       GroupChoice* choice = nullptr);

}  // namespace kenaz::flatten
