// The abstract syntax of Futhark (0.27/0.28): what the parser produces, nothing resolved yet.
// Nodes own their children. Operators are already arranged by precedence; `x |> f` is a BinOp like
// any other. Every node has the range of text that it came from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "protocol/prim_type.h"

namespace kenaz::syntax {

/// A possibly qualified name, `a.b.x`. Operators use their symbol as name ("+", "|>"); a name
/// bound in backticks or parentheses is stored without them. Negation is the name "-" applied
/// through Negate, never a QualName.
struct QualName {
  std::vector<std::string> quals;
  std::string name;
  SourceRange range;
};

struct Exp;
struct TypeExp;
struct Pat;
struct Dec;
struct ModExp;
struct ModTypeExp;
struct Spec;
using ExpPtr = std::unique_ptr<Exp>;
using TypeExpPtr = std::unique_ptr<TypeExp>;
using PatPtr = std::unique_ptr<Pat>;
using DecPtr = std::unique_ptr<Dec>;
using ModExpPtr = std::unique_ptr<ModExp>;
using ModTypeExpPtr = std::unique_ptr<ModTypeExp>;
using SpecPtr = std::unique_ptr<Spec>;

/// #[name], #[name(args..)] or a bare integer inside arguments.
struct Attr {
  std::string name;  // for an integer atom: its digits
  bool is_integer = false;
  bool has_args = false;
  std::vector<Attr> args;
  SourceRange range;
  std::string str() const;  // "flattening(only_intra)"
};

// ---- literals

/// An integer literal without a suffix: digits up to 2^64-1 are kept; anything larger is a parse
/// error. `negative` only in patterns.
struct IntLit {
  uint64_t value = 0;
  bool negative = false;
};
struct FloatLit {
  double value = 0;
};  // no suffix
struct PrimLit {
  PrimValue value;
};  // with a suffix, or true/false
struct CharLit {
  uint32_t code_point = 0;
};
struct StringLit {
  std::string utf8;
};
using Literal = std::variant<IntLit, FloatLit, PrimLit, CharLit>;

// ---- types

enum class Liftedness { kUnlifted, kSizeLifted /* ~ */, kFullyLifted /* ^ */ };

/// The content of brackets in a type: null = `[]`.
struct SizeExp {
  ExpPtr exp;
  SourceRange range;
};

struct TypeParam {
  enum Kind { kSize, kType } kind = kType;
  Liftedness lifted = Liftedness::kUnlifted;
  std::string name;
  SourceRange range;
};

struct TypeVar {
  QualName name;
};
struct TypeParens {
  TypeExpPtr inner;
};
struct TypeTuple {
  std::vector<TypeExpPtr> elems;
};
struct TypeRecord {
  std::vector<std::pair<std::string, TypeExpPtr>> fields;
};  // source order
struct TypeArray {
  SizeExp size;
  TypeExpPtr elem;
};
struct TypeApply {
  TypeExpPtr fun;
  std::variant<SizeExp, TypeExpPtr> arg;
};
struct TypeArrow {
  std::optional<std::string> param;
  TypeExpPtr from, to;
};
struct TypeSum {
  struct Constructor {
    std::string name;
    std::vector<TypeExpPtr> payload;
  };
  std::vector<Constructor> constructors;
};
struct TypeUnique {
  TypeExpPtr inner;
};  // *t
struct TypeExists {
  std::vector<std::string> sizes;
  TypeExpPtr inner;
};  // ?[n][m].t

struct TypeExp {
  SourceRange range;
  std::variant<TypeVar, TypeParens, TypeTuple, TypeRecord, TypeArray, TypeApply, TypeArrow, TypeSum,
               TypeUnique, TypeExists>
      node;
};

// ---- patterns

struct PatName {
  std::string name;
};
struct PatWildcard {};
struct PatParens {
  PatPtr inner;
};
struct PatTuple {
  std::vector<PatPtr> elems;
};
struct PatRecord {
  struct Field {
    std::string name;
    PatPtr pat;
  };  // pat null: the field binds its own name
  std::vector<Field> fields;
};
struct PatAscript {
  PatPtr inner;
  TypeExpPtr type;
};
struct PatLiteral {
  Literal value;
};
struct PatConstr {
  std::string name;
  std::vector<PatPtr> args;
};
struct PatAttr {
  Attr attr;
  PatPtr inner;
};

struct Pat {
  SourceRange range;
  std::variant<PatName, PatWildcard, PatParens, PatTuple, PatRecord, PatAscript, PatLiteral,
               PatConstr, PatAttr>
      node;
};

// ---- expressions

struct DimIndex {
  bool is_slice = false;
  ExpPtr index;               // !is_slice
  ExpPtr start, end, stride;  // is_slice; each may be null
  SourceRange range;
};

/// One step of an update path: `[i]`, `[1:2, j]` or `.field`.
struct UpdateStep {
  bool is_field = false;
  std::string field;
  std::vector<DimIndex> slice;
};

struct ELiteral {
  Literal value;
};
struct EString {
  StringLit value;
};
struct EVar {
  QualName name;
};  // `a.b` where a may turn out to be a record: the checker decides
struct EHole {};
struct EParens {
  ExpPtr inner;
};
struct EQualParens {
  QualName module;
  ExpPtr inner;
};  // M.(e); module: quals + name
struct ETuple {
  std::vector<ExpPtr> elems;
};  // () is the empty tuple
struct ERecord {
  struct Field {
    std::string name;
    ExpPtr value;
    SourceRange range;
  };  // value null: {x}
  std::vector<Field> fields;
};
struct EArray {
  std::vector<ExpPtr> elems;
};
struct EProject {
  ExpPtr record;
  std::string field;
};  // field "0".. for tuples
struct EIndex {
  ExpPtr array;
  std::vector<DimIndex> slice;
};
struct EConstr {
  std::string name;
  std::vector<ExpPtr> args;
};
struct ENegate {
  ExpPtr operand;
};
struct ENot {
  ExpPtr operand;
};
struct EBinOp {
  QualName op;
  ExpPtr lhs, rhs;
};
struct EApply {
  ExpPtr fun;
  std::vector<ExpPtr> args;
};  // args non-empty
struct ELambda {
  std::vector<PatPtr> params;
  TypeExpPtr ret;
  ExpPtr body;
};  // ret may be null
struct EIf {
  ExpPtr cond, then_branch, else_branch;
};
struct EMatch {
  struct Case {
    PatPtr pat;
    ExpPtr body;
    SourceRange range;
  };
  ExpPtr scrutinee;
  std::vector<Case> cases;
};
struct ELoop {
  enum Form { kFor, kForIn, kWhile };
  PatPtr pat;
  ExpPtr init;  // null: the pattern's own variables
  Form form = kFor;
  std::string index;  // kFor: name
  SourceRange index_range = {};
  PatPtr elem_pat;  // kForIn
  ExpPtr bound;     // kFor: bound; kForIn: array; kWhile: condition
  ExpPtr body;
};
/// `let [n] pat = e in body`
struct ELet {
  std::vector<std::string> sizes;
  PatPtr pat;
  ExpPtr value, body;
};
/// `let f 't [n] p1 p2 : ret = e in body`
struct ELetFun {
  std::string name;
  SourceRange name_range;
  std::vector<TypeParam> tparams;
  std::vector<PatPtr> params;  // non-empty
  TypeExpPtr ret;              // may be null
  ExpPtr value, body;
};
/// `let x[i].f = e in body`: rebinds x.
struct ELetWith {
  std::string name;
  SourceRange name_range;
  std::vector<UpdateStep> path;
  ExpPtr value, body;
};
/// `e with [i].f = v`
struct EUpdate {
  ExpPtr source;
  std::vector<UpdateStep> path;
  ExpPtr value;
};
struct ERange {
  enum End { kInclusive /* ... */, kUpExclusive /* ..< */, kDownExclusive /* ..> */ };
  ExpPtr start, second /* may be null */, end;
  End kind = kInclusive;
};
struct EAscript {
  ExpPtr inner;
  TypeExpPtr type;
};
struct ECoerce {
  ExpPtr inner;
  TypeExpPtr type;
};
struct EAssert {
  ExpPtr cond, body;
};
struct EAttr {
  Attr attr;
  ExpPtr inner;
};
struct EOpSection {
  QualName op;
};  // (+)
struct EOpSectionLeft {
  QualName op;
  ExpPtr operand;
};  // (x +)
struct EOpSectionRight {
  QualName op;
  ExpPtr operand;
};  // (+ x)
struct EPathSection {
  std::vector<UpdateStep> path;
};  // (.a.b), (.[i, 2:3].x)

struct Exp {
  SourceRange range;
  std::variant<ELiteral, EString, EVar, EHole, EParens, EQualParens, ETuple, ERecord, EArray,
               EProject, EIndex, EConstr, ENegate, ENot, EBinOp, EApply, ELambda, EIf, EMatch,
               ELoop, ELet, ELetFun, ELetWith, EUpdate, ERange, EAscript, ECoerce, EAssert, EAttr,
               EOpSection, EOpSectionLeft, EOpSectionRight, EPathSection>
      node;
};

/// The expression as Futhark prints it in `Assertion is false: ...`: spaces round operators, the
/// source's parentheses kept.
std::string pretty(const Exp& e);
std::string pretty(const TypeExp& t);

// ---- modules

struct TypeBind {
  std::string name;
  Liftedness lifted = Liftedness::kUnlifted;
  std::vector<TypeParam> params;
  TypeExpPtr type;
  SourceRange name_range = {};
};

struct ModTypeVar {
  QualName name;
};
struct ModTypeParens {
  ModTypeExpPtr inner;
};
struct ModTypeSpecs {
  std::vector<SpecPtr> specs;
};
struct ModTypeWith {
  ModTypeExpPtr base;
  QualName name;
  std::vector<TypeParam> params;
  TypeExpPtr type;
};
struct ModTypeArrow {
  std::optional<std::string> param;
  ModTypeExpPtr from, to;
};
struct ModTypeExp {
  SourceRange range;
  std::variant<ModTypeVar, ModTypeParens, ModTypeSpecs, ModTypeWith, ModTypeArrow> node;
};

struct SpecVal {
  std::string name;
  std::vector<TypeParam> params;
  TypeExpPtr type;
  SourceRange name_range = {};
  std::optional<std::string> doc = {};
};
struct SpecTypeAbbr {
  TypeBind bind;
};
struct SpecType {
  std::string name;
  Liftedness lifted;
  std::vector<TypeParam> params;
  SourceRange name_range = {};
};
struct SpecMod {
  std::string name;
  ModTypeExpPtr type;
  SourceRange name_range = {};
};
struct SpecInclude {
  ModTypeExpPtr type;
};
struct Spec {
  SourceRange range;
  std::vector<Attr> attrs;
  std::variant<SpecVal, SpecTypeAbbr, SpecType, SpecMod, SpecInclude> node;
};

struct ModParam {
  std::string name;
  ModTypeExpPtr type;
  SourceRange range;
  SourceRange name_range = {};
};

struct ModVar {
  QualName name;
};
struct ModParens {
  ModExpPtr inner;
};
struct ModDecs {
  std::vector<DecPtr> decs;
};
struct ModImport {
  std::string path;
};
struct ModApply {
  ModExpPtr fun, arg;
};
struct ModAscript {
  ModExpPtr inner;
  ModTypeExpPtr type;
};
struct ModLambda {
  ModParam param;
  ModTypeExpPtr ret; /* may be null */
  ModExpPtr body;
};
struct ModExp {
  SourceRange range;
  std::variant<ModVar, ModParens, ModDecs, ModImport, ModApply, ModAscript, ModLambda> node;
};

// ---- declarations

struct DecVal {
  bool is_entry = false;  // `entry`; an unqualified `main` is one too, which the checker decides
  std::string name;       // an operator for `def x +++ y = ..`
  SourceRange name_range;
  std::vector<TypeParam> tparams;
  std::vector<PatPtr> params;
  TypeExpPtr ret;  // may be null
  ExpPtr body;
};
struct DecType {
  TypeBind bind;
};
struct DecModType {
  std::string name;
  ModTypeExpPtr type;
  SourceRange name_range = {};
};
struct DecMod {
  std::string name;
  std::vector<ModParam> params;
  ModTypeExpPtr ret;
  ModExpPtr body;
  SourceRange name_range = {};
};
struct DecOpen {
  ModExpPtr mod;
};
struct DecImport {
  std::string path;
};
struct DecLocal {
  DecPtr inner;
};
struct Dec {
  SourceRange range;
  std::vector<Attr> attrs;
  std::optional<std::string> doc;
  std::variant<DecVal, DecType, DecModType, DecMod, DecOpen, DecImport, DecLocal> node;
};

/// One file.
struct Program {
  std::vector<DecPtr> decs;
};

}  // namespace kenaz::syntax
