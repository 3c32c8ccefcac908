// Program text: parser, checker and lowering end within time and memory, whatever they are given,
// and an error has a message.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/compiler.h"
#include "kernels/futhark/syntax/parser.h"
#include "protocol/base/check.h"

using namespace kenaz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const auto name = std::make_shared<const std::string>("fuzz.fut");
  // Most mutants end here, which takes a hundredth of the time that the prelude does.
  const auto parsed = syntax::parse(name, text);
  if (!parsed) {
    CHECK(!parsed.error().message.empty());
    return 0;
  }
  compiler::FrontEndOptions options;
  options.read = [&](const std::string& path) -> Result<std::string> {
    if (path == *name) return text;
    return bad_request("there are no other files");
  };
  const auto checked = compiler::front_end(*name, options);
  if (!checked) {
    CHECK(!checked.error().message.empty());
    return 0;
  }
  const auto lowered = compiler::lower(*checked);
  CHECK(lowered || !lowered.error().message.empty());
  return 0;
}
