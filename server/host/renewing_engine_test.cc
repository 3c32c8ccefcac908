// Devices that are lost at every call that could lose them, and come back.
#include "server/host/renewing_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "kernels/compiler.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "server/testdata/pieces.h"

namespace kenaz::host {
namespace {

using testing::HasSubstr;

constexpr char kDoubled[] = R"(
entry doubled [n] (xs: [n]i32): [n]i32 = map (* 2) (scan (+) 0 xs)
)";

class RenewingEngineTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto plain = device::make_vulkan_device({});
    ASSERT_TRUE(plain) << plain.error().text();
    const auto reader = [](const std::string&) -> Result<std::string> {
      return std::string(kDoubled);
    };
    auto program = compiler::compile("test.fut", {reader}, device_target((*plain)->info()));
    ASSERT_TRUE(program) << program.error().text();
    device::VulkanOptions options;
    options.validation = log_;
    options.force_staging = GetParam();
    options.faults = faults_;
    faults_->lose_device = true;
    const RenewedDevice::Maker devices =
        [this,
         make = device::vulkan_device_maker(options)]() -> Result<std::shared_ptr<device::Device>> {
      ++attempts_;
      if (broken_) return fail(ErrorKind::kInternal, "no such luck");
      return make();
    };
    auto first = devices();
    ASSERT_TRUE(first) << first.error().text();
    device_ = std::make_shared<RenewedDevice>(devices, std::move(*first));
    factory_ = [shared = std::make_shared<const program::Program>(std::move(*program))](
                   std::shared_ptr<device::Device> device) {
      return make_device_engine(shared, std::move(device));
    };
    auto made = make_renewing_engine(device_, factory_);
    ASSERT_TRUE(made) << made.error().text();
    engine_ = std::move(*made);
    data_.resize(400'000);
    std::iota(data_.begin(), data_.end(), 1);
  }
  void TearDown() override {
    engine_.reset();
    device_.reset();
    EXPECT_THAT(log_->messages(), testing::ElementsAre());
  }

  data::Value value() const {
    const auto bytes = std::as_bytes(std::span(data_));
    return {PrimType::kI32, {static_cast<int64_t>(data_.size())}, {bytes.begin(), bytes.end()}};
  }
  /// Everything that a client can do with values, from a new one on.
  Status day(LeafPtr& put) {
    KENAZ_ASSIGN(put, engine_->put(value()));
    KENAZ_ASSIGN(const LeafPtr streamed, write_in_pieces(*engine_, value()));
    KENAZ_ASSIGN(const auto results, engine_->call("doubled", std::span(&streamed, 1)));
    KENAZ_ASSIGN(const data::Value got, engine_->get(*results[0]));
    KENAZ_ASSIGN(const auto same, read_in_pieces(*engine_, results[0]));
    EXPECT_EQ(got.at(3).as_i64(), 20);
    EXPECT_TRUE(same_bytes(got.bytes, same));
    return {};
  }
  void expect_lost(const LeafPtr& leaf) {
    constexpr char kText[] = "The device was lost, and this value with it.";
    const auto check = [&](const Error& error) {
      EXPECT_EQ(error.kind, ErrorKind::kDeviceLost);
      EXPECT_EQ(error.message, kText);
    };
    const auto got = engine_->get(*leaf);
    ASSERT_FALSE(got);
    check(got.error());
    const auto reader = engine_->reader(leaf);
    ASSERT_FALSE(reader);
    check(reader.error());
    const auto called = engine_->call("doubled", std::span(&leaf, 1));
    ASSERT_FALSE(called);
    check(called.error());
  }

