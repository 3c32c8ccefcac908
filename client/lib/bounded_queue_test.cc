#include "client/lib/bounded_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kenaz::client {
namespace {

TEST(BoundedQueue, ItemsComeInOrderThoughBothSidesWait) {
  BoundedQueue<int> queue(2);
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(queue.push(i));
    queue.close();
  });
  std::vector<int> got;
  while (const auto item = queue.pop()) got.push_back(*item);
  writer.join();
  ASSERT_EQ(got.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], i);
}

TEST(BoundedQueue, HoldsNoMoreThanItsLimit) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.offer(1));
  EXPECT_TRUE(queue.offer(2));
  EXPECT_FALSE(queue.offer(3));
  EXPECT_EQ(queue.try_pop(), 1);
  EXPECT_TRUE(queue.offer(4));
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_EQ(queue.pop(), 4);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(BoundedQueue, WhatIsInAClosedOneCanBeTaken) {
  BoundedQueue<int> queue(1);
  EXPECT_TRUE(queue.push(1));
  queue.close();
  EXPECT_FALSE(queue.push(2));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(BoundedQueue, AbandonedWhileSomebodyWaits) {
  BoundedQueue<int> full(1), empty(1);
  EXPECT_TRUE(full.push(1));
  std::thread writer([&] { EXPECT_FALSE(full.push(2)); });
  std::thread reader([&] { EXPECT_EQ(empty.pop(), std::nullopt); });
  full.abandon();
  empty.abandon();
  writer.join();
  reader.join();
  EXPECT_EQ(full.pop(), std::nullopt);
}

}  // namespace
}  // namespace kenaz::client
