#include "server/transport/input_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace kenaz {
namespace {

using Line = InputBuffer::Line;

void add(InputBuffer& buffer, std::string_view text) {
  const auto room = buffer.room(text.size() + 3);
  std::memcpy(room.data(), text.data(), text.size());
  buffer.committed(text.size());
}

TEST(InputBuffer, LinesInPiecesAndBytesBetween) {
  InputBuffer buffer;
  std::string line;
  add(buffer, "on");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kNone);
  add(buffer, "e\n\nbytes.two\nla");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kLine);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kLine);
  EXPECT_EQ(line, "");
  std::byte bytes[6];
  EXPECT_EQ(buffer.take(bytes), 6u);
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kLine);
  EXPECT_EQ(line, "two");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kNone);
  add(buffer, "st");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kNone);
  EXPECT_EQ(buffer.take_line(10, true, line), Line::kLine);
  EXPECT_EQ(line, "last");
  EXPECT_EQ(buffer.take_line(10, true, line), Line::kNone);
}

TEST(InputBuffer, LinesThatAreTooLongTakeNoMemory) {
  InputBuffer buffer;
  std::string line;
  for (int i = 0; i < 1000; ++i) {
    add(buffer, std::string(100, 'x'));
    EXPECT_EQ(buffer.take_line(10, false, line), Line::kNone);
    EXPECT_EQ(buffer.size(), 0u);
  }
  add(buffer, "\nshort\n12345678901\n");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kTooLong);
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kLine);
  EXPECT_EQ(line, "short");
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kTooLong);
  add(buffer, std::string(11, 'x'));
  EXPECT_EQ(buffer.take_line(10, false, line), Line::kNone);
  EXPECT_EQ(buffer.take_line(10, true, line), Line::kTooLong);
  EXPECT_EQ(buffer.take_line(10, true, line), Line::kNone);
}

TEST(InputBuffer, ADroppedLineIsToldWhenItEnds) {
  InputBuffer buffer;
  std::string line;
  add(buffer, std::string(300'000, 'x'));
  EXPECT_EQ(buffer.take_line(1'000'000, false, line), Line::kNone);
  EXPECT_GE(buffer.capacity(), 300'000u);
  EXPECT_GT(buffer.capacity_with(buffer.capacity()), buffer.capacity());
  buffer.drop_line();
  EXPECT_LT(buffer.capacity(), 1000u);
  add(buffer, "more\nshort\n");
  EXPECT_EQ(buffer.take_line(1'000'000, false, line), Line::kTooLong);
  EXPECT_EQ(buffer.take_line(1'000'000, false, line), Line::kLine);
  EXPECT_EQ(line, "short");
}

TEST(InputBuffer, GivesMemoryBackWhenItIsEmpty) {
  InputBuffer buffer;
  std::string line;
  add(buffer, std::string(300'000, 'x') + "\n");
  EXPECT_EQ(buffer.take_line(1'000'000, false, line), Line::kLine);
  add(buffer, "y");
  EXPECT_LT(buffer.capacity(), 100'000u);
}

}  // namespace
}  // namespace kenaz
