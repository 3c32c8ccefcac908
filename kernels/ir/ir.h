// Array IR: first-order, monomorphic, A-normal form. Arrays hold scalars only; tuples, records,
// sums and functions are gone. Everything after the front end works on this.
//
// Every VarId is bound exactly once in the whole program (inlining and duplication rename), so a
// variable's type is a fact about the program and not about a place in it.
//
// A program is at a stage: as lowered and optimised (soacs), with what is parallel as segmented
// operations that say what runs where (seg.h), or with arrays in memory that they share (places.h).
// The passes for all stages work on the first two.
//
// Values are immutable except that Update, Scatter, Hist and Seg consume the arrays they are given:
// after it, the old name (and whatever aliases it) must not be used. A loop whose body consumes a
// param consumes that param's init; a call consumes what Function::consumed says. A lambda (and the
// body of a Seg, but see there) consumes neither its params nor what is free in it. Everything else
// behaves as if it copied.
//
// Order and failure: a statement may run as soon as its operands and certificates exist; there is
// no other order. `Assert` makes a certificate (a bool); a statement whose safety depends on the
// check lists it in `certs`. An assert that nothing needs may be dropped.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "kernels/ir/notes.h"
#include "kernels/ir/seg.h"
#include "kernels/ir/terms.h"

namespace kenaz::ir {

// ---- expressions

struct EAtom {
  Atom atom;
};  // a scalar or an array: another name for it (aliases)

/// Scalar operation. `type` is the operands' type; `to` is the result's for kConvert/kBitcast.
struct EPrim {
  ScalarOp op;
  PrimType type;
  PrimType to = PrimType::kI32;
  std::vector<Atom> args;
};

/// One dimension of an index or slice; all i64. A range has `len` elements from `start`, `stride`
/// apart (may be negative, or zero in the result of a broadcast).
struct DimFix {
  Atom index;
  friend bool operator==(const DimFix&, const DimFix&) = default;
};
struct DimRange {
  Atom start, len, stride;
  friend bool operator==(const DimRange&, const DimRange&) = default;
};
using Dim = std::variant<DimFix, DimRange>;

/// All dims fixed: a scalar. Otherwise a view: result aliases `array`. Unchecked: the front end
/// emits Asserts and lists them in certs; without a cert the access is known to be in bounds.
struct EIndex {
  VarId array;
  std::vector<Dim> dims;
};
/// In-place: consumes `array`, result is the array with the slice replaced. `value` is a scalar
/// if all dims are fixed, else an array of the slice's shape.
struct EUpdate {
  VarId array;
  std::vector<Dim> dims;
  Atom value;
};

struct EIota {
  Atom n;
  Atom start, stride;
  PrimType type;
};  // [n]type: start + i*stride; n is i64, and the array is empty if it is negative
struct EReplicate {
  std::vector<Atom> dims;
  Atom value;
};  // dims ++ dims of value
struct EScratch {
  PrimType type;
  std::vector<Atom> dims;
};  // unspecified contents
struct EArrayLit {
  std::vector<Atom> elems;
  Type elem_type;
};  // non-empty or empty; rows of elem_type
struct EConcat {
  std::vector<VarId> arrays;
  Atom total;
};  // along dim 0; total outer size
struct ERearrange {
  std::vector<int> perm;
  VarId array;
};  // result dim i = source dim perm[i]; aliases
struct EReshape {
  std::vector<Atom> dims;
  VarId array;
};  // same row-major elements; aliases
struct ECopy {
  VarId array;
};  // fresh

/// The message is the parts in order, values printed in decimal. Fails if cond is false. Binds one
/// bool: the certificate.
struct EAssert {
  Atom cond;
  std::vector<std::variant<std::string, Atom>> message;
};

/// Branches return results of the pattern's types. Sizes that differ between the branches are
/// results themselves, before the arrays that use them.
struct EIf {
  Atom cond;
  Body then_body, else_body;
};

/// for i < bound (i and bound of an integer type; zero or negative bound: no iteration), or while
/// the bool param `cond` holds. Params are updated by body results, one for one; the results of
/// the loop are the final params. Sizes that change are params themselves.
struct LoopFor {
  VarId index;
  Atom bound;
};
struct LoopWhile {
  VarId cond;
};  // one of the params
struct ELoop {
  struct Param {
    VarId var;
    Atom init;
    bool kept = false;  // stage seg: a scalar that stays in device memory from turn to turn
  };
  std::vector<Param> params;
  std::variant<LoopFor, LoopWhile> form;
  Body body;
};

/// Runs a function, which may come to call itself, but no more than so deep: deeper calls fail.
inline constexpr int kMaxCallDepth = 4096;
struct ECall {
  FunId fun;
  std::vector<Atom> args;
};

/// The general data-parallel combinator: for i < width, `map` gets the i-th rows of the inputs.
/// Its results are, in order: operands of the scans, operands of the reductions, plain results.
/// Binds: arrays of the scans (inclusive), values of the reductions, arrays of the plain results.
struct ESoac {
  Atom width;
  std::vector<VarId> inputs;  // outer dim == width
  Lambda map;
  std::vector<Monoid> scans;
  std::vector<Monoid> reduces;
};

/// For i < width: dest[index_i] = value_i; indices out of bounds are ignored. Consumes dests.
/// `map` gets rows of the inputs and returns, per dest: its index components (`index_rank` i64s),
/// then its value.
struct EScatter {
  struct Dest {
    VarId array;
    int index_rank = 1;
  };
  Atom width;
  std::vector<VarId> inputs;
  Lambda map;  // results: all index components of all dests, then all values
  std::vector<Dest> dests;
};

/// Generalised histogram: dest[bin_i] = op(dest[bin_i], value_i). Consumes dests.
struct EHist {
  struct Op {
    std::vector<VarId> dests;
    int index_rank = 1;
    Monoid monoid;
  };
  Atom width;
  std::vector<VarId> inputs;
  Lambda map;  // results: all index components of all ops, then all values
  std::vector<Op> ops;
};

/// Packing: `map` gives each element a class (i32), then values. Binds how many elements each of
/// the classes from 0 to classes - 1 has ([classes]i64), then for each value an array of `width`:
/// those of class 0 in their order, then those of class 1 and so on, then, if `rest`, all others.
/// What stands behind is unspecified. After the pass `packs`: at host level only, with scalar
/// values.
struct EPack {
  Atom width;
  std::vector<VarId> inputs;
  Lambda map;
  int classes = 1;
  bool rest = false;
};

/// So many classes at most.
inline constexpr int kMaxClasses = 2;

/// Sorting: `map` gives each element a key (an unsigned integer), then values. Binds the keys in
/// ascending order, then for each value an array of them in that order; elements of equal keys stay
/// in theirs. After the pass `sorts`: at host level only, with scalar values.
struct ESort {
  Atom width;
  std::vector<VarId> inputs;
  Lambda map;
};

/// Derivative in a direction (forward mode): binds the results of `fun` at `args`, then how they
/// change with the arguments changing by `tangents`. Every value has a tangent of its own type.
struct EJvp {
  Lambda fun;
  std::vector<Atom> args, tangents;
};

/// Derivative seen from the results (reverse mode): binds the results of `fun` at `args`, then what
/// each argument contributes if the results count as `adjoints` say.
struct EVjp {
  Lambda fun;
  std::vector<Atom> args, adjoints;
};

/// The results of `fun` at `args`. In reverse mode, `adjoint` gives the arguments' adjoints: it
/// gets the results and then the adjoints of these.
struct EWithVjp {
  Lambda fun, adjoint;
  std::vector<Atom> args;
};

using Exp =
    std::variant<EAtom, EPrim, EIndex, EUpdate, EIota, EReplicate, EScratch, EArrayLit, EConcat,
                 ERearrange, EReshape, ECopy, EAssert, EIf, ELoop, ECall, ESoac, EScatter, EHist,
                 EPack, ESort, EJvp, EVjp, EWithVjp, ESeg, EVersions, ETune>;

struct Stm {
  std::vector<VarId> pat;
  Exp exp;
  std::vector<VarId> certs;
  ProvId prov;
  /// Attributes that passes and kernels may heed: "unsafe" is already gone; "sequential",
  /// "unroll", "noinline", "opaque", "flattening(..)".
  std::vector<std::string> attrs;
};

struct VarInfo {
  Type type;
  std::string name;  // hint; printed as name_index
  /// Of an array that a statement at host level makes (places.h); null: in memory of its own.
  std::optional<Place> place = std::nullopt;
};

/// Where a statement came from: the source range and the call it was inlined into (outer frame).
struct Provenance {
  SourceRange range;
  ProvId caller;
};

struct Function {
  std::string name;
  /// One per argument; an entry's are the leaves of its parameters in order. A variable that is a
  /// dim of a param's type and neither a param nor a program constant is a size variable: bound
  /// on entry from the shape of the first argument that has it, visible in the body; the other
  /// arguments that have it must agree (a failure of the call if not). The same rule checks dims
  /// that are constants or params.
  std::vector<VarId> params;
  std::vector<bool> consumed;  // per param
  Body body;
  std::vector<Type> ret;  // dims: constants, params, size variables, or ret_size_vars
  /// The first `ret_size_vars.size()` results are i64 sizes that the following results' dims refer
  /// to; in `ret` (which has all results, these too) such a dim is the VarId in `ret_size_vars`.
  std::vector<VarId> ret_size_vars;
};

/// What a call that is one too many says.
std::string too_deep(const Function& f, int depth);

/// An entry point: how a client's values map to a function's parameters and results.
struct Entry {
  std::string name;
  FunId fun;
};

struct Program {
  Stage stage = Stage::kSoacs;
  std::vector<Tune> tunes;              // by TuneId
  std::vector<VarInfo> vars;            // by VarId
  std::vector<Provenance> provenances;  // by ProvId
  std::vector<Note> notes;
  /// Top-level constants: run once when the program is loaded. Its variables that functions use
  /// are visible in every function. `results` lists them.
  Body constants;
  std::vector<Function> functions;  // by FunId; removed ones have an empty name
  std::vector<Entry> entries;

  VarId new_var(Type t, std::string name);
  const Type& type_of(VarId v) const { return vars[v.index].type; }
  Type type_of(const Atom& a) const {
    return a.is_const() ? Type{a.constant().type, {}} : type_of(a.var());
  }
  ProvId new_prov(SourceRange r, ProvId caller);
  /// "-> #0  a.fut:1:2-3\n   #1  ..." for a run-time error, innermost first.
  std::string backtrace(ProvId p) const;
};

}  // namespace kenaz::ir
