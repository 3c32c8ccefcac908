// Sessions on two devices, of which one is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/compiler.h"
#include "protocol/data/binary_format.h"
#include "server/device/vulkan/vulkan_device.h"
#include "server/host/device_engine.h"
#include "server/host/device_target.h"
#include "server/host/renewing_engine.h"
#include "server/session/session.h"

namespace kenaz {
namespace {

using testing::HasSubstr;

constexpr char kSum[] = "entry sum [n] (xs: [n]i32): i32 = reduce (+) 0 xs\n";

class DeviceLossTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<PooledDevice> devices;
    for (Device& d : devices_) {
      auto made = make(d);
      ASSERT_TRUE(made) << made.error().text();
      devices.push_back(std::move(*made));
    }
    pool_ = std::make_shared<DevicePool>(std::move(devices));
    for (auto& session : sessions_) {
      session.emplace(pool_, SessionOptions{});
      put(*session);
    }
  }

  struct Device {
    std::shared_ptr<device::VulkanFaults> faults = std::make_shared<device::VulkanFaults>();
    bool broken = false;  // it cannot be made
  };

  static Result<PooledDevice> make(Device& d) {
    device::VulkanOptions options;
    options.faults = d.faults;
    d.faults->lose_device = true;
    const host::RenewedDevice::Maker maker =
        [&d,
         make = device::vulkan_device_maker(options)]() -> Result<std::shared_ptr<device::Device>> {
      if (d.broken) return fail(ErrorKind::kInternal, "no such luck");
      return make();
    };
    KENAZ_ASSIGN(auto first, maker());
    const auto reader = [](const std::string&) -> Result<std::string> { return std::string(kSum); };
    KENAZ_ASSIGN(auto program,
                 compiler::compile("p.fut", {reader}, host::device_target(first->info())));
    auto renewed = std::make_shared<host::RenewedDevice>(maker, std::move(first));
    const auto factory = [shared = std::make_shared<const program::Program>(std::move(program))](
                             std::shared_ptr<device::Device> device) {
      return host::make_device_engine(shared, std::move(device));
    };
    KENAZ_ASSIGN(auto engine, host::make_renewing_engine(renewed, factory));
    return PooledDevice{only_program(std::move(engine)), renewed};
  }

  static void put(Session& session) {
    const std::vector<int32_t> values{1, 2, 3};
    const auto raw = std::as_bytes(std::span(values));
    std::string bytes;
    data::append_binary({PrimType::kI32, {3}, {raw.begin(), raw.end()}}, bytes);
    auto stream = session.begin(
        *protocol::parse_request("upload " + std::to_string(bytes.size()) + " xs []i32"));
    ASSERT_TRUE(stream);
    std::string_view rest = bytes;
    while ((*stream)->want() != Stream::Want::kDone) {
      if ((*stream)->want() == Stream::Want::kWork) {
        (*stream)->work();
        continue;
      }
      const auto to = (*stream)->input();
      const size_t n = std::min(to.size(), rest.size());
      std::copy_n(reinterpret_cast<const std::byte*>(rest.data()), n, to.begin());
      rest.remove_prefix(n);
      (*stream)->advance(n);
    }
    ASSERT_FALSE(session.end(**stream).failure);
  }
  static std::string run(Session& session, const std::string& line) {
    const auto reply = session.execute(line);
    std::string s;
    for (const auto& l : reply.output) s += (l.starts_with("runtime: ") ? "runtime" : l) + "|";
    if (reply.failure) s += "!" + *reply.failure;
    return s;
  }
  /// The sum of what `put` has put; the result's variable goes.
  static void expect_sum(Session& session) {
    ASSERT_EQ(run(session, "call sum s xs"), "runtime|");
    const auto s = session.variables().find("s");
    ASSERT_TRUE(s);
    const auto value = (*s)->leaves[0]->scalar();
    ASSERT_TRUE(value);
    EXPECT_EQ(value->as_i64(), 6);
    EXPECT_EQ(run(session, "free s"), "");
  }
  void lose(size_t device) {
    devices_[device].faults->calls = 0;
    devices_[device].faults->fail_at = 0;
    EXPECT_THAT(run(*sessions_[device], "call sum s xs"), HasSubstr("lost"));
    devices_[device].faults->fail_at = -1;
  }

  Device devices_[2];
  std::shared_ptr<DevicePool> pool_;
  std::optional<Session> sessions_[2];
};

TEST_F(DeviceLossTest, TheOtherDevicesSessionsGoOn) {
  ASSERT_EQ(sessions_[0]->device(), 0u);
  ASSERT_EQ(sessions_[1]->device(), 1u);
  expect_sum(*sessions_[0]);
  devices_[0].broken = true;
  lose(0);
  expect_sum(*sessions_[1]);
  EXPECT_THAT(run(*sessions_[0], "call sum s xs"), HasSubstr("and this value with it"));
  EXPECT_THAT(run(*sessions_[0], "devices"), HasSubstr("#0 lost 1"));
  EXPECT_EQ(pool_->figures()[0].losses, 1);
  EXPECT_EQ(pool_->figures()[1].losses, 0);

  Session next(pool_, SessionOptions{});  // though there are as many on the other
  EXPECT_EQ(next.device(), 1u);
  put(next);
  expect_sum(next);
  expect_sum(*sessions_[1]);

  // What is lost keeps its session from going; without it, it goes on there.
  EXPECT_THAT(run(*sessions_[0], "device #1"), HasSubstr("and this value with it"));
  EXPECT_EQ(run(*sessions_[0], "free xs"), "");
  EXPECT_EQ(run(*sessions_[0], "device #1"), "");
  put(*sessions_[0]);
  expect_sum(*sessions_[0]);
}

TEST_F(DeviceLossTest, ALostDeviceIsMadeAnewWithoutBeingUsed) {
  std::vector<size_t> posted;
  const auto look = [&] {
    pool_->look_after([&](size_t device, const std::function<void()>& job) {
      posted.push_back(device);
      job();
    });
  };
  look();
  EXPECT_THAT(posted, testing::ElementsAre());
  lose(1);
  EXPECT_TRUE(pool_->figures()[1].lost);
  look();
  EXPECT_THAT(posted, testing::ElementsAre(1));
  EXPECT_FALSE(pool_->figures()[1].lost);
  look();
  EXPECT_EQ(posted.size(), 1u);
  EXPECT_EQ(run(*sessions_[1], "free xs"), "");
  put(*sessions_[1]);
  expect_sum(*sessions_[1]);
  expect_sum(*sessions_[0]);
}

TEST_F(DeviceLossTest, ValuesGoBetweenDevices) {
  EXPECT_EQ(run(*sessions_[0], "device #1"), "");
  expect_sum(*sessions_[0]);
  EXPECT_EQ(pool_->figures()[0].calls, 0);
  EXPECT_EQ(pool_->figures()[1].calls, 1);
  EXPECT_EQ(run(*sessions_[0], "device #0"), "");
  expect_sum(*sessions_[0]);
}

}  // namespace
}  // namespace kenaz
