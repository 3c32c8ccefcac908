// Text of image filters: parser, checker and lowering end within time and memory, whatever they are
// given; an error has a message, and what is accepted is valid array IR.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/ir/validate.h"
#include "kernels/mfg/check/check.h"
#include "kernels/mfg/lower/lower.h"
#include "protocol/base/check.h"

using namespace kenaz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto filter = mfg::check("fuzz.mfg", [&](const std::string& path) -> Result<std::string> {
    if (path == "fuzz.mfg") return text;
    return bad_request("there are no other files");
  });
  if (!filter) {
    CHECK(!filter.error().message.empty());
    return 0;
  }
  const auto lowered = mfg::lower(*filter);
  if (!lowered) {
    CHECK(!lowered.error().message.empty());
    return 0;
  }
  CHECK(ir::validate(lowered->ir));
  return 0;
}
