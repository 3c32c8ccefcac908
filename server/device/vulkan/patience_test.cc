#include "server/device/vulkan/patience.h"

#include <gtest/gtest.h>

namespace kenaz::device::vulkan {
namespace {

using std::chrono::milliseconds;

TEST(Patience, WhatIsShortIsLookedForAtOnce) {
  Patience p;
  EXPECT_EQ(p.limit(), Patience::kShort);
  p.note(milliseconds(1));
  EXPECT_EQ(p.limit(), Patience::kShort);
}

TEST(Patience, WhatTookSomeMillisecondsIsLookedForTheNextTime) {
  Patience p;
  p.note(milliseconds(6));
  EXPECT_GT(p.limit(), milliseconds(7));
  EXPECT_LT(p.limit(), milliseconds(8));
}

TEST(Patience, WhatTakesLongIsSleptThrough) {
  Patience p;
  for (int n = 0; n < 3; n++) p.note(milliseconds(50));
  EXPECT_EQ(p.limit(), Patience::kShort);
}

TEST(Patience, ShortWaitsInBetweenChangeLittle) {
  Patience p;
  p.note(milliseconds(8));
  p.note(milliseconds(0));
  EXPECT_GT(p.limit(), milliseconds(8));
  for (int n = 0; n < 40; n++) p.note(milliseconds(0));
  EXPECT_EQ(p.limit(), Patience::kShort);
}

}  // namespace
}  // namespace kenaz::device::vulkan
