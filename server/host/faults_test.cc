// Whatever Vulkan call fails, and however: the operation it belongs to fails with a message or
// succeeds, and the next ones do what they shall. With a program from the compiler.
//
// Every call, every kind, staged and mapped takes minutes; usually some are left out. All of them:
// server_test --gtest_filter='*Faults*' --gtest_also_run_disabled_tests
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/compiler.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "server/host/renewing_engine.h"
#include "server/testdata/fault_stride.h"
#include "server/testdata/pieces.h"

namespace kenaz::host {
namespace {

// Several kernels, a host loop that waits for a value, and one that consumes its argument.
constexpr char kWork[] = R"(
def table = map (\i -> i * i) (iota 100)
entry work [n] (xs: [n]i32): ([n]i32, i64) =
  let ys = scan (+) 0 xs
  let (zs, rounds) = loop (zs, k) = (ys, 0) while k < 5 && i32.sum zs != 0 do
    (map (\z -> (z + i32.i64 table[k]) % 1000) zs, k + 1)
  in (zs, rounds)
entry bump [n] (xs: *[n]i32): *[n]i32 = xs with [n / 2] = 7
)";

enum class Kind { kDeviceMemory, kHostMemory, kLost };

constexpr int64_t kMarked = 3;

class Faults : public testing::TestWithParam<std::tuple<bool, Kind>> {
 protected:
  void SetUp() override {
    auto device = device::make_vulkan_device({});
    ASSERT_TRUE(device) << device.error().text();
    keeps_the_driver_loaded_ = *device;
    auto program = compiler::compile(
        "test.fut", {[](const std::string&) -> Result<std::string> { return std::string(kWork); }},
        device_target((*device)->info()));
    ASSERT_TRUE(program) << program.error().text();
    program_ = std::make_shared<const program::Program>(std::move(*program));
    data_.resize(300'000);
    std::iota(data_.begin(), data_.end(), -150'000);
  }

  Result<std::unique_ptr<Engine>> started() {
    device::VulkanOptions options;
    options.validation = log_;
    options.force_staging = std::get<0>(GetParam());
    options.faults = faults_;
    const RenewedDevice::Maker devices = device::vulkan_device_maker(options);
    KENAZ_ASSIGN(auto first, devices());
    return make_renewing_engine(std::make_shared<RenewedDevice>(devices, std::move(first)),
                                [program = program_](std::shared_ptr<device::Device> device) {
                                  return make_device_engine(program, std::move(device));
                                });
  }

  data::Value value() const {
    const auto bytes = std::as_bytes(std::span(data_));
    return {PrimType::kI32, {static_cast<int64_t>(data_.size())}, {bytes.begin(), bytes.end()}};
  }
  /// Restore, call, store, both ways; what comes out is compared with what came out first.
  Status day(Engine& engine) {
    KENAZ_ASSIGN(const LeafPtr put, engine.put(value()));
    KENAZ_ASSIGN(const LeafPtr seven,
                 engine.put(data::Value::scalar(PrimValue::of_int(PrimType::kI32, 7))));
    KENAZ_ASSIGN(marked_, engine.with_element(put, kMarked, seven, false));
    KENAZ_ASSIGN(copied_, engine.element(put, 0, 0));
    KENAZ_ASSIGN(const LeafPtr written, write_in_pieces(engine, value()));
    KENAZ_ASSIGN(const auto worked, engine.call("work", std::span(&written, 1)));
    KENAZ_ASSIGN(const auto bumped, engine.call("bump", std::span(&put, 1)));
    KENAZ_ASSIGN(const data::Value rounds, engine.get(*worked[1]));
    KENAZ_ASSIGN(const data::Value got, engine.get(*worked[0]));
    KENAZ_ASSIGN(const auto read, read_in_pieces(engine, bumped[0]));
    engine.clear_caches();
    std::vector<std::byte> all = got.bytes;
    all.insert(all.end(), read.begin(), read.end());
    if (expected_.empty()) expected_ = all;
    EXPECT_TRUE(same_bytes(all, expected_));
    EXPECT_EQ(rounds.at(0).as_i64(), 5);
    return {};
  }

  /// What has been answered must be there, also when a later operation failed.
  static void expect_kept(Engine& engine, const LeafPtr& leaf, const data::Value& wanted) {
    if (!leaf) return;
    const auto kept = engine.get(*leaf);
    if (!kept && kept.error().kind == ErrorKind::kDeviceLost) return;
    ASSERT_TRUE(kept) << kept.error().text();
    EXPECT_TRUE(*kept == wanted);
  }
  void expect_kept(Engine& engine) {
    data::Value wanted = value();
    expect_kept(engine, std::exchange(copied_, nullptr), wanted);
    const int32_t seven = 7;
    std::memcpy(wanted.bytes.data() + 4 * kMarked, &seven, sizeof seven);
    expect_kept(engine, std::exchange(marked_, nullptr), wanted);
  }

  bool fits(const Error& error) const {
    switch (std::get<1>(GetParam())) {
      case Kind::kLost: return error.kind == ErrorKind::kDeviceLost;
      default: return error.kind == ErrorKind::kOutOfMemory;
    }
  }
  /// Lets the n-th call fail; whether there was one.
  bool fail_one(int64_t n) {
    marked_ = copied_ = nullptr;  // what an engine before this one answered went with it
    faults_->calls = 0;
    faults_->fail_at = n;
    auto engine = started();
    const bool in_start = faults_->calls > n;
    const Status first = engine ? day(**engine) : Status(tl::make_unexpected(engine.error()));
    const bool reached = faults_->calls > n;
    faults_->fail_at = -1;
    ++(in_start ? at_start_ : in_use_);
    if (!first) {
      ++failed_;
      EXPECT_TRUE(fits(first.error())) << n << ": " << first.error().text();
      EXPECT_FALSE(first.error().message.empty());
    }
    if (!engine) return true;
    expect_kept(**engine);
    for (int again = 0; again < 2; ++again) {
      const Status next = day(**engine);
      EXPECT_TRUE(next) << n << ": " << next.error().text();
    }
    marked_ = copied_ = nullptr;
    return reached;
  }
  void run(int64_t stride) {
    faults_->lose_device = std::get<1>(GetParam()) == Kind::kLost;
    faults_->host_memory = std::get<1>(GetParam()) == Kind::kHostMemory;
    {
      auto engine = started();
      ASSERT_TRUE(engine) << engine.error().text();
      ASSERT_TRUE(day(**engine));
    }
    int64_t n = 0;
    while (fail_one(n)) n += stride;
    EXPECT_GT(failed_ * stride, 60);
    EXPECT_THAT(log_->messages(), testing::ElementsAre());
    fmt::print("{} calls, every {}.: {} failed while starting, {} in use; {} operations failed\n",
               n, stride, at_start_, in_use_, failed_);
  }

  std::shared_ptr<device::Device> keeps_the_driver_loaded_;
  std::shared_ptr<device::ValidationLog> log_ = std::make_shared<device::ValidationLog>();
  std::shared_ptr<device::VulkanFaults> faults_ = std::make_shared<device::VulkanFaults>();
  std::shared_ptr<const program::Program> program_;
  std::vector<int32_t> data_;
  LeafPtr marked_, copied_;  // see day()
  std::vector<std::byte> expected_;
  int64_t at_start_ = 0, in_use_ = 0, failed_ = 0;
};

TEST_P(Faults, AtSomeCallsAreSurvived) { run(7 * kFaultStride); }
TEST_P(Faults, DISABLED_AtAnyCallAreSurvived) { run(1); }

std::string name_of(const testing::TestParamInfo<std::tuple<bool, Kind>>& info) {
  const char* const names[] = {"DeviceMemory", "HostMemory", "Lost"};
  return std::string(std::get<0>(info.param) ? "Staged" : "Mapped") +
         names[static_cast<int>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Vulkan, Faults,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Kind::kDeviceMemory, Kind::kHostMemory,
                                                          Kind::kLost)),
                         name_of);

}  // namespace
}  // namespace kenaz::host
