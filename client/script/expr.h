// FutharkScript: expressions that call a program's entry points to make test inputs.
//
//   mkdata 100i64    (2f32, $loaddata "x.in")    let a = [1.0, 2.0] in (a, a)    {x = 1, y = f 2}.x
//
// Ours: values of sum types, #circle 1.0 [2, 3].
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/data/value.h"

namespace kenaz::script {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Constant {
  data::Value value;    // as it is where no type is asked for
  std::string written;  // read again as the type that is asked for; empty: the value has its type
};
struct Text {
  std::string text;
};
/// A variable, or a call: of an entry point, or of a builtin if the name starts with '$'.
struct Apply {
  std::string name;
  std::vector<ExprPtr> args;
};
struct TupleExpr {
  std::vector<ExprPtr> parts;
};
struct RecordExpr {
  std::vector<std::pair<std::string, ExprPtr>> fields;
};
/// A value of a sum type.
struct Construct {
  std::string name;  // without the '#'
  std::vector<ExprPtr> payload;
};
struct Field {
  ExprPtr record;
  std::string name;
};
/// With several names: takes a tuple apart.
struct Let {
  std::vector<std::string> names;
  ExprPtr bound, body;
};

struct Expr {
  std::variant<Constant, Text, Apply, TupleExpr, RecordExpr, Construct, Field, Let> node;
};

/// Nesting is bounded, so neither parsing nor evaluation can run out of stack.
Result<ExprPtr> parse(std::string_view text);

}  // namespace kenaz::script
