#include "kernels/kir/kir.h"

namespace kenaz::kir {

bool has_usual_form(ScalarOp op, PrimType type) {
  if (type != PrimType::kF32) return false;
  switch (op) {
    case ScalarOp::kDiv:
    case ScalarOp::kSqrt:
    case ScalarOp::kExp:
    case ScalarOp::kLog:
    case ScalarOp::kPow:
    case ScalarOp::kSin:
    case ScalarOp::kCos: return true;
    default: return false;
  }
}

}  // namespace kenaz::kir
