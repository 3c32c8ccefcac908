// Checked Futhark: what the checker makes of the syntax and what lowering reads.
//
// Modules are gone: the checker elaborates them, re-checking the body of a functor at each
// application, so every definition here is a top-level value with an identity of its own.
// Overloading is resolved, literals have their types, sections and update paths are spelled out.
// Still there: polymorphism (a Var carries the type and size arguments of its instance),
// higher-order functions, records, sums, patterns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/futhark/core/type.h"
#include "protocol/value_type.h"

namespace kenaz::core {

/// Built-in functions; see intrinsics.def for names and types.
enum class Intrinsic : uint16_t {
#define INTRINSIC(e, name, constraint, type) e,
#include "kernels/futhark/core/intrinsics.def"
#undef INTRINSIC
};

struct Pat;
using PatPtr = std::shared_ptr<const Pat>;

/// `ascribed`: the type was written, so that what it does not call unique may not be consumed.
struct PBind {
  VarId id;
  bool ascribed = false;
};
struct PWildcard {};
struct PRecord {
  std::vector<std::pair<std::string, PatPtr>> fields;
};  // all fields, type's order
struct PLit {
  PrimValue value;
};
struct PConstr {
  std::string name;
  std::vector<PatPtr> args;
};
/// `type` may contain size variables that have no value yet: the pattern binds them, from the shape
/// of what is matched.
struct Pat {
  TypePtr type;
  SourceRange range;
  std::variant<PBind, PWildcard, PRecord, PLit, PConstr> node;
};

struct Attr {
  std::string name;
  std::vector<Attr> args;
  std::string str() const;
};

struct Def;
using DefPtr = std::shared_ptr<const Def>;

struct DimIndex {
  ExpPtr index;               // a single index, or null: a slice
  ExpPtr start, end, stride;  // each may be null; i64 (other integer types are sign- or
                              // zero-extended by the checker with kToI64)
};

struct ELit {
  PrimValue value;
};
struct EString {
  std::string bytes;
};  // type [n]u8
/// Use of a variable or definition. targs and sargs instantiate its definition's type and size
/// parameters, in order; both empty for a monomorphic one. A size argument may be kAny where
/// inference found nothing, or (rarely) mention a variable that is not in scope here: then the
/// shape of the arguments decides. Where both are there the arguments' shapes win. In an EApply the
/// instance of the function may mention sizes that the operands' and the application's own `ext`
/// introduce: read it after the operands. A size that is an expression (kExp) may cost something:
/// evaluate it only where no shape tells.
/// Types of the node and of the definition may differ by abstract types and what they stand for.
/// `narrowed`: seen through a module type, which may say less of its type than is known here.
struct EVar {
  VarId id;
  std::vector<TypePtr> targs;
  std::vector<Size> sargs;
  bool narrowed = false;
};
struct EIntrinsic {
  Intrinsic op;
  std::vector<TypePtr> targs;
  std::vector<Size> sargs;
};
/// `result_declared`: the type of the result was written.
struct ELambda {
  std::vector<PatPtr> params;
  ExpPtr body;
  bool result_declared = false;
};
struct EApply {
  ExpPtr fun;
  std::vector<ExpPtr> args;
};
/// `sizes`: let [n] binders.
struct ELet {
  std::vector<VarId> sizes;
  PatPtr pat;
  ExpPtr value, body;
};
/// A local definition: a function, possibly polymorphic by explicit parameters.
struct ELetDef {
  DefPtr def;
  ExpPtr body;
};
struct EIf {
  ExpPtr cond, then_branch, else_branch;
};  // also && and ||
struct EMatch {
  ExpPtr scrutinee;
  std::vector<std::pair<PatPtr, ExpPtr>> cases;
};
struct ELoop {
  enum Form : uint8_t { kFor, kForIn, kWhile };
  /// Sizes of the pattern (dimensions by themselves) that may change from one iteration to the
  /// next: each iteration binds them anew. The result of the loop has them, or others, in `ext`.
  std::vector<VarId> sizes;
  PatPtr pat;
  ExpPtr init;
  Form form = kFor;
  VarId index;      // kFor: bound has the same integer type
  PatPtr elem_pat;  // kForIn
  ExpPtr bound;     // kFor: bound; kForIn: array; kWhile: condition
  ExpPtr body;
};
struct ERecord {
  std::vector<std::pair<std::string, ExpPtr>> fields;
};  // source order; tuples too
struct EProject {
  ExpPtr record;
  std::string field;
};
/// `nested`, here and in EUpdate: of several steps, as in `x with a[i].b = v`, not the last one.
/// Then `value` is the update of this part of the same record or array.
struct ERecordUpdate {
  ExpPtr record;
  std::string field;
  ExpPtr value;
  bool nested = false;
};
struct EArray {
  std::vector<ExpPtr> elems;
};
struct EIndex {
  ExpPtr array;
  std::vector<DimIndex> dims;
};
struct EUpdate {
  ExpPtr array;
  std::vector<DimIndex> dims;
  ExpPtr value;
  bool nested = false;
};  // consumes array
struct ERange {
  enum End : uint8_t { kInclusive, kUpExclusive, kDownExclusive };
  ExpPtr start, second /* may be null */, end;
  End kind = kInclusive;
};
/// `:>`: the node's type is the target; its sizes are checked at run time against the value.
/// `type_text` is the written type, for the message.
struct ECoerce {
  ExpPtr inner;
  std::string type_text;
};
struct EConstr {
  std::string name;
  std::vector<ExpPtr> args;
};
struct EAssert {
  ExpPtr cond, body;
  std::string text;
};  // text: the condition as printed
struct EHole {};
struct EAttr {
  Attr attr;
  ExpPtr inner;
};

struct Exp {
  TypePtr type;
  SourceRange range;
  /// Size variables that this expression's type mentions and that come from inside it (results of
  /// applications, ranges, slices, ifs with differing branches; names bound by a let inside): they
  /// get their values from the shape of the result. An application of an operand that has such
  /// sizes lists them again if its own type mentions them: same variable, same value. They are in
  /// scope in everything evaluated later: further operands, the let body. Never on an ELambda.
  std::vector<VarId> ext;
  std::variant<ELit, EString, EVar, EIntrinsic, ELambda, EApply, ELet, ELetDef, EIf, EMatch, ELoop,
               ERecord, EProject, ERecordUpdate, EArray, EIndex, EUpdate, ERange, ECoerce, EConstr,
               EAssert, EHole, EAttr>
      node;
};

/// A value definition, top-level or local. A function's body is an ELambda (or any expression of
/// function type). In a recursive definition the body mentions `id`. The type of a constant may
/// mention sizes that nothing else binds: its value's shape does, once it has been evaluated; they
/// are in scope in everything that follows.
struct Def {
  VarId id;
  std::string name;  // as written, unqualified
  std::vector<TyVarId> tparams;
  std::vector<VarId> sparams;
  TypePtr type;
  ExpPtr body;
  bool recursive = false;
  bool type_declared = false;  // the type of the constant, or of the function's result, was written
  std::vector<Attr> attrs;
  SourceRange range;
};

struct AbstractType {
  std::string name;
  std::vector<std::variant<TyVarId, VarId>> params;  // type and size parameters
  TypePtr repr;                                      // in terms of params; lowering looks through
};

/// `params` may be more than the definition's lambda has: it returns a function of the rest.
struct EntryPoint : kenaz::EntryPoint {
  VarId def;
};

struct Checked {
  std::vector<DefPtr> defs;                  // every definition precedes its uses (prelude first)
  std::vector<std::string> var_names;        // by VarId: as written, for messages and IR names
  std::vector<AbstractType> abstract_types;  // by AbstractId
  std::vector<EntryPoint> entries;           // sorted by name
  TypeTable types;                           // every type that entries mention
  std::vector<Diagnostic> warnings;
  /// Names of sizes that are expressions: what computes them where there is no value to look at.
  std::unordered_map<VarId, ExpPtr> computed_sizes;
};

}  // namespace kenaz::core
