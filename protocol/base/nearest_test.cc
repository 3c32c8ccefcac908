#include "protocol/base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace kenaz {
namespace {

TEST(Nearest, takes_what_is_closest) {
  const std::vector<std::string> names = {"filter", "map", "count", "map2", "Length"};
  EXPECT_EQ(nearest("mpa", names), "map");
  EXPECT_EQ(nearest("coutn", names), "count");
  EXPECT_EQ(nearest("cunt", names), "count");
  EXPECT_EQ(nearest("fillter", names), "filter");
  EXPECT_EQ(nearest("length", names), "Length");
}

TEST(Nearest, is_silent_where_nothing_is_close) {
  const std::vector<std::string> names = {"x", "xy", "filter", std::string(1000, 'a')};
  EXPECT_EQ(nearest("y", names), "");
  EXPECT_EQ(nearest("reduce", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest(std::string(999, 'a'), names), "");
}

}  // namespace
}  // namespace kenaz
