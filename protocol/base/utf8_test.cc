#include "protocol/base/utf8.h"

#include <gtest/gtest.h>

namespace kenaz {
namespace {

TEST(Utf8, CharactersOfEveryLength) {
  for (const char* text : {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x94\xa5", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa4z"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
}

TEST(Utf8, BytesThatAreNone) {
  for (const char* text : {"\xff", "\x80", "a\xc3", "\xc3(", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
                           "\xe2\x82", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x94",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(Utf8, ControlCharactersAreShown) {
  EXPECT_EQ(printable("a\x1b[1m\nb\x7f\xc3\xa4 ~"), "a?[1m?b?\xc3\xa4 ~");
}

TEST(Utf8, LinesHaveNoEnds) {
  EXPECT_EQ(split_lines("a\n\nb"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split_lines("a\r\n"), (std::vector<std::string>{"a\r"}));
  EXPECT_TRUE(split_lines("").empty());
}

}  // namespace
}  // namespace kenaz
