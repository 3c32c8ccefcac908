// Declares each reduction plan's functions, in a namespace of its name.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::reduce {

#define PLAN(name)                                                                \
  namespace name {                                                                \
  bool applies(const plan::Facts&, const program::Target&);                       \
  plan::HostExpr when(const plan::Facts&, const program::Target&);                \
  plan::Work make(const plan::Facts&, const program::Target&, const plan::Bind&); \
  }
#include "kernels/primitives/reduce/plans.def"
#undef PLAN

}  // namespace kenaz::primitives::reduce
