#include "server/transport/stand_in.h"

#include <gtest/gtest.h>

#include <semaphore>
#include <thread>

namespace kenaz {
namespace {

class StandInTest : public testing::Test {
 protected:
  StandInTest() : second_([this] { stand_in_.watch(); }) {}
  ~StandInTest() override {
    stand_in_.stop();
    second_.join();
  }

  std::counting_semaphore<> served_{0}, called_back_{0};
  bool is_serving_ = false, was_wanted_back_ = false;  // guarded by what StandIn promises
  StandIn stand_in_{[this] {
                      is_serving_ = true;
                      served_.release();
                      called_back_.acquire();
                      was_wanted_back_ = stand_in_.is_wanted_back();
                      is_serving_ = false;
                    },
                    [this] { called_back_.release(); }};
  std::thread second_;
};

TEST_F(StandInTest, NobodyServesOnceWorkIsDone) {
  int done = 0;
  for (int i = 0; i < 10'000; ++i) {
    stand_in_.run([&] { ++done; });
    EXPECT_FALSE(is_serving_);
    EXPECT_FALSE(stand_in_.is_wanted_back());
  }
  EXPECT_EQ(done, 10'000);
}

TEST_F(StandInTest, WhileWorkLastsTheSecondThreadServes) {
  for (int i = 0; i < 3; ++i) {
    stand_in_.run([&] {
      EXPECT_FALSE(stand_in_.is_wanted_back());
      served_.acquire();
    });
    EXPECT_TRUE(was_wanted_back_);
    EXPECT_FALSE(is_serving_);
    EXPECT_FALSE(stand_in_.is_wanted_back());
  }
}

// The second thread has gone to sleep by then.
TEST_F(StandInTest, LongWorkAfterAPauseIsNoticed) {
  std::this_thread::sleep_for(40 * StandIn::kPatience);
  stand_in_.run([&] { served_.acquire(); });
  EXPECT_TRUE(was_wanted_back_);
}

}  // namespace
}  // namespace kenaz
