// SPIR-V from anywhere: it is refused, or read as a valid kernel that the interpreter can run.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/kir/eval/machine.h"
#include "kernels/kir/needs.h"
#include "kernels/kir/validate.h"
#include "kernels/spirv/read.h"
#include "protocol/base/check.h"

using namespace kenaz;

namespace {

constexpr size_t kBufferBytes = 512;

/// A number of the bytes or workgroups that there are, or an address.
PrimValue argument(const spirv::ReadKernel& read, size_t k, kir::Memory& memory) {
  const PrimType type = read.kernel.vals[read.kernel.args[k].val.index].prim;
  switch (read.inputs[k].kind) {
    case spirv::Input::kGroups: return {type, 1};
    case spirv::Input::kBytes: return {type, kBufferBytes};
    case spirv::Input::kBuffer:
      return {type, memory.allocate(std::vector<std::byte>(kBufferBytes))};
    case spirv::Input::kPush: break;
  }
  const bool address = type == PrimType::kU64;
  return {type, address ? memory.allocate(std::vector<std::byte>(kBufferBytes))
                        : uint64_t{type != PrimType::kBool}};
}

/// Its arrays are no larger than what a fuzzer should spend its time on.
bool is_small(const kir::Kernel& kernel) {
  int64_t local = 0;
  for (const kir::LocalArray& a : kernel.locals) local += a.length;
  return kir::needs_of(kernel).shared_bytes < 65536 && local < 4096 &&
         kernel.group_size.constant <= 64;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostWords = 1 << 14;
  if (size > kMostWords * sizeof(uint32_t)) return 0;
  std::vector<uint32_t> words(size / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint32_t));
  const auto read = spirv::read(words);
  if (!read) {
    CHECK(!read.error().message.empty());
    return 0;
  }
  CHECK(kir::validate(read->kernel));
  CHECK(read->inputs.size() == read->kernel.args.size());
  for (const auto& place : read->places) {
    CHECK(!place.empty());
    for (const spirv::SourcePlace& p : place) CHECK(p.file < read->files.size());
  }
  if (!is_small(read->kernel)) return 0;
  kir::Memory memory;
  std::vector<PrimValue> args;
  for (size_t k = 0; k < read->inputs.size(); k++) args.push_back(argument(*read, k, memory));
  kir::RunOptions options;
  options.subgroup_size = 4;
  options.max_steps = 20'000;
  const auto ran = kir::run(read->kernel, memory, args, 1, options);
  CHECK(ran || !ran.error().message.empty());
  return 0;
}
