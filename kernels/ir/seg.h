// Segmented operations: the array IR of stage `seg`, in which a program says what runs where.
//
// An ESeg runs its body at every point of a space of indices; nothing is said about the order of
// the points, and they may run at the same time. Inputs are read by EIndex at the space's indices,
// so every access can be seen. Combinators that are left inside a body (ESoac, EScatter, EHist) are
// loops of the thread that runs it. stages.def says which expressions a stage allows where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/ir/terms.h"

namespace kenaz::ir {

using TuneId = Id<struct TuneTag>;

/// How far a program has come: kSoacs is what lowering makes; at kSeg, everything parallel at host
/// level is an ESeg; at kMem, arrays have places.
enum class Stage : uint8_t { kSoacs, kSeg, kMem };

/// What becomes of the operands that the points make: kMap has none.
enum class SegKind : uint8_t { kMap, kReduce, kScan, kPack, kSort };

/// Who runs the body at one point: a thread of the device, a workgroup, or a thread of the
/// workgroup that runs the body around. kDevice and kGroup stand at host level, kInGroup directly
/// in the body of a kGroup (also within its branches and loops).
enum class SegLevel : uint8_t { kDevice, kGroup, kInGroup };

/// One dimension: `index`, an i64, takes the values 0 <= index < size. `size` is an i64 from
/// outside of the ESeg, so a space is a box. (Segments that differ in size will need a field for
/// their offsets; nothing makes them yet.)
struct SegDim {
  VarId index;
  Atom size;
};

/// The dims from outside to inside. Reductions and scans run along the last one, for each point of
/// the others. Without dims there is exactly one point: one thread (or workgroup) runs the body
/// once. With a size of zero or less there is none.
struct SegSpace {
  std::vector<SegDim> dims;
};

/// The operator of a reduction, a scan or a combining write. `lifted`: the operator works on values
/// of types op.op.ret, its operands are arrays of those, of dims `lifted`, that are combined
/// element by element; neutral elements have the types op.op.ret. Not lifted (empty): the operator
/// takes the operands as they are, which may be arrays, too. Whether it is commutative says
/// op.commutative, of which only reductions make use; those of writes must be, for writes have no
/// order.
struct SegMonoid {
  Monoid op;
  std::vector<Atom> lifted;
};

/// Writes into arrays from outside, all of them at the same index: for every point,
///   dest[i_0, .., i_(s-1), j_0, .., j_(r-1)] = value
/// for each dest, where s = segment_rank (the i are the space's leading indices), r = index_rank,
/// and s + r is 1 at least and at most the rank of every dest; what is left of its dims are those
/// of the value. An index that is out of bounds for the first dest writes nothing; the dests have
/// the same leading s + r dims. If several points write to the same place, one of them wins in all
/// dests; nobody knows which. With `combine` (of as many values as there are dests) no value is
/// lost: dest[..] = combine(dest[..], value), one point after the other, in any order.
/// Neither the body nor an operator may read the dests by whatever name.
struct SegWrite {
  std::vector<VarId> dests;
  int index_rank = 1;
  int segment_rank = 0;
  std::optional<SegMonoid> combine;
};

/// The body's results are, in this order:
///   1. the operands of the monoids, monoid by monoid (types: lifted ++ op.ret);
///   2. for each write, its index components (index_rank i64s), then its values, one per dest;
///   3. plain results.
/// The statement binds, in this order:
///   1. for each value of each monoid: if kReduce, the reductions (types: the space's dims without
///      the last ++ lifted ++ op.ret; neutral elements where the last dim is empty); if kScan, the
///      inclusive scans (types: the space's dims ++ lifted ++ op.ret);
///   2. for each dest of each write, the array with what was written (types: those of the dests);
///   3. for each plain result, the array of its values (types: the space's dims ++ its type).
/// A reduction or scan has at least one dim and one monoid, a map has no monoids.
/// Consumes the dests of its writes. Beyond that its body consumes only what it makes itself.
/// A pack has one dim, `classes` and `rest`, no monoids and no writes. The body's results are a
/// class (i32) and scalars, and what is bound is as with EPack. A sort has one dim, too, and
/// neither monoids nor writes; the body's results are a key and scalars, what is bound is as with
/// ESort. A space without dims is for what one thread is to do, and then the body is like the only
/// branch of an EIf: there are plain results only, it may consume what comes from outside, and what
/// is bound may share memory with that.
struct ESeg {
  SegKind kind = SegKind::kMap;
  SegLevel level = SegLevel::kDevice;
  SegSpace space;
  Body body;
  std::vector<SegMonoid> monoids;
  std::vector<SegWrite> writes;
  int classes = 0;    // kPack
  bool rest = false;  // kPack
};

/// Several ways to compute the same: the first version whose test holds runs, like a chain of EIfs.
/// Not empty; the test of the last one is the constant true. Names are for people; they differ.
struct EVersions {
  struct Version {
    std::string name;
    Atom test;
    Body body;
  };
  std::vector<Version> versions;
};

/// The value of a parameter of Program::tunes, an i64, the same during a whole call. Unless it is
/// the user's own, no result of the program depends on it, only which way is taken.
struct ETune {
  TuneId id;
};

/// What a parameter is about; Futhark's tools know parameters by name and class. kDeviceFact: not
/// to be tuned, a property of the device. kUser: named in the program, by #[param(..)].
enum class TuneClass : uint8_t {
  kThreshold,
  kGroupSize,
  kGroups,
  kTile,
  kRegTile,
  kItems,
  kDeviceFact,
  kUser
};

/// `fallback` holds unless somebody sets the parameter; null: the device decides. `path`: what the
/// comparisons with these earlier thresholds must have said for this one to be asked at all.
struct Tune {
  std::string name;
  TuneClass cls = TuneClass::kThreshold;
  std::optional<int64_t> fallback;
  std::vector<std::pair<TuneId, bool>> path;
};

/// The words of the textual form, and back (null: no such word).
std::string_view stage_name(Stage s);
std::string_view seg_kind_name(SegKind k);
std::string_view seg_level_name(SegLevel l);
std::string_view tune_class_name(TuneClass c);
std::optional<Stage> stage_from_name(std::string_view name);
std::optional<SegKind> seg_kind_from_name(std::string_view name);
std::optional<SegLevel> seg_level_from_name(std::string_view name);
std::optional<TuneClass> tune_class_from_name(std::string_view name);

/// Whether the body runs exactly once: the space has no dims.
inline bool is_single(const ESeg& e) { return e.space.dims.empty(); }
std::vector<Atom> sizes_of(const std::vector<SegDim>& dims);
/// How many leading results of the body are operands of monoids; of a pack or sort, all are
/// operands.
size_t operands_of(const ESeg& e);
/// How many results of the body, and how many arrays bound, belong to writes.
size_t write_results_of(const ESeg& e);
size_t dests_of(const ESeg& e);

}  // namespace kenaz::ir
