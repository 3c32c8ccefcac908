// Patterns. Their names are bound in the current scope as they are met.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

class Patterns : private Part {
 public:
  /// Both must outlive this.
  Patterns(Context& context, TypeExps& types) : Part(context), types_(types) {}

  /// The pattern, for values of type `expected`. `ascribed`: an ascription around it says its type.
  PatPtr pat(const syntax::Pat& p, const TypePtr& expected, bool ascribed = false);
  /// A part of a pattern, to be finished with the definition.
  MutPat make_pat(const SourceRange& range, TypePtr type, decltype(core::Pat::node) node);
  /// `others`: names that are bound together with those of the patterns, with their places.
  using NamedRanges = std::vector<std::pair<std::string, SourceRange>>;
  void check_duplicate_names(const std::vector<const syntax::Pat*>& pats, NamedRanges others = {});

 private:
  PatPtr pat_record(const syntax::Pat& p, const TypePtr& expected, bool ascribed);
  PatPtr pat_constr(const syntax::PatConstr& c, const SourceRange& range, const TypePtr& expected,
                    bool ascribed);
  PatPtr pat_literal(const syntax::Literal& l, const SourceRange& range, const TypePtr& expected);

  TypeExps& types_;
};

}  // namespace kenaz::check
