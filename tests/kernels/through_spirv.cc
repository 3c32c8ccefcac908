#include "tests/kernels/through_spirv.h"

#include <cstring>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/print_kernel.h"
#include "kernels/program/program.h"
#include "kernels/spirv/read.h"

namespace kenaz {
ThroughSpirv::ThroughSpirv(const DeviceTest& test) {
  record_ = memory_.allocate(std::as_bytes(std::span(test.record)));
  for (size_t a = 0; a < test.args.size(); a++) {
    const uint64_t from = test.args[a].bits;
    if (!test.kernel.args[a].is_block || blocks_.contains(from)) continue;
    const auto bytes = test.memory.bytes(from);
    const uint64_t to = memory_.allocate(bytes.size());
    blocks_[from] = to;
    for (size_t b = 0; b < bytes.size(); b++) {
      if (test.memory.defined(from + b, 1)) memory_.write(to + b, bytes.subspan(b, 1));
    }
  }
}

std::vector<uint64_t> ThroughSpirv::slots(const DeviceTest& test) const {
  std::vector<uint64_t> all{record_};
  for (size_t a = 0; a < test.args.size(); a++) {
    const uint64_t bits = test.args[a].bits;
    all.push_back(test.kernel.args[a].is_block ? blocks_.at(bits) : bits);
  }
  all.push_back(static_cast<uint64_t>(test.groups));
  return all;
}

Result<kir::RunResult> ThroughSpirv::run(const DeviceTest& test) {
  kir::Kernel kernel = test.kernel;
  kernel.reads_ahead = false;  // arguments looked up in a table are not read back
  glsl::PrintOptions print_options;
  print_options.contract = test.contract;
  const glsl::PrintedKernel printed = glsl::print_kernel(kernel, print_options);
  KENAZ_ASSIGN(const auto words, glsl::compile_glsl(test.kernel.name, printed.text));
  const std::vector<uint32_t> constants = constants_of(test, true);
  KENAZ_ASSIGN(const spirv::ReadKernel read, spirv::read(words, {test.kernel.name, constants}));
  std::vector<uint64_t> push = slots(test);
  if (8 * push.size() > program::kPushBytes) {
    push = {memory_.allocate(std::as_bytes(std::span(push)))};
  }
  std::vector<PrimValue> args;
  for (size_t a = 0; a < read.inputs.size(); a++) {
    const spirv::Input& in = read.inputs[a];
    const PrimType type = read.kernel.vals[read.kernel.args[a].val.index].prim;
    const bool groups = in.kind == spirv::Input::kGroups;
    const uint64_t count = in.number == 0 ? static_cast<uint64_t>(test.groups) : 1;
    args.push_back({type, groups ? count : push.at(in.number / 8)});
  }
  kir::RunOptions options = test.options;
  options.specs.clear();
  options.set_once = record_;
  return kir::run(read.kernel, memory_, args, test.groups, options);
}

Result<std::vector<std::byte>> ThroughSpirv::block_after(const DeviceTest& test, uint64_t address) {
  KENAZ_TRY(run(test));
  const auto bytes = memory_.bytes(blocks_.at(address));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

void ThroughSpirv::run_and_compare(const DeviceTest& after, const kir::RunResult& result) {
  const auto text = [&] { return glsl::print_kernel(after.kernel, {}).text; };
  const auto ran = run(after);
  ASSERT_TRUE(ran) << ran.error().text() << "\n" << text();
  std::vector<uint64_t> record(program::kFailureRecordBytes / 8);
  std::memcpy(record.data(), memory_.bytes(record_).data(), 8 * record.size());
  const auto number = result.failure ? static_cast<uint64_t>(result.failure->number) + 1 : 0;
  ASSERT_EQ(record[0], number) << text();
  for (size_t a = 0; result.failure && a < result.failure->args.size(); a++) {
    const PrimValue& arg = result.failure->args[a];
    const uint64_t mask = ~uint64_t{0} >> (64 - 8 * prim_size(arg.type));
    EXPECT_EQ(record[2 + a] & mask, arg.bits) << "argument " << a;
  }
  for (const auto& [from, to] : blocks_) {
    const auto expected = after.memory.bytes(from), got = memory_.bytes(to);
    for (size_t b = 0; b < expected.size(); b++) {
      if (!after.memory.defined(from + b, 1)) continue;
      ASSERT_TRUE(memory_.defined(to + b, 1)) << "byte " << b << "\n" << text();
      ASSERT_EQ(got[b], expected[b]) << "byte " << b << " through SPIR-V\n" << text();
    }
  }
}

}  // namespace kenaz
