#include "server/device/vulkan/waker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace kenaz::device::vulkan {
namespace {

TEST(Waker, WakesOnceForEachPause) {
  std::atomic<int> wakes = 0;
  std::promise<void> first;
  {
    Waker waker([&] {
      if (++wakes == 1) first.set_value();
    });
    waker.work_ahead();
    EXPECT_EQ(wakes, 0);  // the device has just been made
    std::this_thread::sleep_for(Waker::kPause);
    for (int n = 0; n < 100; ++n) waker.work_ahead();
    first.get_future().wait();
  }
  EXPECT_EQ(wakes, 1);
}

TEST(Waker, EndsWhileItWakes) {
  std::promise<void> begun;
  std::atomic<bool> ended = false;
  {
    Waker waker([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ended = true;
    });
    std::this_thread::sleep_for(Waker::kPause);
    waker.work_ahead();
    begun.get_future().wait();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace kenaz::device::vulkan
