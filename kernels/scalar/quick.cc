#include "kernels/scalar/quick.h"

namespace kenaz {

bool scalar_op_is_quick(ScalarOp op) {
  switch (op) {
    case ScalarOp::kPow: return false;
    case ScalarOp::kFloor:
    case ScalarOp::kCeil:
    case ScalarOp::kRound:
    case ScalarOp::kTrunc:
    case ScalarOp::kCopysign:
    case ScalarOp::kIsNan:
    case ScalarOp::kIsInf:
    case ScalarOp::kSelect: return true;
    default: return op < ScalarOp::kSqrt;
  }
}

bool scalar_op_divides(ScalarOp op) {
  return op == ScalarOp::kDiv || op == ScalarOp::kMod || op == ScalarOp::kQuot ||
         op == ScalarOp::kRem;
}

}  // namespace kenaz
