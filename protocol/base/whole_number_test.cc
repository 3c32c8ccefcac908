#include "protocol/base/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace kenaz {
namespace {

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_EQ(whole_number<int64_t>("-17"), -17);
  EXPECT_EQ(whole_number<uint32_t>("0640", 8), 0640U);
  EXPECT_EQ(whole_number<uint64_t>("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "0x1", "1.5"}) {
    EXPECT_FALSE(whole_number<int64_t>(text)) << text;
  }
}

TEST(WholeNumber, FitsItsType) {
  EXPECT_FALSE(whole_number<uint64_t>("-1"));
  EXPECT_FALSE(whole_number<uint64_t>("18446744073709551616"));
  EXPECT_FALSE(whole_number<int8_t>("128"));
  EXPECT_EQ(whole_number<int8_t>("-128"), -128);
}

}  // namespace
}  // namespace kenaz
