// Array IR as text: what is read can be printed and read again as the same; validation says what is
// wrong with the rest.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "protocol/base/check.h"

using namespace kenaz;

namespace {

void check(std::string_view text) {
  const auto program = ir::parse(text);
  if (!program) {
    CHECK(!program.error().message.empty());
    return;
  }
  const auto status = ir::validate(*program);
  if (!status) {
    CHECK(!status.error().message.empty());
    return;
  }
  const std::string printed = ir::print(*program);
  const auto again = ir::parse(printed);
  CHECK(again);
  CHECK(ir::print(*again) == printed);
}

}  // namespace

/// Several programs, divided by lines that start with "====", as in tests/ir.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int n = 0; n < 20 && !text.empty(); ++n) {
    const size_t end = std::min(text.find("===="), text.size());
    check(text.substr(0, end));
    text.remove_prefix(std::min(text.find('\n', end), text.size()));
  }
  return 0;
}
