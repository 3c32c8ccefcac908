#include "tests/kernels/device_run.h"

#include <fmt/format.h>

#include <map>

#include "kernels/glsl/compile.h"
#include "kernels/glsl/print_kernel.h"
#include "kernels/program/program.h"
#include "tests/kernels/through_spirv.h"

namespace kenaz {
namespace {

using Bytes = std::vector<std::byte>;

/// The blocks that the arguments name, by address in the interpreter's memory.
std::map<uint64_t, Bytes> blocks_of(const DeviceTest& t) {
  std::map<uint64_t, Bytes> blocks;
  for (size_t a = 0; a < t.args.size(); a++) {
    if (!t.kernel.args[a].is_block) continue;
    const auto bytes = t.memory.bytes(t.args[a].bits);
    blocks[t.args[a].bits] = Bytes(bytes.begin(), bytes.end());
  }
  return blocks;
}

struct MadeKernel {
  device::KernelPtr kernel;
  int slots = 0;
};

Result<MadeKernel> make_kernel(device::Device& device, const DeviceTest& t) {
  glsl::PrintOptions options;
  if (t.cuts) options.cut_failure = [](ir::ProvId) { return DeviceTest::kCutFailure; };
  options.quick_divisions = t.quick_divisions;
  const glsl::PrintedKernel printed = print_kernel(t.kernel, options);
  KENAZ_ASSIGN(const std::vector<uint32_t> spirv, glsl::compile_glsl(t.kernel.name, printed.text));
  const uint32_t push = static_cast<uint32_t>(8 * printed.slots);
  const std::vector<uint32_t> constants = constants_of(t, !device.info().cuts_loops);
  KENAZ_ASSIGN(auto kernel,
               device.make_kernel(
                   {t.kernel.name, spirv, push <= program::kPushBytes ? push : 8, constants}));
  return MadeKernel{std::move(kernel), printed.slots};
}

class Launch {
 public:
  Launch(device::Device& device, const DeviceTest& t) : device_(device), test_(t) {}

  Status run() {
    KENAZ_ASSIGN(const MadeKernel made, make_kernel(device_, test_));
    KENAZ_ASSIGN(record_, put(std::as_bytes(std::span(test_.record))));
    for (const auto& [address, bytes] : blocks_of(test_)) {
      KENAZ_ASSIGN(blocks_[address], put(bytes));
    }
    KENAZ_TRY(dispatch(made));
    return device_.submit_and_wait();
  }
  Result<Bytes> block(uint64_t address) { return get(blocks_[address]); }
  Result<Bytes> record() { return get(record_); }

 private:
  Result<device::BlockPtr> put(std::span<const std::byte> bytes) {
    KENAZ_ASSIGN(const device::BlockPtr b, device_.allocate(static_cast<int64_t>(bytes.size())));
    if (!bytes.empty()) KENAZ_TRY(device_.upload(b, 0, bytes));
    return b;
  }
  Result<Bytes> get(const device::BlockPtr& b) {
    Bytes bytes(static_cast<size_t>(b->bytes()));
    if (!bytes.empty()) KENAZ_TRY(device_.download(b, 0, bytes));
    return bytes;
  }
  Status dispatch(const MadeKernel& made) {
    std::vector<uint64_t> slots{record_->address()};
    for (size_t a = 0; a < test_.args.size(); a++) {
      const uint64_t bits = test_.args[a].bits;
      slots.push_back(test_.kernel.args[a].is_block ? blocks_[bits]->address() : bits);
    }
    push_launch(test_, made.slots, slots);
    const int64_t max_x = device_.info().max_groups_x;
    const int64_t y = (test_.groups - 1) / max_x + 1, x = (test_.groups - 1) / y + 1;
    auto push = std::as_bytes(std::span(slots));
    uint64_t list = 0;
    if (push.size() > program::kPushBytes) {
      KENAZ_ASSIGN(list, device_.stash(push));
      push = std::as_bytes(std::span(&list, 1));
    }
    return device_.dispatch(made.kernel, static_cast<uint32_t>(x), static_cast<uint32_t>(y), push);
  }

