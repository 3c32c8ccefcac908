// Kernel IR as text: what is read can be printed and read again as the same; validation says what
// is wrong with the rest; the passes leave a valid kernel valid.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/kir/access.h"
#include "kernels/kir/needs.h"
#include "kernels/kir/parse.h"
#include "kernels/kir/passes/passes.h"
#include "kernels/kir/print.h"
#include "kernels/kir/validate.h"
#include "protocol/base/check.h"

using namespace kenaz;

namespace {

void check(std::string_view text) {
  auto kernel = kir::parse(text);
  if (!kernel) {
    CHECK(!kernel.error().message.empty());
    return;
  }
  const std::string printed = kir::print(*kernel);
  const auto again = kir::parse(printed);
  CHECK(again);
  CHECK(kir::print(*again) == printed);
  const auto status = kir::validate(*kernel);
  if (!status) {
    CHECK(!status.error().message.empty());
    return;
  }
  CHECK(kir::access_of(*kernel).size() == kernel->args.size());
  CHECK(kir::needs_of(*kernel).shared_bytes >= 0);
  kir::optimise(*kernel);
  CHECK(kir::validate(*kernel));
}

}  // namespace

/// Several kernels, divided by lines that start with "====", as in tests/kir.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int n = 0; n < 20 && !text.empty(); ++n) {
    const size_t end = std::min(text.find("===="), text.size());
    check(text.substr(0, end));
    text.remove_prefix(std::min(text.find('\n', end), text.size()));
  }
  return 0;
}
