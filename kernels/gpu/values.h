// What IR variables stand for while code is generated: at host level, and inside a kernel.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "kernels/gpu/layout.h"
#include "kernels/program/program.h"

namespace kenaz::gpu {

using program::BlockReg;
using program::KernelId;
using program::Operand;
using program::ScalarReg;

/// Iotas and replicated scalars have no memory until something needs it.
enum class ArrayKind : uint8_t { kMemory, kIota, kReplicate };

// ---- host level

/// A number of elements, bytes or threads that host code computes. Only HostGen makes them, by
/// checked arithmetic (kernels/scalar/size.h), and memory is allocated by nothing else: a product
/// that may wrap is no size.
class HostSize {
 public:
  const Operand& operand() const { return n_; }

 private:
  friend class HostGen;
  explicit HostSize(Operand n) : n_(std::move(n)) {}
  Operand n_;
};

/// A scalar that a kernel left in device memory. `borrowed`: the block belongs to an array that may
/// be updated in place later (the value must be taken away before that).
struct DeviceScalar {
  BlockReg block;
  Operand offset;  // bytes
  bool borrowed = false;
};
struct HostScalar {
  PrimType type = PrimType::kI32;
  std::variant<Operand, DeviceScalar> at;
};
struct HostArray {
  PrimType elem = PrimType::kI32;
  ArrayKind kind = ArrayKind::kMemory;
  Layout<Operand> layout;  // virtual kinds: only dims count
  BlockReg block;          // kMemory
  Operand start, stride;   // kIota, of type elem
  HostScalar value;        // kReplicate
};
using HostValue = std::variant<HostScalar, HostArray>;

// ---- inside a kernel

/// An expression that names a value: a variable, a literal, or parenthesised.
struct Expr {
  PrimType type = PrimType::kI64;
  std::string text;
  std::optional<PrimValue> constant;
};
struct KernelArray {
  PrimType elem = PrimType::kI32;
  ArrayKind kind = ArrayKind::kMemory;
  Layout<Expr> layout;
  std::string base;    // kMemory: address of the memory, a uint64_t expression
  Expr start, stride;  // kIota
  Expr value;          // kReplicate
  /// Which memory: the same number, the same memory. kUnknownMemory: may be any.
  int memory = -1;
};
inline constexpr int kUnknownMemory = -1;
using KernelValue = std::variant<Expr, KernelArray>;

}  // namespace kenaz::gpu
