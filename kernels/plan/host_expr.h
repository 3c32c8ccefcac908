// What the host computes before it launches a plan's kernels: numbers of workgroups, bytes of
// scratch, conditions on sizes. Plain data, which host code is generated from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/scalar/ops.h"
#include "protocol/prim_type.h"

namespace kenaz::plan {

/// An expression of i64s. Its leaves are constants, sizes that the caller numbers as it likes, and
/// the plan's specialisation constants. Comparisons give bools, and_ and or_ take them. Immutable;
/// copies share.
class HostExpr {
 public:
  enum class Leaf : uint8_t { kNone, kConstant, kSize, kSpec };

  HostExpr(int64_t constant = 0);  // NOLINT: conversions are the point
  static HostExpr boolean(bool b);
  static HostExpr size(int number);
  static HostExpr spec(int number);
  /// At i64, folded if all operands are constants.
  static HostExpr op(ScalarOp op, std::vector<HostExpr> args);

  Leaf leaf() const;              // kNone: an operation
  PrimValue constant() const;     // kConstant; i64 or bool
  int number() const;             // kSize, kSpec
  ScalarOp operation() const;     // kNone
  PrimType operand_type() const;  // kNone: i64, or bool for and_ and or_
  std::span<const HostExpr> args() const;

  /// The same expression: built alike, or the same copy.
  friend bool operator==(const HostExpr& a, const HostExpr& b);

  bool is_const() const { return leaf() == Leaf::kConstant; }
  bool is(int64_t n) const { return is_const() && constant().as_i64() == n; }
  bool is_true() const { return is_const() && constant() == PrimValue::of_bool(true); }
  bool is_false() const { return is_const() && constant() == PrimValue::of_bool(false); }

  /// Its value, as 0 or 1 for a bool; `sizes` and `specs` by number.
  int64_t evaluate(std::span<const int64_t> sizes, std::span<const int64_t> specs) const;

 private:
  struct Node;
  explicit HostExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  PrimValue value(std::span<const int64_t> sizes, std::span<const int64_t> specs) const;
  std::shared_ptr<const Node> node_;
};

HostExpr operator+(const HostExpr& a, const HostExpr& b);
HostExpr operator-(const HostExpr& a, const HostExpr& b);
HostExpr operator*(const HostExpr& a, const HostExpr& b);
/// (a + b - 1) / b, of non-negative numbers, without a sum that wraps.
HostExpr div_up(const HostExpr& a, const HostExpr& b);
HostExpr min(const HostExpr& a, const HostExpr& b);
HostExpr max(const HostExpr& a, const HostExpr& b);
HostExpr le(const HostExpr& a, const HostExpr& b);
HostExpr lt(const HostExpr& a, const HostExpr& b);
HostExpr and_(const HostExpr& a, const HostExpr& b);
HostExpr or_(const HostExpr& a, const HostExpr& b);

}  // namespace kenaz::plan
