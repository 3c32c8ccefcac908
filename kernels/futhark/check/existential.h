// Types as they are seen from outside of the expression, branch or function that made them: what is
// not known there is existential.
//
// In all of this, `start` is Variables::next_var before the expression was checked: sizes made
// since then are its own.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "kernels/futhark/check/infer.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

class Existentials {
 public:
  /// All must outlive this.
  Existentials(Variables& vars, Sizes& sizes, Inference& infer, Reports& reports)
      : vars_(vars), sizes_(sizes), infer_(infer), reports_(reports) {}

  /// `t` as seen from outside an expression: a size computed from its own variables becomes a new,
  /// existential one. (A size that is such a variable may stay: it is existential itself.)
  /// Variables in `keep` are known outside. `same_body`: so are the sizes that values turned out to
  /// have, for it is only the scope of names that ends.
  TypePtr hide(const TypePtr& t, uint32_t start, const std::unordered_set<VarId>* keep = nullptr,
               bool same_body = false);
  /// The type of `if c then a else b`, when a and b have been unified: a size in which they differ
  /// is a new, existential one.
  TypePtr join(const TypePtr& a, const TypePtr& b);
  /// A function type that is a result: what sizes made since `start` its own results have, they
  /// have existentially, except those in `bound`.
  TypePtr close_arrow(const TypePtr& t, uint32_t start, std::unordered_set<VarId> bound);
  /// The type of a function with these parameters. `ext`: existential sizes that the result's type
  /// declares; without any, they are the sizes made since `start` that are no parameters.
  TypePtr arrow_type(const std::vector<PatPtr>& params, TypePtr ret, uint32_t start,
                     std::vector<VarId> ext);
  /// The declared type of a function's result after its body: open sizes are those that the body
  /// has. What it leaves open, too, is generalised at top level; elsewhere it is existential, and
  /// `ext` becomes these.
  TypePtr settle_result(const TypePtr& ret, std::vector<VarId>& ext, bool top);
  /// The type of an application in which the sizes that are existential in what a type variable
  /// stands for have become sizes of this result, or of the results of functions in it. Reports an
  /// error, which starts with `what`, if a parameter would have such a size.
  TypePtr release_absorbed(const TypePtr& t, const SourceRange& range, const std::string& what);

 private:
  TypePtr with_witnesses(const TypePtr& t);
  TypePtr known_outside(const TypePtr& t, uint32_t start, const std::unordered_set<VarId>& bound);

  Variables& vars_;
  Sizes& sizes_;
  Inference& infer_;
  Reports& reports_;
};

}  // namespace kenaz::check
