// Plans: the ways in which a parallel operation runs on a device. A family (reduce, scan, hist,
// pack, copy) has a table of plans, best first. Code generation
//
//   1. states the facts of the operation that it knows at compile time (Facts);
//   2. asks for the plans that fit (`choose`). Each has a condition on sizes that the host
//      evaluates; the last one's is true. So they become a chain of ifs in host code;
//   3. has each chosen plan made (Plan::make): a few kernels, to be launched one after the other,
//      with what the host must compute and allocate for them (Work).
//
// Plans emit kernel IR and see the operation through functions: how an element is made, how two
// values are combined, where a result goes (Problem). These are bound to a kernel by a function of
// the caller's (Bind), which is called once at the start of each kernel and may add arguments,
// functions and local arrays of its own to it.
//
// Terms. An operation has `segments` segments of `length` elements each: a reduction of each row
// of a matrix has as many segments as rows. An element's place is its segment and its position
// there. All are i64.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "kernels/kir/builder.h"
#include "kernels/op/kept.h"
#include "kernels/op/operators.h"
#include "kernels/plan/host_expr.h"
#include "kernels/program/target.h"

namespace kenaz::plan {

using kir::Builder;
using kir::Value;
using kir::Values;

// ---- at compile time

/// What is known of an operator before there is code. A value is a tuple of scalars.
struct OpFacts {
  std::vector<PrimType> types;
  bool commutative = false;
  /// Per scalar: the row of the operator that combines it by itself; null if its result depends on
  /// other scalars, or there is no such row.
  std::vector<const op::Known*> known;
  /// Known if it keeps one of its operands.
  std::optional<op::Kept> kept = {};
};

/// Of a reduction whose segments are [matrices][rows][columns]: the elements at one position of
/// neighbouring rows, or columns, read the same, at least in part, so a thread had better reduce
/// several. There are no elements that read what only they do.
struct Grid {
  HostExpr rows = 0, columns = 0;
  bool rows_share = false, columns_share = false;
};

/// Of a reduction whose segments are [matrices][rows][columns], or [..][rows][between][columns]
/// where `between` is a number of matrices: an element is made of two factors, one for each row and
/// one for each column, as those of a product of matrices are.
struct Factors {
  std::vector<PrimType> left, right;  // the scalars of a row's, of a column's
  /// Neighbours in memory are the factors at neighbouring positions, and not those of neighbouring
  /// rows or columns.
  bool left_along = false, right_along = false;
  /// Both factors are only read, and a few instructions make the element of them.
  bool plain = true;
  HostExpr rows = 0, columns = 0, between = 1;
};

/// Of one segment whose elements are made of what stands at their own position in some arrays, each
/// from its beginning on: for targets that read ahead.
struct Ahead {
  std::vector<PrimType> arrays;
  int statements = 1;  // of an element and of combining two
};

struct Facts {
  std::string name;  // prefix of the kernels' names
  ir::ProvId prov;
  OpFacts op;                     // reduce, scan, hist
  std::vector<PrimType> carried;  // scan, pack, sort: scalars of an element behind the operator's
  HostExpr segments = 1, length;
  /// Neighbours in memory are the elements at the same position of neighbouring segments, and not
  /// those at neighbouring positions: the columns of a matrix.
  bool across = false;
  /// How many neighbours along a segment can be loaded at once (Elements::many): 1, 2, 4, 8 or 16.
  /// Of several segments the length is a multiple of it.
  int widest = 1;
  /// An element takes long: its code is large or has loops. It is then not repeated in a kernel.
  bool slow = false;
  /// An element or the operator may stop its thread: it can fail, or has loops that end when the
  /// call is to stop.
  bool fails = false;
  /// reduce, scan; pack and sort by vectors: so many bytes of arrays does an element read,
  /// somewhere
  /// (`gathers`) or where the elements before it end. 0: not known.
  int read_bytes = 0;
  bool gathers = false;
  int items = 0;                   // elements per thread at a time; 0: the plan's choice
  int group_size = 0;              // threads per workgroup, before tuning; 0: the plan's choice
  HostExpr bins = 0;               // hist: per segment
  Grid grid;                       // reduce
  std::optional<Factors> factors;  // reduce
  std::optional<Ahead> ahead;      // reduce, scan
  HostExpr matrix = 0;             // copy, across: segments of each matrix; 0: there is one matrix
  /// copy, across: if a power of two divides this, it divides the elements in every row, and the
  /// indices in memory at which rows begin, of the source and of the result.
  HostExpr aligned = 1;
  /// copy, across: the same of the elements in all matrices of the source before each and of where
  /// both arrays begin: what `aligned` says without the numbers of rows and columns.
  HostExpr begins = 1;
  /// copy, across: how far each row of the source begins behind the one before it; 0: not all are
  /// equally far.
  HostExpr step = 0;
  int classes = 0;    // pack: 1 or 2 that are counted
  bool rest = false;  // pack: elements of other classes come behind; else they are dropped
  PrimType key = PrimType::kU32;  // sort: an unsigned integer
};

// ---- in a kernel

/// Combines values. Associative.
struct Operator {
  OpFacts facts;
  Values neutral;
  std::function<Values(Builder&, const Values& a, const Values& b)> combine;
};

/// Where an element stands; all i64.
struct Place {
  Value segment, position;
  /// Only for elements of a Team that asks by grid: there `segment` is the number of the matrix.
  Value row = kir::i64(0), column = kir::i64(0);
};

/// What makes the elements. A plan may make an element more than once, and not in order: it must
/// have no effects but failures, and stores that are the same each time. Places are always inside
/// of the segments.
struct Elements {
  /// The element: reduce: the operator's scalars; scan: those, then the carried; hist: the bin
  /// (i64, less than bins; -1: the element is dropped), then the operator's; pack: the class (i32;
  /// one of the rest if it is not from 0 to classes - 1), then the carried; sort: the key, then the
  /// carried; copy: the carried.
  std::function<Values(Builder&, const Place&)> at;
  /// The elements at `n` neighbouring positions from `first` on, which is a multiple of n. n is at
  /// most Facts::widest. May be empty: then `at` is used.
  std::function<std::vector<Values>(Builder&, const Place& first, int n)> many;

