#include "kernels/scalar/ops.h"

#include "kernels/scalar/table.h"
#include "protocol/base/check.h"

namespace kenaz {
namespace {

using namespace scalar;  // NOLINT(google-build-using-namespace): its table's columns

struct OfOne {
  using Fn = ScalarFn;
  template <ScalarFn fn>
  static constexpr Fn of() {
    return fn;
  }
};

}  // namespace

std::string_view scalar_op_name(ScalarOp op) { return kOps[static_cast<int>(op)].name; }

std::optional<ScalarOp> scalar_op_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    if (kOps[i].name == name) return static_cast<ScalarOp>(i);
  }
  return std::nullopt;
}

int scalar_op_arity(ScalarOp op) { return kOps[static_cast<int>(op)].arity; }

bool scalar_op_accepts(ScalarOp op, PrimType t) {
  return in_domain(kOps[static_cast<int>(op)].domain, t);
}

bool scalar_op_associates(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kMul:
    case ScalarOp::kMin:
    case ScalarOp::kMax:
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor: return true;
    default: return false;
  }
}

bool scalar_op_commutes(ScalarOp op) {
  return scalar_op_associates(op) || op == ScalarOp::kEq || op == ScalarOp::kNe ||
         op == ScalarOp::kMulHi;
}

PrimType scalar_op_result(ScalarOp op, PrimType t, PrimType to) {
  switch (kOps[static_cast<int>(op)].result) {
    case ResultKind::kSame: return t;
    case ResultKind::kBool: return PrimType::kBool;
    case ResultKind::kI32: return PrimType::kI32;
    case ResultKind::kTo: return to;
  }
  return t;
}

ScalarFn scalar_fn(ScalarOp op, PrimType type, PrimType to) {
  return Table<OfOne>::find(op, type, to);
}

PrimValue eval_scalar(ScalarOp op, PrimType type, PrimType to, std::span<const PrimValue> args) {
  CHECK(static_cast<int>(args.size()) == scalar_op_arity(op));
  const auto bits = [&](size_t i) { return i < args.size() ? args[i].bits : 0; };
  return {scalar_op_result(op, type, to), scalar_fn(op, type, to)(bits(0), bits(1), bits(2))};
}

}  // namespace kenaz
