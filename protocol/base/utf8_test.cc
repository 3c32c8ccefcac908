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

TEST(Utf8, CodePointsComeBack) {
  for (const uint32_t c : {0x41U, 0x7fU, 0x80U, 0x7ffU, 0x800U, 0xffffU, 0x10000U, 0x10ffffU}) {
    std::string text;
    append_utf8(text, c);
    std::string_view rest = text;
    EXPECT_EQ(take_code_point(rest), c);
    EXPECT_TRUE(rest.empty()) << c;
  }
}

TEST(Utf8, OneByteOrderMarkIsDropped) {
  EXPECT_EQ(without_byte_order_mark("\xef\xbb\xbf\xef\xbb\xbf"
                                    "a"),
            "\xef\xbb\xbf"
            "a");
  EXPECT_EQ(without_byte_order_mark("a"), "a");
  EXPECT_EQ(without_byte_order_mark("\xef\xbb"), "\xef\xbb");
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
