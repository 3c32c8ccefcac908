#include "kernels/scalar/ops.h"

#include <array>

#include "kernels/scalar/apply.h"
#include "protocol/base/check.h"

namespace kenaz {
namespace {

using namespace scalar;  // NOLINT(google-build-using-namespace): its table's columns

template <ScalarOp op, PrimType P>
constexpr ScalarFn pick_one() {
  if constexpr (op == ScalarOp::kConvert || op == ScalarOp::kBitcast ||
                !in_domain(kOps[static_cast<int>(op)].domain, P)) {
    return nullptr;
  } else {
    return &apply<op, P>;
  }
}
template <ScalarOp op>
constexpr std::array<ScalarFn, kPrimTypeCount> pick() {
  return {
#define PRIM(e, name, bytes, kind) pick_one<op, PrimType::e>(),
#include "protocol/prim_type.def"
#undef PRIM
  };
}
constexpr std::array<ScalarFn, kPrimTypeCount> kFns[] = {
#define SCALAR_OP(e, name, arity, domain, result) pick<ScalarOp::e>(),
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
};

template <PrimType From>
constexpr std::array<ScalarFn, kPrimTypeCount> converts() {
  return {
#define PRIM(e, name, bytes, kind) &convert<From, PrimType::e>,
#include "protocol/prim_type.def"
#undef PRIM
  };
}
constexpr std::array<ScalarFn, kPrimTypeCount> kConverts[] = {
#define PRIM(e, name, bytes, kind) converts<PrimType::e>(),
#include "protocol/prim_type.def"
#undef PRIM
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
  if (op == ScalarOp::kConvert) return kConverts[static_cast<int>(type)][static_cast<int>(to)];
  if (op == ScalarOp::kBitcast) {
    if (to == PrimType::kBool) return &bits_to_bool;
    switch (prim_size(to)) {
      case 1: return &same_bits<1>;
      case 2: return &same_bits<2>;
      case 4: return &same_bits<4>;
      default: return &same_bits<8>;
    }
  }
  const ScalarFn fn = kFns[static_cast<int>(op)][static_cast<int>(type)];
  CHECK(fn != nullptr);
  return fn;
}

PrimValue eval_scalar(ScalarOp op, PrimType type, PrimType to, std::span<const PrimValue> args) {
  CHECK(static_cast<int>(args.size()) == scalar_op_arity(op));
  const auto bits = [&](size_t i) { return i < args.size() ? args[i].bits : 0; };
  return {scalar_op_result(op, type, to), scalar_fn(op, type, to)(bits(0), bits(1), bits(2))};
}

}  // namespace kenaz
