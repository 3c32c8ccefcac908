// Generated programs: typed trees whose nodes are pieces of text around children. So the shrinker
// and the printer need not know any construct: each is one function that makes such a node.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/data/value.h"
#include "tests/fuzz/program/type.h"

namespace kenaz::fuzz {

struct Var {
  std::string name;
  Type type;
  /// An i64 that is an index of arrays with this size: 0 <= name < below.
  std::string below = {};
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;  // immutable, so that copies of programs share them

struct Expr {
  Type type;
  const char* rule = "";          // the construct that made it
  std::vector<std::string> text;  // one more than children
  std::vector<ExprPtr> children;
  std::vector<std::vector<Var>> binds;  // what a child may use in addition
  std::set<std::string> uses;           // names in `text` that come from around the node
  bool fixed = false;                   // its parent needs it as it is
};

struct Function {
  std::string name;
  std::vector<std::string> sizes;  // implicit ones: [n]
  std::vector<Var> params;
  Type result;
  ExprPtr body;
};

/// Arguments of one call of the entry point, which is called `main`.
using Input = std::vector<data::Value>;

struct Program {
  std::vector<Type> sums;           // declared types
  std::vector<std::string> decls;   // other declarations, as text
  std::vector<Function> functions;  // the last one is the entry point
  std::vector<bool> tolerant;       // results of main (components, if a tuple) that are rounded
  bool slopes = false;              // main's results are those of slopes.h
  const Function& main() const { return functions.back(); }
};

/// A program and what to run it on.
struct Case {
  Program program;
  std::vector<Input> inputs;
};

std::string text_of(const Expr& e);
std::string text_of(const Program& p);
/// Every name that an expression uses and does not bind.
std::set<std::string> free_names(const Expr& e);
/// How many nodes it has.
size_t size_of(const Expr& e);
/// Names of the rules in a program, sorted.
std::set<std::string> rules_of(const Program& p);

}  // namespace kenaz::fuzz
