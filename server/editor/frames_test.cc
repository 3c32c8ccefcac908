#include "server/editor/frames.h"

#include <gmock/gmock.h>

#include <random>

namespace kenaz::editor {
namespace {

using testing::Optional;

TEST(Frames, ComeOutAsTheyWentInInPiecesOfAnySize) {
  const std::string stream = framed("one") + framed("") + framed("{\"a\": \"\n\n\"}");
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameReader reader;
    std::vector<std::string> bodies;
    for (size_t at = 0; at < stream.size(); at += piece) {
      reader.feed(std::string_view(stream).substr(at, piece));
      while (auto body = reader.next()) bodies.push_back(std::move(*body));
    }
    EXPECT_THAT(bodies, testing::ElementsAre("one", "", "{\"a\": \"\n\n\"}")) << piece;
  }
}

TEST(Frames, OtherFieldsAndSpellingsOfTheHead) {
  FrameReader reader;
  reader.feed("Content-Type: x\r\ncontent-LENGTH:  2 \r\n\r\nab");
  EXPECT_THAT(reader.next(), Optional(std::string("ab")));
}

TEST(Frames, AHeadWithoutALengthIsSkipped) {
  FrameReader reader;
  reader.feed("Content-Length: -1\r\n\r\nContent-Length: x\r\n\r\n\r\n" + framed("ok"));
  EXPECT_THAT(reader.next(), Optional(std::string("ok")));
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(Frames, AHeadWithoutAnEndTakesNoMemoryAndIsSkipped) {
  FrameReader reader;
  for (int i = 0; i < 1000; ++i) {
    reader.feed(std::string(10000, 'x'));
    EXPECT_EQ(reader.next(), std::nullopt);
  }
  reader.feed("\n\n" + framed("ok"));
  EXPECT_THAT(reader.next(), Optional(std::string("ok")));
}

TEST(Frames, ABodyThatIsTooLongIsSkipped) {
  FrameReader reader;
  reader.feed("Content-Length: 70000000\r\n\r\n");
  for (int i = 0; i < 70; ++i) {
    reader.feed(std::string(1000000, 'x'));
    EXPECT_EQ(reader.next(), std::nullopt);
  }
  reader.feed(framed("ok"));
  EXPECT_THAT(reader.next(), Optional(std::string("ok")));
}

TEST(Frames, AnyBytesAreRead) {
  std::mt19937 random(1);
  const std::string alphabet = "Content-Length: 0123456789\r\n\r\n\r\n{}x";
  for (int round = 0; round < 300; ++round) {
    FrameReader reader;
    for (int i = 0; i < 60; ++i) {
      std::string bytes = i % 3 == 0 ? "Content-Length: " : "";
      for (int k = 0; k < 20; ++k) bytes += alphabet[random() % alphabet.size()];
      reader.feed(bytes);
      for (int taken = 0; reader.next(); ++taken) ASSERT_LT(taken, 1000);
    }
  }
}

}  // namespace
}  // namespace kenaz::editor
