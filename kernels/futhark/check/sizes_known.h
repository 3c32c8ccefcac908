// Whether the sizes in the type of a definition are known where they must be: to its callers, and
// before values of these sizes are made. Each function reports what is wrong, in the order in which
// they are to be called: the first when the result's declared type is known, the next two when
// the definition has been generalised, the others when it ends.
#pragma once

#include <functional>
#include <unordered_set>
#include <vector>

#include "kernels/futhark/check/infer.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

/// An operator that is applied to one operand.
struct Section {
  ExpPtr op;
  uint32_t start = 0, end = 0;  // variables made while checking the operand
};

class KnownSizes {
 public:
  /// All must outlive this.
  KnownSizes(Variables& vars, Inference& infer, Reports& reports)
      : vars_(vars), infer_(infer), reports_(reports) {}

  /// A declared result may only mention what callers know: parameters, not parts of them.
  void check_accessible(const std::vector<PatPtr>& params, const TypePtr& ret,
                        const SourceRange& range);
  /// Each size parameter of `def`, which has been declared with `tparams`, must be in its type.
  void check_used(const core::Def& def, const std::vector<syntax::TypeParam>& tparams);
  /// A function in the result of `def` may not have a parameter of a size that callers cannot know,
  /// and a value that stands for any size may not have one of its own. `start`: Variables::next_var
  /// before the definition.
  void check_generalised(const core::Def& def, size_t params, uint32_t start,
                         const SourceRange& range);
  /// Is there a size that neither inference nor generalisation has given a meaning?
  void check_open(const std::vector<OpenSize>& sizes);
  /// The operator of a section is made before its operand is evaluated.
  void check_sections(const std::vector<Section>& sections);
  /// Is this a size that is known only when a value of that size is?
  bool is_unknown(VarId v) const;

 private:
  static VarId unknown_in_parameter(const TypePtr& type, std::unordered_set<VarId> known,
                                    const std::function<bool(VarId)>& is_own);

  Variables& vars_;
  Inference& infer_;
  Reports& reports_;
};

}  // namespace kenaz::check
