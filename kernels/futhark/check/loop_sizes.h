// Which sizes of a loop's variables change from one iteration to the next.
#pragma once

#include <utility>
#include <vector>

#include "kernels/futhark/check/sizes.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

class LoopSizes {
 public:
  /// What the size is called in the loop, and what it is at the start.
  using List = std::vector<std::pair<VarId, Size>>;

  /// All must outlive this.
  LoopSizes(Variables& vars, Sizes& sizes, Reports& reports)
      : vars_(vars), sizes_(sizes), reports_(reports) {}

  /// The type of the loop's variables: that of the initial values with every size replaced by one
  /// that the pattern, the form and the body may say more of. Adds these to `sizes`.
  TypePtr type(const TypePtr& init, List& sizes);
  /// To be called when the body's type is that of the loop's variables but for sizes, which are any
  /// size in what was `unknown` of it before. They become sizes that something must determine;
  /// `range` is the loop's.
  void open(const std::vector<core::MetaId>& unknown, const SourceRange& range);
  /// To be called after the body: which of `sizes` may change from one iteration to the next. The
  /// others are what they are at the start.
  /// `outside`: Variables::next_var before the definition that has the loop.
  std::vector<VarId> varying(const TypePtr& pattern, const TypePtr& body, const List& sizes,
                             const SourceRange& range, uint32_t outside);

 private:
  bool keeps(const Size& now, VarId name, const Size& start);

  Variables& vars_;
  Sizes& sizes_;
  Reports& reports_;
};

}  // namespace kenaz::check