  /// Of a Team that asks for factors, instead of `at`. Rows, columns and positions are i64.
  struct Factors {
    /// What all elements of a matrix (by number, i64) share: for left and right.
    std::function<Values(Builder&, const Value& matrix)> enter;
    std::function<Values(Builder&, const Values& of, const Value& row, const Value& position)> left;
    std::function<Values(Builder&, const Values& of, const Value& column, const Value& position)>
        right;
    /// The element, of the scalars of both.
    std::function<Values(Builder&, const Values& left, const Values& right)> join;
  } factors;

  /// Where there is Facts::ahead.
  struct Ahead {
    std::function<Values()> bases;  // u64: the arrays' addresses, multiples of 8
    /// The element at this position (i64), of what the arrays have there.
    std::function<Values(Builder&, const Value& position, const Values& read)> element;
  } ahead;
};

/// How a kernel asks for elements: by segment and position; by matrix, row, column and position; or
/// for the factors that they are made of.
enum class Asks : uint8_t { kBySegment, kByGrid, kForFactors };

/// The rows of one array of a copy across: elements that are neighbours in memory.
struct Rows {
  Value base;  // u64: the address of the block
  /// The index (i64) of a row's first element; the matrix and the row are numbers (i64).
  std::function<Value(Builder&, const Value& matrix, const Value& row)> first;
  /// How far each row begins behind the one before it (i64); none: not all equally far.
  std::optional<Value> step;
};

/// Reductions of segments that differ in length, and what is done around them for each segment: the
/// family `uneven`.
struct Uneven {
  /// A segment, as one thread sees it.
  struct Entered {
    Value length;   // of the segment, i64
    Values shared;  // what its elements are made of, for any thread
    Values kept;    // for the next stage
  };
  /// One after the other; of the same number of segments.
  struct Stage {
    Operator op;
    /// `before`: what the stage before shared and kept, then its result; none of the first.
    std::function<Entered(Builder&, const Value& segment, const Values& before)> enter;
    /// What the element at this position (i64) reads without checks, and the element, of that. So
    /// several can read before any waits. As Elements, without stores.
    std::function<Values(Builder&, const Values& shared, const Value& position)> read;
    std::function<Values(Builder&, const Values& shared, const Value& position, const Values& read)>
        at;
  };
  std::vector<Stage> stages;
  /// After the last stage; called once for each segment.
  std::function<void(Builder&, const Value& segment, const Values& before)> leave;
};

/// Where results go: reduce: the operator's scalars of a segment (position 0); scan: those of the
/// inclusive scan, then the carried; copy: the carried; pack: the carried, at their position
/// among all that are packed (segment 0); sort: the key, then the carried (segment 0). Each place
/// is put once.
struct Sink {
  std::function<void(Builder&, const Place&, const Values&)> put;
  /// As Elements::many; may be empty. Of a reduction: the results of neighbouring segments, from a
  /// multiple of their number on; at most as many as 16 bytes have of the largest scalar.
  std::function<void(Builder&, const Place& first, const std::vector<Values>&)> put_many;
  /// scan, where there is Facts::ahead: the addresses (u64, multiples of 8) of the arrays that the
  /// operator's scalars of position 0 and the following go to.
  Values bases;
};

struct Problem {
  Operator op;
  Elements elements;
  Sink sink;
  /// hist: the addresses (u64) of dense arrays [segments][bins], one per scalar of the operator.
  /// The values of elements are combined with what stands there.
  Values bins;
  /// pack: takes how many elements each class that is counted has (i64s); called by one thread.
  std::function<void(Builder&, const Values& counts)> counts;
  /// The elements for who makes them once more. Scan: without what making them stores besides; `at`
  /// is empty if they store nothing. Pack, sort: the class or key alone; may be empty.
  Elements dry_elements;
  Uneven uneven;  // instead of the others
  /// copy, across: the source, whose rows are numbered by position, and the result, whose rows are
  /// numbered by segment within the matrix.
  Rows from, to;
};

/// One kernel while it is built: its builder, and values that the host computes (team.h).
class Team;

/// Binds the problem to a kernel whose body is about to be built.
using Bind = std::function<Problem(Team&)>;

// ---- what the host does

/// A block that the kernels of one Work share.
struct Scratch {
  HostExpr bytes;
  /// All bytes are 0 before the first kernel, and must be after the last, unless the call fails or
  /// is stopped; they may become 0 between two, where one is compiled. So one block, as large as
  /// the largest use, can serve all launches that run one after the other, those of other calls
  /// among them.
  bool zero = false;
};
struct ScratchId {
  int number;  // index into Work::scratch
};

/// A specialisation constant of all kernels of a Work, at the same index in Kernel::specs. Work has
/// been made so that any positive value is right that the device can run; spec 0 is the workgroup's
/// size, which subgroups of a fixed size must divide.
struct PlanSpec {
  std::string name;
  int32_t fallback;
};

/// What the host passes for an argument that the plan added.
struct PlanArg {
  size_t arg;  // index into Kernel::args; those that are not listed are the caller's
  std::variant<HostExpr, ScratchId> value;  // i64, or the block's address
};

struct Step {
  kir::Kernel kernel;
  HostExpr groups;  // workgroups; 0: not launched
  std::vector<PlanArg> args;
};

/// The launches of one plan, in order; each sees the results of those before it.
struct Work {
  std::vector<PlanSpec> specs;
  std::vector<Scratch> scratch;
  std::vector<Step> steps;
};

// ---- the tables

struct Plan {
  const char* name;
  /// Whether the plan is right and possible: by the operator's facts and the target's.
  bool (*applies)(const Facts&, const program::Target&);
  /// For which sizes it is preferred to those behind it in the table. It is right for all others,
  /// too, unless the table says otherwise.
  HostExpr (*when)(const Facts&, const program::Target&);
  Work (*make)(const Facts&, const program::Target&, const Bind&);
};

struct Choice {
  const Plan* plan;
  HostExpr when;
};

/// The plans of a table that apply, in order, up to the first that is always preferred. The last
/// one's condition is true. At least one plan of each table applies to anything.
std::vector<Choice> choose(std::span<const Plan> table, const Facts& facts,
                           const program::Target& target);

// ---- operators out of others

/// A scalar operator that the table knows.
Operator known_operator(const op::Known& row, PrimType type);
/// The operator on tuples that works on each part by itself. All parts of one kernel.
Operator join(std::vector<Operator> parts);
OpFacts join(const std::vector<OpFacts>& parts);

}  // namespace kenaz::plan
