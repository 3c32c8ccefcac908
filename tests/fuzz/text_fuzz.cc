// The text format: what is read can be written and read again as the same value.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/base/check.h"
#include "protocol/data/text_format.h"
#include "protocol/data/values.h"

using namespace kenaz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  data::ByteSource source(bytes);
  while (true) {
    const auto value = data::read_value(source);
    if (!value) {
      CHECK(!value.error().message.empty());
      break;
    }
    if (!*value) break;
    const std::string text = data::to_text(**value);
    const auto again = data::read_values(text);
    CHECK(again);
    CHECK(again->size() == 1);
    // Bit by bit, but for what a NaN carries.
    CHECK(data::to_text(again->front()) == text);
    CHECK(again->front().shape == (*value)->shape);
    CHECK(again->front().type == (*value)->type);
  }
  return 0;
}
