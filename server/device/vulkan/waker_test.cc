#include "server/device/vulkan/waker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace kenaz::device::vulkan {
namespace {

using std::chrono::milliseconds;

TEST(Waker, WakesWhileThereIsWorkAndForATimeAfter) {
  std::atomic<int> wakes = 0;
  std::promise<void> third;
  Waker waker({[&] {
                if (++wakes == 3) third.set_value();
              }},
              {milliseconds(20), milliseconds(20), milliseconds(10000)});
  std::this_thread::sleep_for(milliseconds(60));
  EXPECT_EQ(wakes, 0);
  waker.work_ahead();
  third.get_future().wait();
}

TEST(Waker, RestsWhenThereIsNoWork) {
  std::atomic<int> wakes = 0, rests = 0;
  Waker waker({[&] { ++wakes; }, [&] { ++rests; }},
              {milliseconds(5), milliseconds(5), milliseconds(30)});
  waker.work_ahead();
  int before = -1;
  while (wakes != before) {  // never, if it does not rest
    before = wakes;
    std::this_thread::sleep_for(milliseconds(100));
  }
  while (rests == 0) std::this_thread::sleep_for(milliseconds(1));
  waker.work_ahead();
  while (wakes == before) std::this_thread::sleep_for(milliseconds(1));
}

TEST(Waker, EndsWhileItWakes) {
  std::promise<void> begun;
  std::atomic<bool> ended = false;
  {
    Waker waker({[&] {
                  if (!ended) begun.set_value();
                  std::this_thread::sleep_for(milliseconds(50));
                  ended = true;
                }},
                {milliseconds(1), milliseconds(1), milliseconds(1000)});
    waker.work_ahead();
    begun.get_future().wait();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace kenaz::device::vulkan
