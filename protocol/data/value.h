// Host values: what data files, test blocks and clients exchange. One scalar or one regular array
// of a primitive type, row-major, little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/prim_type.h"

namespace kenaz::data {

struct Value {
  PrimType type = PrimType::kI32;
  std::vector<int64_t> shape;    // empty: a scalar
  std::vector<std::byte> bytes;  // product(shape) * prim_size(type)

  int64_t count() const;          // number of scalars
  PrimValue at(int64_t i) const;  // i-th scalar, row-major
  static Value scalar(PrimValue v);
  /// The type's name in the protocol: "[][]i32", "f64".
  std::string type_name() const;
  friend bool operator==(const Value&, const Value&) = default;  // bitwise
};

/// The rank byte of the binary format is signed.
inline constexpr size_t kMaxRank = 127;

/// Appends a scalar of the value's type to `value.bytes`. The caller sets the shape.
void append(Value& value, PrimValue element);
/// Prints a shape as "[2][3]".
std::string shape_text(std::span<const int64_t> shape);
/// Returns the number of bytes in an array. Fails if the rank is too large, a dimension is
/// negative, or the product (even of the dimensions other than zero) overflows: call it before
/// allocating.
Result<int64_t> checked_bytes(PrimType type, std::span<const int64_t> shape);

}  // namespace kenaz::data
