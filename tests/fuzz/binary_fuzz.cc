// The binary format: what is read can be written, as the same bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/base/check.h"
#include "protocol/data/binary_format.h"
#include "protocol/data/values.h"

using namespace kenaz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  data::ByteSource source(bytes);
  while (source.peek() == 'b') {
    const auto from = static_cast<size_t>(source.offset());
    const auto value = data::read_binary(source);
    if (!value) {
      CHECK(!value.error().message.empty());
      break;
    }
    std::string again;
    data::append_binary(*value, again);
    const auto read = static_cast<size_t>(source.offset()) - from;
    // The type's name may be padded in front; everything else is determined.
    CHECK(again.size() == read);
    CHECK(again.substr(7) == bytes.substr(from + 7, read - 7));
    CHECK(value->count() * prim_size(value->type) == static_cast<int64_t>(value->bytes.size()));
  }
  return 0;
}
