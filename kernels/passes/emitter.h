// Code for terms.
#pragma once

#include <map>
#include <vector>

#include "kernels/passes/classes.h"

namespace kenaz::passes {

/// Code for terms in a function on rows of arrays.
class Emitter {
 public:
  explicit Emitter(const ir::Terms& terms) : terms_(terms) {}

  /// Notes the arrays that the term needs rows of. False if there is no code for it.
  bool needs(ir::TermId t);
  bool is_row(ir::TermId t, ir::VarId array) const;
  const std::vector<ir::VarId>& rows() const { return rows_; }
  const std::vector<ir::VarId>& outside() const { return outside_; }

  /// The rows are the function's parameters.
  ir::Atom emit(ir::Builder& b, const std::vector<ir::VarId>& params, ir::TermId t);

 private:
  bool look_at(ir::TermId t);

  const ir::Terms& terms_;
  std::vector<ir::VarId> rows_, outside_;
  std::map<ir::TermId, bool> needed_;
  std::map<ir::TermId, ir::Atom> made_;
};

/// The class of an element whose rows are the parameters, as a number of the type.
ir::Atom class_of(ir::Builder& b, const std::vector<ir::VarId>& params, const Classes& classes,
                  Emitter& emitter, PrimType type);

}  // namespace kenaz::passes
