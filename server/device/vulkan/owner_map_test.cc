#include "server/device/vulkan/owner_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace kenaz::device::vulkan {

bool operator==(const OwnerMap::Range& a, const OwnerMap::Range& b) {
  return a.offset == b.offset && a.size == b.size;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Range = OwnerMap::Range;

TEST(OwnerMap, ClearMemoryIsAnybodys) {
  OwnerMap map(1000, true);
  EXPECT_THAT(map.claim(0, 500, 1), IsEmpty());
  EXPECT_THAT(map.claim(500, 500, 2), IsEmpty());
}

TEST(OwnerMap, WhatOthersHadIsToBeClearedOnce) {
  OwnerMap map(1000, true);
  map.claim(100, 200, 1);
  EXPECT_THAT(map.claim(100, 200, 1), IsEmpty());
  EXPECT_THAT(map.claim(0, 1000, 2), ElementsAre(Range{100, 200}));
  EXPECT_THAT(map.claim(0, 1000, 2), IsEmpty());
  EXPECT_THAT(map.claim(150, 10, 1), ElementsAre(Range{150, 10}));
}

TEST(OwnerMap, PartsOfOthersSideBySideAreOne) {
  OwnerMap map(1000, true);
  map.claim(100, 100, 1);
  map.claim(200, 100, 2);
  map.claim(300, 100, 3);
  map.claim(600, 100, 1);
  EXPECT_THAT(map.claim(0, 1000, 3), ElementsAre(Range{100, 200}, Range{600, 100}));
}

TEST(OwnerMap, MemoryOfUnknownOriginIsClearedForEverybody) {
  OwnerMap map(1000, false);
  EXPECT_THAT(map.claim(0, 400, 0), ElementsAre(Range{0, 400}));
  EXPECT_THAT(map.claim(0, 1000, 0), ElementsAre(Range{400, 600}));
}

TEST(OwnerMap, WhatIsWrittenUnseenOverOthersBytesIsOfUnknownOrigin) {
  OwnerMap map(1000, true);
  map.claim(0, 300, 1);
  map.claim_unseen(200, 200, 2);
  EXPECT_THAT(map.claim(300, 100, 2), IsEmpty());
  EXPECT_THAT(map.claim(200, 200, 2), ElementsAre(Range{200, 100}));
  map.claim_unseen(0, 200, 2);
  EXPECT_THAT(map.claim(0, 200, 1), ElementsAre(Range{0, 200}));
}

TEST(OwnerMap, AgreesWithOneOwnerPerByte) {
  constexpr int64_t kSize = 64;
  constexpr int kNobody = -1, kUnknown = -2;
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    OwnerMap map(kSize, round % 2 == 0);
    std::vector<int> owners(kSize, round % 2 == 0 ? kNobody : kUnknown);
    for (int step = 0; step < 60; ++step) {
      const auto at = static_cast<int64_t>(random() % kSize);
      const auto size = 1 + static_cast<int64_t>(random() % (kSize - at));
      const int owner = static_cast<int>(random() % 3);
      const bool unseen = random() % 4 == 0;
      std::vector<bool> expected(kSize), given(kSize);
      for (int64_t i = at; i < at + size; ++i) {
        int& old = owners[i];
        const bool foreign = old != owner && old != kNobody;
        expected[i] = foreign && !unseen;
        old = foreign && unseen ? kUnknown : owner;
      }
      if (unseen) {
        map.claim_unseen(at, size, static_cast<uint64_t>(owner));
      } else {
        for (const Range& r : map.claim(at, size, static_cast<uint64_t>(owner))) {
          for (int64_t i = r.offset; i < r.offset + r.size; ++i) given[i] = true;
        }
      }
      ASSERT_EQ(given, expected);
    }
  }
}

}  // namespace
}  // namespace kenaz::device::vulkan
