#include "protocol/data/value.h"

#include <fmt/format.h>

#include <limits>

#include "protocol/base/check.h"

namespace kenaz::data {

int64_t Value::count() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

PrimValue Value::at(int64_t i) const {
  const auto size = static_cast<size_t>(prim_size(type));
  CHECK(i >= 0 && static_cast<size_t>(i) < bytes.size() / size);
  PrimValue v{type, 0};
  std::memcpy(&v.bits, bytes.data() + static_cast<size_t>(i) * size, size);
  return v;
}

Value Value::scalar(PrimValue v) {
  Value out{v.type, {}, {}};
  append(out, v);
  return out;
}

std::string Value::type_name() const {
  std::string s;
  for (size_t i = 0; i < shape.size(); ++i) s += "[]";
  return s += prim_name(type);
}

void append(Value& value, PrimValue element) {
  CHECK(element.type == value.type);
  const auto* p = reinterpret_cast<const std::byte*>(&element.bits);
  value.bytes.insert(value.bytes.end(), p, p + prim_size(value.type));
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string s;
  for (int64_t d : shape) s += fmt::format("[{}]", d);
  return s;
}

Result<int64_t> checked_bytes(PrimType type, std::span<const int64_t> shape) {
  if (shape.size() > kMaxRank) {
    return bad_request(
        fmt::format("an array of {} dimensions; at most {} are allowed", shape.size(), kMaxRank));
  }
  int64_t rows = prim_size(type);  // without the zeros, so that row sizes are safe to compute too
  bool empty = false;
  for (int64_t d : shape) {
    if (d < 0) return bad_request(fmt::format("dimension {} is negative", d));
    if (d == 0) {
      empty = true;
    } else if (rows > std::numeric_limits<int64_t>::max() / d) {
      return bad_request(
          fmt::format("an array of shape {}{} is too large", shape_text(shape), prim_name(type)));
    } else {
      rows *= d;
    }
  }
  return empty ? 0 : rows;
}

}  // namespace kenaz::data
