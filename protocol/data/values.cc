#include "protocol/data/values.h"

#include <fmt/format.h>

#include "protocol/data/binary_format.h"
#include "protocol/data/text_format.h"

namespace kenaz::data {

Result<std::optional<Value>> read_value(ByteSource& source, std::optional<LeafType> expected,
                                        char stop) {
  skip_space(source);
  const int c = source.peek();
  if (source.error()) return bad_request("reading failed: " + *source.error());
  if (c < 0 || (stop != '\0' && c == stop)) return std::nullopt;
  const int64_t start = source.offset();
  if (c != 'b') {
    KENAZ_ASSIGN(Value value, read_text(source, expected));
    return value;
  }
  auto value = read_binary(source);
  if (!value) {
    value.error().context.push_back(fmt::format("in the binary value at byte {}", start));
    return tl::make_unexpected(std::move(value).error());
  }
  if (expected && (value->type != expected->prim ||
                   value->shape.size() != static_cast<size_t>(expected->rank))) {
    Value wanted{expected->prim, std::vector<int64_t>(static_cast<size_t>(expected->rank)), {}};
    return bad_request(fmt::format("expected a value of type {}, but the data has {}",
                                   wanted.type_name(), value->type_name()));
  }
  return std::optional<Value>(std::move(*value));
}

Result<std::vector<Value>> read_values(ByteSource& source) {
  std::vector<Value> values;
  while (true) {
    KENAZ_ASSIGN(auto value, read_value(source));
    if (!value) return values;
    values.push_back(std::move(*value));
  }
}

Result<std::vector<Value>> read_values(std::string_view bytes) {
  ByteSource source(bytes);
  return read_values(source);
}

}  // namespace kenaz::data
