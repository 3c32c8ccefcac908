// Plans of parallel operations on a device: what they leave in memory is what the interpreter of
// kernel IR leaves, and the right answer.
#include "kernels/glsl/compile.h"
#include "kernels/glsl/print_kernel.h"
#include "kernels/primitives/plan_runner.h"
#include "tests/kernels/device_run.h"

namespace kenaz {
namespace {

class PlansOnDevice : public OnDevice {
 protected:
  void SetUp() override {
    const device::Info& info = device().info();
    program::Target target;
    target.subgroup_size = static_cast<int>(info.subgroup_size);
    target.subgroup_arithmetic = true;
    target.fixed_subgroups = info.fixed_subgroups;
    target.max_group_size = 128;
    target.threads = 256;
    target.i64_atomics = target.shared_i64_atomics = true;
    target.f32_atomic_add = info.float32_atomic_add;
    target.shared_f32_atomic_add = info.shared_float32_atomic_add;
    target.max_turns = 65535;
    target.reads_ahead = info.joins_loads;
    const primitives::testing::Device here{"the device", target, target.subgroup_size};
    primitives::testing::use_device(here, launch);
  }

 private:
  static bool launch(const kir::Kernel& kernel, kir::Memory& memory,
                     const std::vector<PrimValue>& args, int64_t groups,
                     const kir::RunOptions& options) {
    DeviceTest t;
    t.kernel = kernel;
    t.groups = groups;
    t.options = options;
    t.args = args;
    std::map<uint64_t, uint64_t> blocks;  // the session's address -> the test's
    for (size_t a = 0; a < args.size(); a++) {
      if (!kernel.args[a].is_block) continue;
      auto& copy = blocks[args[a].bits];
      const auto bytes = memory.bytes(args[a].bits);
      if (copy == 0) copy = t.memory.allocate(bytes);
      t.args[a].bits = copy;
    }
    run_on_both(t);
    if (HasFailure()) return false;
    for (const auto& [from, copy] : blocks) {
      if (!memory.bytes(from).empty()) memory.write(from, t.memory.bytes(copy));
    }
    return t.record[0] != 0;
  }
};

TEST_F(PlansOnDevice, Reduce) { primitives::testing::check_every_reduction(); }
TEST_F(PlansOnDevice, Scan) { primitives::testing::check_every_scan(); }
TEST_F(PlansOnDevice, CountInBins) { primitives::testing::check_every_histogram(); }
TEST_F(PlansOnDevice, Pack) { primitives::testing::check_every_packing(); }
TEST_F(PlansOnDevice, Sort) { primitives::testing::check_every_sort(); }
TEST_F(PlansOnDevice, Copy) { primitives::testing::check_every_copy(); }

// Plans for other devices than this one: their text compiles; the interpreter runs them.
bool compile_and_interpret(const kir::Kernel& kernel, kir::Memory& memory,
                           const std::vector<PrimValue>& args, int64_t groups,
                           const kir::RunOptions& options) {
  const glsl::PrintedKernel printed = glsl::print_kernel(kernel, {});
  const auto spirv = glsl::compile_glsl(kernel.name, printed.text);
  EXPECT_TRUE(spirv) << spirv.error().text() << printed.text;
  const auto r = kir::run(kernel, memory, args, groups, options);
  EXPECT_TRUE(r) << r.error().text();
  return r && r->failure;
}

TEST(PlansOnOtherDevices, TheirKernelsCompile) {
  for (const size_t n : {0, 2, 3}) {
    primitives::testing::use_device(primitives::testing::made_up_devices()[n],
                                    compile_and_interpret);
    primitives::testing::check_every_reduction();
    primitives::testing::check_every_scan();
    primitives::testing::check_every_histogram();
    primitives::testing::check_every_packing();
    primitives::testing::check_every_sort();
    primitives::testing::check_every_copy();
  }
}

}  // namespace
}  // namespace kenaz
