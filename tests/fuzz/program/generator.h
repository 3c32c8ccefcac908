// Random well-typed programs, directed by types: gen() is asked for an expression of a type and
// lets one of the productions (productions.def) make it. Everything follows from the seed.
#pragma once

#include <random>

#include "tests/fuzz/program/expr.h"

namespace kenaz::fuzz {

/// What an expression may use.
struct Scope {
  std::vector<Var> vars;
  std::vector<std::string> sizes;   // names of i64 variables that may stand in types
  std::vector<std::string> volume;  // sizes of the combinators and loops around
};

struct GeneratorOptions {
  int fuel = 60;                // about how many nodes an entry point has
  std::set<std::string> avoid;  // productions that are switched off
  bool slopes = false;          // programs are functions of f64 and their derivatives
};

/// An operator with the facts that reduce and scan rely on: associative, and `neutral` is neutral
/// for all values that `prepare` (a function's text; may be empty) lets through.
struct Operator {
  std::string op, neutral, prepare;
  bool commutative = true;
};

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options);
  Case make_case();

  // ---- for productions
  /// An expression of the type. `fuel` is about how many nodes it may have.
  ExprPtr gen(const Type& type, const Scope& scope, int fuel);
  /// The simplest expression of the type.
  ExprPtr simplest(const Type& type);
  ExprPtr literal(PrimType type);
  /// A scalar of the type, from one of any other.
  ExprPtr converted(const ExprPtr& e, const Type& type);
  /// An i64 that is an index of arrays of that size, mostly. Sometimes only if the size is not
  /// zero: then `*guarded` is set.
  ExprPtr index(const std::string& size, const Scope& scope, int fuel, bool* guarded);
  std::optional<Operator> operator_for(const Type& type);

  uint64_t below(uint64_t n) { return n == 0 ? 0 : random_() % n; }
  bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  /// No type's name: a variable i8 would hide the module.
  std::string fresh(const char* prefix) {
    std::string name;
    do name = prefix + std::to_string(next_name_++);
    while (prim_from_name(name));
    return name;
  }
  std::string any_size(const Scope& scope);
  PrimType any_prim();
  PrimType any_int();
  Type scalar() { return Type::of(any_prim()); }
  /// A type of values; arrays have sizes that are in scope.
  Type any_type(const Scope& scope);
  /// A type that may be an element of an array: no sizes but those in scope.
  Type element_type(const Scope& scope, int rank);
  /// Remembers that so many elements are computed; inputs are chosen such that it stays feasible.
  void note_volume(const Scope& scope, const Type& type);
  /// A declaration that the program then has, once, before its functions.
  void declare(const std::string& text);
  bool of_slopes() const { return options_.slopes; }
  const std::vector<Function>& functions() const { return functions_; }
  const std::vector<Type>& sums() const { return sums_; }

 private:
  friend class InputMaker;
  ExprPtr leaf(const Type& type, const Scope& scope);
  ExprPtr scalar_leaf(const Type& type, const Scope& scope);
  ExprPtr array_leaf(const Type& type, const Scope& scope);
  ExprPtr rounded(const Type& type, const Scope& scope, int fuel);
  Type make_sum();
  Function make_function(int number);
  Function make_main(std::vector<bool>& tolerant);
  Function make_slopes();

  std::mt19937_64 random_;
  GeneratorOptions options_;
  int next_name_ = 0;
  std::vector<Type> sums_;
  std::vector<std::string> decls_;
  std::vector<Function> functions_;
  std::vector<PrimType> palette_;  // a program has few types, so that what it has fits together
  std::set<std::vector<std::string>> volumes_;
};

/// `scope` with more variables, or with a variable that may stand in types.
Scope with(Scope scope, const std::vector<Var>& vars);
Scope with_size(Scope scope, const std::string& size);
/// Inside something that runs `size` times.
Scope times(Scope scope, const std::string& size);

/// Puts a node together, from left to right.
class Make {
 public:
  Make(const char* rule, Type type);
  Make& t(const std::string& text);
  /// A name from around the node, or a number.
  Make& name(const std::string& name);
  Make& type(const Type& type);
  /// A lambda's parameter, with its type where that has arrays. The arguments that come after the
  /// lambda would tell their sizes too late: a branch of `if` in the body that takes its size from
  /// the parameter, and another that has the same size by name, would count as different.
  Make& param(const Var& v);
  /// A name that t() was given.
  Make& uses(const std::string& name);
  Make& child(ExprPtr e, std::vector<Var> binds = {});
  ExprPtr done();

 private:
  std::shared_ptr<Expr> e_;
};

/// One construct: makes an expression of the type, or null if it cannot.
struct Production {
  const char* name;
  int weight;
  ExprPtr (*make)(Generator&, const Type&, const Scope&, int fuel);
};

#define PRODUCTION(name, weight) ExprPtr make_##name(Generator&, const Type&, const Scope&, int);
#include "tests/fuzz/program/productions.def"
#undef PRODUCTION

}  // namespace kenaz::fuzz
