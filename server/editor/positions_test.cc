#include "server/editor/positions.h"

#include <gmock/gmock.h>

namespace kenaz::editor {
namespace {

// Of 1, 2, 3 and 4 bytes; the last takes two units of UTF-16.
const std::string kText = "abc\r\n-- x\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80y\nlast";

TEST(Positions, CountUtf16UnitsOrBytes) {
  EXPECT_EQ(to_place(kText, {2, 8}, Units::kUtf16).column, 8);
  EXPECT_EQ(to_place(kText, {2, 8}, Units::kUtf8).column, 13);
  EXPECT_EQ(to_position(kText, {1, 8}, Units::kUtf16), (SourcePos{2, 8}));
  EXPECT_EQ(to_position(kText, {1, 13}, Units::kUtf8), (SourcePos{2, 8}));
  EXPECT_EQ(kText[byte_of(kText, {1, 8}, Units::kUtf16)], 'y');
}

TEST(Positions, BehindAnEndAreTheEnd) {
  EXPECT_EQ(byte_of(kText, {0, 99}, Units::kUtf16), 3u);
  EXPECT_EQ(byte_of(kText, {9, 9}, Units::kUtf16), kText.size());
  EXPECT_EQ(to_position(kText, {0, 99}, Units::kUtf16), (SourcePos{1, 4}));
  EXPECT_EQ(to_position(kText, {9, 9}, Units::kUtf16).line, 3);
  EXPECT_EQ(to_place(kText, {0, 0}, Units::kUtf16).line, 0);
}

TEST(Positions, UrisArePaths) {
  EXPECT_EQ(path_of_uri("file:///a%20b/../%C3%A4.fut"), "/\xC3\xA4.fut");
  EXPECT_EQ(path_of_uri("file://host/a.fut"), "/a.fut");
  EXPECT_EQ(path_of_uri("untitled:1"), "untitled:1");
  EXPECT_EQ(path_of_uri("scheme://host/a.fut"), "scheme:/host/a.fut");
  EXPECT_EQ(path_of_uri("file:///a%2"), "/a%2");
  EXPECT_EQ(uri_of_path("/a b/\xC3\xA4.fut"), "file:///a%20b/%C3%A4.fut");
  EXPECT_EQ(path_of_uri(uri_of_path("/x y%z.fut")), "/x y%z.fut");
}

}  // namespace
}  // namespace kenaz::editor
