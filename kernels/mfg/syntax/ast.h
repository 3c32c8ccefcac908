// What the parser makes of MFG's text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/diagnostics/source.h"
#include "protocol/prim_type.h"

namespace kenaz::mfg {

struct Exp;
struct Block;
using ExpPtr = std::unique_ptr<Exp>;
using BlockPtr = std::unique_ptr<Block>;

struct Name {
  std::string text;  // "_": none
  SourceRange range;
};

/// For people: what stands in quotes, or $NAME, whose text is in strings.json.
struct Text {
  std::string text;  // or the name
  bool is_name = false;
  SourceRange range;
};

/// A tensor or sampler by name; a layer of the input besides the first one has a number.
struct TensorName {
  Name name;
  std::optional<int> layer;
};

struct Arg {
  Name name;  // empty: by position
  bool splat = false;
  ExpPtr value;
};

struct ENumber {
  PrimValue value;
};
struct EName {
  TensorName name;
};
struct ETuple {
  std::vector<Arg> parts;
};
struct EUnary {
  char op;  // '-' or '!'
  ExpPtr arg;
};
struct EBinary {
  std::string op;
  SourceRange op_range;
  ExpPtr lhs, rhs;
};
/// A function, a tensor or a sampler with arguments; `block`, if it takes one, stands behind.
struct ECall {
  TensorName callee;
  std::vector<Arg> args;
  BlockPtr block;
};
/// Parts of a tuple: "xyzw" or a number.
struct EPick {
  ExpPtr tuple;
  std::string part;
};
/// A method of a tensor: extent, sum, ..
struct EMethod {
  TensorName tensor;
  Name method;
  std::vector<Arg> args;
  BlockPtr block;
};
/// `...` on the right of |>: the value of the left side.
struct EHole {};
struct EPipe {
  ExpPtr lhs, rhs;
};
struct ERange {
  ExpPtr from, to;
};
/// `.ClampToEdge`.
struct EEnum {
  std::string name;
};
/// sampler<t>(..), with a name only as the value of a let.
struct ESampler {
  TensorName tensor;
  std::vector<Arg> args;
};
/// reduce<t>.method(..) |..| {..}.
struct EReduce {
  TensorName tensor;
  Name method;
  std::vector<Arg> args;
  BlockPtr block;
};

struct Exp {
  SourceRange range;
  std::variant<ENumber, EName, ETuple, EUnary, EBinary, ECall, EPick, EMethod, EHole, EPipe, ERange,
               EEnum, ESampler, EReduce>
      node;
  int depth = 1;  // of the tree below
};

struct Param {
  Name name;
  Name type;  // of a function's parameter; empty: any
};

/// @bounds(w, h) def t |x, y| {..}, or def t by EXPRESSION.
struct TensorDef {
  Name name;
  std::vector<ExpPtr> bounds;
  SourceRange bounds_range;                  // no file: there is no @bounds
  BlockPtr block;                            // null: `by`
  std::vector<std::vector<PrimValue>> rows;  // `by` a literal; one row: a tensor of one dimension
  int literal_rank = 0;
  std::string file;  // `by` load("file")
  ExpPtr reduce;     // `by` reduce<..>
};

struct SLet {
  std::vector<Name> names;  // one per component if `tuple`
  bool tuple = false;
  ExpPtr value;
};
struct SDef {
  TensorDef def;
};
/// mut! t(i, j) += v, or = v.
struct SUpdate {
  TensorName tensor;
  std::vector<Arg> index;
  std::string op;
  ExpPtr value;
};
/// mut! trans<t>.method!(..) |..| {..}.
struct STrans {
  TensorName tensor;
  Name method;
  std::vector<Arg> args;
  BlockPtr block;
};
struct SForEach {
  TensorName tensor;
  BlockPtr block;
};
struct Stm {
  SourceRange range;
  std::variant<SLet, SDef, SUpdate, STrans, SForEach> node;
};

struct Block {
  SourceRange range;
  SourceRange end;  // the closing brace
  std::vector<Param> params;
  std::vector<Stm> stms;
  ExpPtr result;  // null in a block that is run for what it changes
};

/// @param_f32 radius(SLIDER, label="Radius", min=0.5, max=9.0, init=3.0)
struct Widget {
  Name type;  // "param_f32"
  Name name;
  Name kind;  // "SLIDER"
  Text label;
  std::vector<Text> items;
  std::vector<PrimValue> init, min, max;  // empty: not said
  SourceRange init_range, min_range, max_range;
};
struct Function {
  Name name;
  BlockPtr block;
};
struct Print {
  ExpPtr value;
};
struct Item {
  SourceRange range;
  std::variant<SLet, TensorDef, Function, Widget, Print> node;
};

struct Filter {
  std::shared_ptr<const SourceFile> file;
  Text title, version;
  std::vector<Item> items;
  SourceRange end;  // of the text
};

}  // namespace kenaz::mfg
