// What IR variables stand for inside a kernel.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "kernels/body/host.h"
#include "kernels/kir/builder.h"

namespace kenaz::body {

struct KernelArray {
  PrimType elem = PrimType::kI32;
  ArrayKind kind = ArrayKind::kMemory;
  Layout<kir::Value> layout;            // all i64
  kir::Value base;                      // kMemory: the address of the memory, u64
  std::optional<kir::SharedId> shared;  // kMemory: instead, of arrays of a workgroup
  std::optional<kir::LocalId> local;    // kMemory: instead, of small arrays of a thread
  kir::Value start, stride;             // kIota
  kir::Value value;                     // kReplicate
  /// Which memory: the same number, the same memory. kUnknownMemory: may be any.
  int memory = -1;
  /// Its elements are not in device memory, so it cannot be told by an address.
  bool is_table() const { return shared || local; }
};
inline constexpr int kUnknownMemory = -1;
using KernelValue = std::variant<kir::Value, KernelArray>;

/// The arithmetic of LayoutMath and ViewMath: i64, in the kernel.
struct Math {
  using Scalar = kir::Value;
  kir::Builder& k;
  static kir::Value konst(int64_t n) { return kir::i64(n); }
  kir::Value add(const kir::Value& a, const kir::Value& b) const { return k.add(a, b); }
  kir::Value mul(const kir::Value& a, const kir::Value& b) const { return k.mul(a, b); }
  kir::Value emit_op(ScalarOp op, PrimType type, PrimType to, kir::Values args) const {
    return k.op(op, type, to, std::move(args));
  }
  static bool same(const kir::Value& a, const kir::Value& b) { return a == b; }
  static std::optional<int64_t> as_const(const kir::Value& a) {
    if (!a.is_const() || a.type.prim != PrimType::kI64) return std::nullopt;
    return a.constant().as_i64();
  }
};

/// Whether both are the same elements of the same memory, known by the equality of their Values.
bool identical(const KernelArray& a, const KernelArray& b);

}  // namespace kenaz::body
