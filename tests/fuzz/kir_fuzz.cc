// Kernel IR as text: what is read can be printed and read again as the same; validation says what
// is wrong with the rest; the passes leave a valid kernel valid, and what it computes as it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kir/access.h"
#include "kernels/kir/eval/machine.h"
#include "kernels/kir/needs.h"
#include "kernels/kir/parse.h"
#include "kernels/kir/passes/passes.h"
#include "kernels/kir/print.h"
#include "kernels/kir/validate.h"
#include "protocol/base/check.h"

using namespace kenaz;

namespace {

constexpr size_t kBlockBytes = 512;

/// The bytes of all blocks, -1 for what is undefined, then the failure; nullopt if there is a
/// fault.
std::optional<std::vector<int64_t>> outcome(const kir::Kernel& kernel, int64_t max_steps) {
  kir::Memory memory;
  std::vector<PrimValue> args;
  for (const kir::Arg& a : kernel.args) {
    const PrimType type = kernel.vals[a.val.index].prim;
    if (!a.is_block) {
      args.push_back({type, type == PrimType::kBool ? 1u : 3u});
      continue;
    }
    std::vector<std::byte> bytes(kBlockBytes);
    for (size_t i = 0; i < bytes.size(); i += 4) bytes[i] = static_cast<std::byte>(i * 7 % 11);
    args.push_back({PrimType::kU64, memory.allocate(bytes)});
  }
  kir::RunOptions options;
  options.subgroup_size = 1;
  options.max_steps = max_steps;
  const auto result = kir::run(kernel, memory, args, 1, options);
  if (!result) return std::nullopt;
  std::vector<int64_t> all;
  for (size_t a = 0; a < args.size(); a++) {
    if (!kernel.args[a].is_block) continue;
    const auto bytes = memory.bytes(args[a].bits);
    for (size_t i = 0; i < bytes.size(); i++) {
      all.push_back(memory.defined(args[a].bits + i, 1) ? static_cast<int64_t>(bytes[i]) : -1);
    }
  }
  if (!result->failure) return all;
  all.push_back(result->failure->number);
  for (const PrimValue& v : result->failure->args) all.push_back(static_cast<int64_t>(v.bits));
  return all;
}

/// One thread, so that the order of what threads do does not matter.
bool is_small(const kir::Kernel& kernel) {
  const auto needs = kir::needs_of(kernel);
  int64_t local = 0;
  for (const kir::LocalArray& a : kernel.locals) local += a.length;
  return needs.group_size == 1 && needs.shared_bytes < 65536 && local < 65536;
}

/// What is undefined before may be anything afterwards.
void check_same(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  CHECK(before.size() == after.size());
  for (size_t i = 0; i < before.size(); i++) CHECK(before[i] == -1 || before[i] == after[i]);
}

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
  if (!is_small(*again)) return;
  const auto before = outcome(*again, 2'000);
  if (!before) return;
  const auto after = outcome(*kernel, 100'000);
  CHECK(after);
  check_same(*before, *after);
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