  device::Device& device_;
  const DeviceTest& test_;
  device::BlockPtr record_;
  std::map<uint64_t, device::BlockPtr> blocks_;
};

/// Launches and fetches: the blocks and the record.
Result<std::map<uint64_t, Bytes>> run(device::Device& device, DeviceTest& t) {
  Launch launch(device, t);
  KENAZ_TRY(launch.run());
  std::map<uint64_t, Bytes> blocks;
  for (const auto& [address, before] : blocks_of(t)) {
    KENAZ_ASSIGN(blocks[address], launch.block(address));
  }
  KENAZ_ASSIGN(const Bytes record, launch.record());
  std::memcpy(t.record.data(), record.data(), program::kFailureRecordBytes);
  return blocks;
}

std::string text_of(const DeviceTest& t) { return glsl::print_kernel(t.kernel, {}).text; }

void compare(const DeviceTest& t, const std::map<uint64_t, Bytes>& on_device) {
  for (const auto& [address, expected] : blocks_of(t)) {
    const Bytes& got = on_device.at(address);
    size_t known = 0;
    for (size_t b = 0; b < expected.size(); b++) {
      if (!t.memory.defined(address + b, 1)) continue;
      known++;
      ASSERT_EQ(got[b], expected[b]) << "byte " << b << " of the block at " << address << "\n"
                                     << text_of(t);
    }
    EXPECT_TRUE(known > 0 || expected.empty()) << "nothing to compare";
  }
}

}  // namespace

std::vector<uint32_t> constants_of(const DeviceTest& t, bool loops_look) {
  std::vector<uint32_t> constants{loops_look ? 1u : 0u};
  for (size_t s = 0; s < t.kernel.specs.size(); s++) {
    const PrimValue& v =
        s < t.options.specs.size() ? t.options.specs[s] : t.kernel.specs[s].fallback;
    constants.push_back(static_cast<uint32_t>(v.bits));
  }
  return constants;
}

void push_launch(const DeviceTest& t, int slots, std::vector<uint64_t>& push) {
  push.push_back(static_cast<uint64_t>(t.groups));
  for (uint64_t n = 0; push.size() < static_cast<size_t>(slots); n++) {
    push.push_back(2 * n | (2 * n + 1) << 32);
  }
}

void OnDevice::SetUpTestSuite() {
  log_ = std::make_shared<device::ValidationLog>();
  device::VulkanOptions options;
  options.device = device_name;
  options.validation = log_;
  auto made = device::make_vulkan_device(options);
  ASSERT_TRUE(made) << made.error().text();
  device_ = *made;
}

void OnDevice::TearDownTestSuite() {
  device_.reset();
  for (const std::string& m : log_->messages()) ADD_FAILURE() << m;
}

void OnDevice::run_on_device(DeviceTest& t) {
  const auto blocks = run(device(), t);
  ASSERT_TRUE(blocks) << blocks.error().text() << "\n" << text_of(t);
  for (const auto& [address, bytes] : *blocks) {
    if (!bytes.empty()) t.memory.write(address, bytes);
  }
}

void OnDevice::run_on_both(DeviceTest& t) {
  ThroughSpirv through_spirv(t);
  const auto blocks = run(device(), t);
  ASSERT_TRUE(blocks) << blocks.error().text() << "\n" << text_of(t);
  if (t.cuts && t.record[0] == DeviceTest::kCutFailure + 1) return;  // the interpreter has no limit
  t.options.subgroup_size = static_cast<int>(device().info().subgroup_size);
  const auto ran = t.run();
  ASSERT_TRUE(ran) << ran.error().text();
  ASSERT_EQ(t.record[0], ran->failure ? static_cast<uint64_t>(ran->failure->number) + 1 : 0);
  for (size_t a = 0; ran->failure && a < ran->failure->args.size(); a++) {
    const PrimValue& arg = ran->failure->args[a];
    const uint64_t mask = ~uint64_t{0} >> (64 - 8 * prim_size(arg.type));
    EXPECT_EQ(t.record[2 + a] & mask, arg.bits) << "argument " << a;
  }
  compare(t, *blocks);
  through_spirv.run_and_compare(t, *ran);
}

}  // namespace kenaz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) kenaz::OnDevice::device_name = argv[1];
  return RUN_ALL_TESTS();
}
