// The functions that carry out scalar operations, by operation and types, in one of two forms: of
// one value (ops.cc) or of many (lanes.cc).
#pragma once

#include <array>

#include "kernels/scalar/apply.h"
#include "protocol/base/check.h"

namespace kenaz::scalar {

/// `Form` names a function pointer type, `Form::Fn`, and has `Form::of<fn>()`, which makes one of
/// a ScalarFn.
template <class Form>
class Table {
 public:
  using Fn = typename Form::Fn;

  /// The operation must accept `type`; `to` is what conversions convert to.
  static Fn find(ScalarOp op, PrimType type, PrimType to) {
    if (op == ScalarOp::kConvert) return kConverts[static_cast<int>(type)][static_cast<int>(to)];
    if (op == ScalarOp::kBitcast) return bitcast(to);
    const Fn fn = kFns[static_cast<int>(op)][static_cast<int>(type)];
    CHECK(fn != nullptr);
    return fn;
  }

 private:
  using ByType = std::array<Fn, kPrimTypeCount>;

  static Fn bitcast(PrimType to) {
    if (to == PrimType::kBool) return Form::template of<&bits_to_bool>();
    switch (prim_size(to)) {
      case 1: return Form::template of<&same_bits<1>>();
      case 2: return Form::template of<&same_bits<2>>();
      case 4: return Form::template of<&same_bits<4>>();
      default: return Form::template of<&same_bits<8>>();
    }
  }
  template <ScalarOp op, PrimType P>
  static constexpr Fn pick_one() {
    if constexpr (op == ScalarOp::kConvert || op == ScalarOp::kBitcast ||
                  !in_domain(kOps[static_cast<int>(op)].domain, P)) {
      return nullptr;
    } else {
      return Form::template of<&apply<op, P>>();
    }
  }
  template <ScalarOp op>
  static constexpr ByType pick() {
    return {
#define PRIM(e, name, bytes, kind) pick_one<op, PrimType::e>(),
#include "protocol/prim_type.def"
#undef PRIM
    };
  }
  template <PrimType From>
  static constexpr ByType converts() {
    return {
#define PRIM(e, name, bytes, kind) Form::template of<&convert<From, PrimType::e>>(),
#include "protocol/prim_type.def"
#undef PRIM
    };
  }

  static constexpr ByType kFns[] = {
#define SCALAR_OP(e, name, arity, domain, result) pick<ScalarOp::e>(),
#include "kernels/scalar/ops.def"
#undef SCALAR_OP
  };
  static constexpr ByType kConverts[] = {
#define PRIM(e, name, bytes, kind) converts<PrimType::e>(),
#include "protocol/prim_type.def"
#undef PRIM
  };
};

}  // namespace kenaz::scalar
