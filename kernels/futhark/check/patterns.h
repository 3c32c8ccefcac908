// Patterns. Their names are bound in the current scope as they are met.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/futhark/check/fn_state.h"
#include "kernels/futhark/check/naming.h"
#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

class Patterns {
 public:
  /// All must outlive this.
  Patterns(Variables& vars, Inference& infer, Reports& reports, Naming& naming, TypeExps& types,
           Current& fn)
      : vars_(vars), infer_(infer), reports_(reports), naming_(naming), types_(types), fn_(fn) {}

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

  Variables& vars_;
  Inference& infer_;
  Reports& reports_;
  Naming& naming_;
  TypeExps& types_;
  Current& fn_;
};

}  // namespace kenaz::check
