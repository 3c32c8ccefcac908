// From inference to finished core, when all of a definition has been checked: solved variables
// replaced, literals encoded, existential sizes listed.
#pragma once

#include <vector>

#include "kernels/futhark/check/fn_state.h"
#include "kernels/futhark/check/infer.h"

namespace kenaz::check {

class Finishing {
 public:
  /// `program` gets the sizes that are expressions. All must outlive this.
  Finishing(core::Checked& program, Variables& vars, Inference& infer, const Comparison& comparing,
            Reports& reports)
      : program_(program), vars_(vars), infer_(infer), comparing_(comparing), reports_(reports) {}

  /// Finishes all that `fn` has pending, unless there is an error. Reports literals that their
  /// types cannot hold, and patterns and matches that do not fit every value.
  void finish(FnState& fn);
  /// Overloaded types among `types` take their default, before the definition of this name is
  /// generalised. Warns of it if there was a choice.
  void default_constrained(const std::vector<TypePtr>& types, const SourceRange& name,
                           const FnState& fn);

 private:
  void finish_exp(PendingExp& p);
  ExpPtr finished_size(const ExpPtr& e);
  PrimValue finish_literal(const PrimValue& v, bool negative, const TypePtr& type,
                           const SourceRange& range);
  void check_coverage(const FnState& fn);
  void warn_of_defaults(const std::vector<core::MetaId>& metas, const SourceRange& name,
                        const FnState& fn);

  core::Checked& program_;
  Variables& vars_;
  Inference& infer_;
  const Comparison& comparing_;
  Reports& reports_;
};

}  // namespace kenaz::check
