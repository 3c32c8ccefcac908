#include "server/transport/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kenaz {
namespace {

using testing::ElementsAre;

class JobQueueTest : public testing::Test {
 protected:
  ~JobQueueTest() override { finish(); }
  void start() {
    runner_ = std::thread([this] { queue_.run(); });
  }
  void finish() {
    queue_.stop();
    if (runner_.joinable()) runner_.join();
  }
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(what);
  }

  JobQueue queue_;
  std::thread runner_;
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

TEST_F(JobQueueTest, RunsWhatIsThereBeforeItStops) {
  for (int k = 0; k < 5; k++) queue_.post([this, k] { note(std::to_string(k)); });
  start();
  finish();
  EXPECT_THAT(notes_, ElementsAre("0", "1", "2", "3", "4"));
}

TEST_F(JobQueueTest, OthersGoOnWhileAJobSteppedAside) {
  std::promise<void> others_ran;
  queue_.post([&] {
    note("begins");
    queue_.step_aside([&] { others_ran.get_future().wait(); });
    note("ends");
  });
  for (int k = 0; k < 3; k++) queue_.post([this, k] { note(std::to_string(k)); });
  queue_.post([&] { others_ran.set_value(); });
  start();
  finish();
  EXPECT_THAT(notes_, ElementsAre("begins", "0", "1", "2", "ends"));
}

// More than there may be threads for.
TEST_F(JobQueueTest, OneJobRunsAtATime) {
  constexpr int kJobs = 40;
  std::atomic<int> running{0}, most{0}, ended{0};
  const auto work = [&] {
    most = std::max(most.load(), ++running);
    std::this_thread::yield();
    --running;
  };
  for (int k = 0; k < kJobs; k++) {
    queue_.post([&] {
      work();
      queue_.step_aside([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
      work();
      ++ended;
    });
  }
  start();
  finish();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(ended, kJobs);
}

TEST_F(JobQueueTest, WhoOffersAJobMayRunIt) {
  std::thread::id ran_on;
  queue_.offer([&] { ran_on = std::this_thread::get_id(); });
  EXPECT_TRUE(queue_.has_offered());
  queue_.take_offered();
  EXPECT_FALSE(queue_.has_offered());
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  EXPECT_TRUE(queue_.abandon(std::chrono::milliseconds(0)));
}

TEST_F(JobQueueTest, OfferedJobsKeepTheirTurn) {
  start();
  std::promise<void> running, go_on;
  queue_.post([&] {
    running.set_value();
    go_on.get_future().wait();
    note("posted");
  });
  running.get_future().wait();
  std::thread::id ran_on;
  queue_.offer([&] {
    note("offered");
    ran_on = std::this_thread::get_id();
  });
  queue_.take_offered();  // not while another runs
  go_on.set_value();
  finish();
  EXPECT_THAT(notes_, ElementsAre("posted", "offered"));
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

TEST_F(JobQueueTest, WhatIsHandedOnIsRunByOthers) {
  start();
  std::promise<std::thread::id> ran_on;
  queue_.offer([&] { ran_on.set_value(std::this_thread::get_id()); });
  queue_.hand_on();
  EXPECT_NE(ran_on.get_future().get(), std::this_thread::get_id());
}

TEST_F(JobQueueTest, AJobThatSteppedAsideIsAtWork) {
  std::promise<void> go_on, away;
  queue_.post([&] {
    queue_.step_aside([&] {
      away.set_value();
      go_on.get_future().wait();
    });
  });
  start();
  away.get_future().wait();
  EXPECT_FALSE(queue_.abandon(std::chrono::milliseconds(1)));
  go_on.set_value();
  EXPECT_TRUE(queue_.abandon(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace kenaz