  std::shared_ptr<device::ValidationLog> log_ = std::make_shared<device::ValidationLog>();
  std::shared_ptr<device::VulkanFaults> faults_ = std::make_shared<device::VulkanFaults>();
  std::vector<int32_t> data_;
  int attempts_ = 0;
  bool broken_ = false;
  std::shared_ptr<RenewedDevice> device_;
  EngineFactory factory_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(RenewingEngineTest, TheDeviceIsLostAtAnyCall) {
  LeafPtr first;
  ASSERT_TRUE(day(first));
  ASSERT_TRUE(engine_->get(*first));
  int64_t lost = 0;
  bool reached = true;
  for (int64_t n = 0; reached; ++n) {
    faults_->calls = 0;
    faults_->fail_at = n;
    const int before = attempts_;
    LeafPtr put;
    const Status status = day(put);
    reached = faults_->calls > n;
    faults_->fail_at = -1;
    LeafPtr again;
    const Status next = day(again);
    ASSERT_TRUE(next) << n << ": " << next.error().text();
    if (status) continue;
    ++lost;
    EXPECT_EQ(status.error().kind, ErrorKind::kDeviceLost) << n << ": " << status.error().text();
    EXPECT_EQ(attempts_, before + 1) << n;
    if (put) expect_lost(put);
    EXPECT_TRUE(engine_->get(*again));
  }
  EXPECT_GT(lost, GetParam() ? 10 : 3);
  expect_lost(first);
}

TEST_P(RenewingEngineTest, AValueOfAnotherDeviceIsNotTaken) {
  const auto make = [] { return device::make_vulkan_device({}); };
  auto first = make();
  ASSERT_TRUE(first) << first.error().text();
  const auto elsewhere = std::make_shared<RenewedDevice>(make, std::move(*first));
  auto other = make_renewing_engine(elsewhere, factory_);
  ASSERT_TRUE(other) << other.error().text();
  const auto leaf = (*other)->put(value());
  ASSERT_TRUE(leaf) << leaf.error().text();
  const auto called = engine_->call("doubled", std::span(&*leaf, 1));
  ASSERT_FALSE(called);  // though the generation is the same
  EXPECT_EQ(called.error().kind, ErrorKind::kInternal);
  EXPECT_FALSE(engine_->get(**leaf));
  EXPECT_TRUE((*other)->get(**leaf));
  EXPECT_EQ(elsewhere->losses(), 0u);
  EXPECT_FALSE(elsewhere->is_lost());
}

TEST_P(RenewingEngineTest, WritersAndReadersOfALostDeviceSaySo) {
  LeafPtr leaf;
  ASSERT_TRUE(day(leaf));
  auto writer = engine_->writer(PrimType::kI32, value().shape);
  auto reader = engine_->reader(leaf);
  ASSERT_TRUE(writer && reader);
  faults_->calls = 0;
  faults_->fail_at = 0;
  ASSERT_FALSE(engine_->call("doubled", std::span(&leaf, 1)));
  faults_->fail_at = -1;
  for (const bool renewed : {false, true}) {
    if (renewed) {
      ASSERT_TRUE(day(leaf));
    }
    EXPECT_EQ((*writer)->work().error().message, "The device was lost, and this value with it.");
    EXPECT_EQ((*reader)->work().error().message, "The device was lost, and this value with it.");
    EXPECT_FALSE((*writer)->finish());
  }
  // Windows that were handed out stay good.
  const auto window = (*writer)->window();
  std::fill(window.begin(), window.end(), std::byte{1});
}

TEST_P(RenewingEngineTest, AttemptsThatFailAreRepeatedNowAndThen) {
  faults_->calls = 0;
  faults_->fail_at = 0;
  LeafPtr leaf;
  ASSERT_FALSE(day(leaf));
  faults_->fail_at = -1;
  broken_ = true;
  attempts_ = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    const Status status = day(leaf);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind, ErrorKind::kDeviceLost);
    EXPECT_THAT(status.error().text(), HasSubstr("no such luck"));
    EXPECT_THAT(status.error().text(), HasSubstr("while making the device anew"));
  }
  const auto seconds = std::chrono::steady_clock::now() - begin;  // on a busy machine more than one
  EXPECT_LE(attempts_, 1 + std::chrono::floor<std::chrono::seconds>(seconds).count());
  const int attempts = attempts_;
  EXPECT_EQ(engine_->memory().used, 0);
  engine_->cancel();
  engine_->clear_caches();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_FALSE(day(leaf));
  EXPECT_EQ(attempts_, attempts + 1);
  broken_ = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const Status status = day(leaf);
  EXPECT_TRUE(status) << status.error().text();
}

TEST_P(RenewingEngineTest, EnginesOfOneDeviceShareValuesAndLoseThemTogether) {
  auto other = make_renewing_engine(device_, factory_);
  ASSERT_TRUE(other);
  LeafPtr leaf;
  ASSERT_TRUE(day(leaf));
  auto called = (*other)->call("doubled", std::span(&leaf, 1));
  ASSERT_TRUE(called) << called.error().text();
  EXPECT_EQ(engine_->get(*called->at(0))->at(3).as_i64(), 20);
  const std::weak_ptr<device::Device> old = *device_->get();
  faults_->calls = 0;
  faults_->fail_at = 0;
  ASSERT_FALSE((*other)->call("doubled", std::span(&leaf, 1)));
  faults_->fail_at = -1;
  leaf.reset();
  called->clear();
  EXPECT_TRUE(old.expired());  // neither engine holds it
  const int before = attempts_;
  ASSERT_TRUE(day(leaf));
  EXPECT_TRUE((*other)->call("doubled", std::span(&leaf, 1)));
  EXPECT_EQ(attempts_, before + 1);
}

TEST_P(RenewingEngineTest, AnEngineThatFindsNoMemoryOnANewDeviceLeavesItToOthers) {
  bool full = false;
  auto other = make_renewing_engine(
      device_, [&](std::shared_ptr<device::Device> device) -> Result<std::unique_ptr<Engine>> {
        if (full) return fail(ErrorKind::kOutOfMemory, "no room");
        return factory_(std::move(device));
      });
  ASSERT_TRUE(other);
  faults_->calls = 0;
  faults_->fail_at = 0;
  LeafPtr leaf;
  ASSERT_FALSE(day(leaf));
  faults_->fail_at = -1;
  ASSERT_TRUE(day(leaf));
  full = true;
  const auto refused = (*other)->put(value());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kOutOfMemory);
  EXPECT_TRUE(engine_->get(*leaf));
  EXPECT_FALSE(device_->is_lost());
  full = false;
  EXPECT_TRUE((*other)->call("doubled", std::span(&leaf, 1)));
}

INSTANTIATE_TEST_SUITE_P(Vulkan, RenewingEngineTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Staged" : "Mapped"; });

}  // namespace
}  // namespace kenaz::host
