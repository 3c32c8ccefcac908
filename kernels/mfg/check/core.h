// Checked MFG: what the checker makes of the syntax and what lowering reads.
//
// Functions are gone (a call is a block), and so are samplers (their reads are spelled out), named
// arguments, pipes, splats and broadcasts of types: operands have the types that an operation is
// done at. Every variable and tensor has a number of its own. Expressions have no effects, so each
// stands for its value; what changes local tensors are statements.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/diagnostics/diagnostic.h"
#include "kernels/mfg/check/type.h"
#include "kernels/scalar/ops.h"
#include "protocol/base/ids.h"

namespace kenaz::mfg {

using VarId = Id<struct MfgVarTag>;
using TensorId = Id<struct MfgTensorTag>;

struct CExp;
using CExpPtr = std::shared_ptr<const CExp>;
struct CStm;

struct CBody {
  std::vector<CStm> stms;
  CExpPtr result;  // null where a block is run for what it changes
};

struct CConst {
  PrimValue value;
};
struct CVar {
  VarId var;
};
/// The components of all parts, one after the other.
struct CTuple {
  std::vector<CExpPtr> parts;
};
struct CPick {
  CExpPtr tuple;
  std::vector<int> indices;
};
/// To the types of the expression, component by component. Floats that do not fit an integer give
/// the nearest that there is, a NaN 0.
struct CConvert {
  CExpPtr value;
};
/// Component by component; a scalar operand goes with each. Truth values become 0 or 1.
struct CPrim {
  ScalarOp op;
  std::vector<CExpPtr> args;
};
/// kAnd, kOr (two operands), kNot (one) of truth values.
struct CLogic {
  ScalarOp op;
  std::vector<CExpPtr> args;
};
/// `cond` is an integer, or one per component.
struct CSelect {
  CExpPtr cond, a, b;
};
struct CBlock {
  CBody body;
};
struct CRange {
  CExpPtr from, to;  // i32
};
/// For all indices, of the last range outermost: acc = body. With `sum`: acc = acc + body, where
/// body does not see acc.
struct CLoop {
  std::vector<CRange> ranges;
  std::vector<VarId> indices;
  VarId acc;
  CExpPtr init;
  CBody body;
  bool sum = false;
};
/// The sum over all elements, rows one after the other.
struct CTensorSum {
  TensorId tensor;
  std::vector<VarId> indices;
  VarId value;
  CBody body;
};
enum class Outside : uint8_t { kFlat, kEdge, kInside };
/// One element. Where the place is outside: the position in the elements one row after the other,
/// clamped; each coordinate, clamped; or it never is.
struct CRead {
  TensorId tensor;
  std::vector<CExpPtr> at;  // i32
  Outside outside;
};
struct CExtent {
  TensorId tensor;
  int dim;
};  // i32
/// In [0, 1), another one at every element, in every iteration and at every place in the program.
struct CRand {};
/// A reduction of a tensor of one dimension: see CReduceTo.
struct CReduce {
  TensorId source;
  CExpPtr init;
  std::vector<VarId> indices;
  VarId value, acc;  // acc not valid: the first index for which body is not 0
  CBody body;
};

struct CExp {
  Type type;
  SourceRange range;
  std::variant<CConst, CVar, CTuple, CPick, CConvert, CPrim, CLogic, CSelect, CBlock, CLoop,
               CTensorSum, CRead, CExtent, CRand, CReduce>
      node;
};

struct CLet {
  VarId var;
  CExpPtr value;
};
/// A tensor's elements, one by one.
struct CDef {
  TensorId tensor;
  std::vector<CExpPtr> bounds;  // i32
  std::vector<VarId> indices;
  CBody body;
};
struct CLiteral {
  TensorId tensor;
  std::vector<PrimValue> values;  // one row after the other
  int64_t width, height;          // height 1 and rank 1, or rank 2
};
/// `tensor`, of one dimension, is `source` without dimension `dim`.
struct CReduceTo {
  TensorId tensor;
  int dim;
  CReduce reduce;
};
struct CUpdate {
  TensorId tensor;
  std::vector<CExpPtr> at;
  CExpPtr value;
  bool add;
};
struct CSort {
  TensorId tensor;
};
/// Along `dim`, from the second element: element = body(indices, element, element before).
struct CAccumulate {
  TensorId tensor;
  int dim;
  std::vector<VarId> indices;
  VarId value, acc;
  CBody body;
};
struct CForEach {
  TensorId tensor;
  std::vector<VarId> indices;
  VarId value;
  CBody body;
};
struct CStm {
  SourceRange range;
  std::variant<CLet, CDef, CLiteral, CReduceTo, CUpdate, CSort, CAccumulate, CForEach> node;
};

struct VarInfo {
  std::string name;
  Type type;
};
struct TensorInfo {
  enum Kind : uint8_t { kInput, kTexture, kGlobal, kLocal } kind = kGlobal;
  std::string name;
  SourceRange range;
  Type elem;
  int rank = 2;
  int depth = 8, layer = 0;    // kInput: bits per component
  std::string file;            // kTexture
  std::vector<int64_t> sizes;  // kLocal: width, height
};

/// What a client chooses.
struct ParamInfo {
  std::string name;
  VarId var;
  std::vector<PrimValue> init, min, max;  // min and max empty: any
  std::string widget, label;
  std::vector<std::string> items;
};

/// A filter: what one call computes, and what it needs for that.
struct CFilter {
  std::string name, title, version;
  std::vector<VarInfo> vars;        // by VarId
  std::vector<TensorInfo> tensors;  // by TensorId
  std::vector<ParamInfo> params;
  std::vector<int> layers;  // besides 0, ascending
  std::vector<CStm> stms;   // the last one defines the result
  TensorId result;
  int depth = 8;  // of the result, and of what clients give as input
  std::vector<Diagnostic> warnings;
};

}  // namespace kenaz::mfg
