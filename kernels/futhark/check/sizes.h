// Sizes: when two are the same, what an unsolved one is, and which expressions are sizes.
//
// Sizes are unified together with the types that they are part of, not by a pass of their own
// behind inference: lowering needs the sizes that each use of a definition is instantiated with,
// and two solvers of the same equations would come to differ. What can be said of finished
// definitions is in the folder sizes.
//
// A size is one of: a constant; a rigid variable, which is a name in the program or what a value
// turns out to have; a flexible one, to be solved, but only by what is in scope where it belongs
// (its level); an expression over these. Two rigid sizes are the same if they mean the same: a name
// may be known to be equal to something (`Var::means`), and is kept in types all the same.
#pragma once

#include <string>

#include "kernels/futhark/check/comparison.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

class Sizes {
 public:
  /// Both must outlive this.
  Sizes(Variables& vars, Comparison& comparing) : vars_(vars), comparing_(comparing) {}

  // ---- comparing (sizes.cc)
  /// Whether the sizes are the same; solves what is to be found so that they are. If not, the
  /// comparison's mismatch says why, for messages.
  bool unify_size(const Size& a, const Size& b);
  /// Does `s` mention a name from inside a function, branch or loop that `level` is outside of?
  bool too_deep(const Size& s, int level);
  /// The first such name, or an invalid one.
  VarId first_too_deep(const Size& s, int level);
  /// Sees to it that what is to be found in `s` is found in scope of `level`.
  void adjust_level(const Size& s, int level);
  /// For messages: quoted, or "[]" for any size.
  std::string size_text(const Size& s);

  // ---- expressions as sizes (size_of.cc)
  /// The size that this expression of type i64 is. One that nothing can be said of is a new
  /// variable.
  Size size_of(const ExpPtr& e);
  /// The size that this expression of type i64 is in a type that is written: the expression itself,
  /// or a name that means it.
  Size declared_size(const ExpPtr& e);
  /// Can this expression stand inside a type? Only what is cheap, total enough and self-contained.
  bool simple_size(const ExpPtr& e, int depth);
  /// Can another expression be the same size? Not if this one binds names, which are like no
  /// others.
  static bool comparable_size(const ExpPtr& e, int depth = 0);
  /// A copy that is part of a type, and finished with it.
  ExpPtr clean_size(const ExpPtr& e);
  /// A name for the expression, which it means.
  Size name_for(const ExpPtr& e);
  /// A size that is `s`, with a name of its own if `s` is too much for a type.
  Size named_size(const Size& s);
  /// `s`, or a new name for it if a part of it is a name that has no value.
  Size bound_size(const Size& s);
  Size arithmetic(core::Intrinsic op, const Size& a, const Size& b);
  Size difference(const Size& a, const Size& b);
  /// Of `xs[d]`, where `dim` is the size of xs.
  Size slice_size(const core::DimIndex& d, const Size& dim);

 private:
  bool unify_size_exps(const ExpPtr& a, const ExpPtr& b);
  bool mentions_unborn(const Size& s);
  bool size_mismatch(const Size& a, const Size& b);
  bool size_too_deep(VarId flex, const Size& s);
  std::string size_notes(const Size& s);

  Variables& vars_;
  Comparison& comparing_;
};

}  // namespace kenaz::check
