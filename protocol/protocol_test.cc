#include <gtest/gtest.h>

#include "protocol/command.h"
#include "protocol/reply.h"

namespace kenaz::protocol {
namespace {

using Words = std::vector<std::string>;

TEST(SplitLine, WordsAndQuotes) {
  EXPECT_EQ(split_line("  a\t\"(i32, bool)\"b \r"), (Words{"a", "(i32, bool)", "b"}));
  EXPECT_EQ(split_line("a\"b \"\""), (Words{"a\"b", ""}));
  EXPECT_EQ(split_line("a b \"c d e"), (Words{"a", "b"}));
  EXPECT_EQ(split_line(" "), Words{});
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "x ";
  EXPECT_EQ(split_line(many).size(), 5000u);
}

TEST(JoinWords, SplitsAgain) {
  const Words words{"call", "", "[](i32, bool)", "a\"b"};
  EXPECT_EQ(split_line(*join_words(words)), words);
  EXPECT_FALSE(join_words(Words{"a\nb"}));
  EXPECT_FALSE(join_words(Words{"a \"b"}));
}

TEST(Commands, TableHoldsTogether) {
  for (const auto& c : commands()) {
    EXPECT_EQ(find_command(c.name), &c);
    EXPECT_TRUE(c.max_args == -1 || c.min_args <= c.max_args);
  }
  EXPECT_EQ(find_command("nosuch"), nullptr);
}

TEST(Reply, SurvivesTheWire) {
  const Reply sent{{"a", ""}, "Error: x\n\nBacktrace:\n%%% OK\n"};
  const std::string wire = render(sent);
  EXPECT_EQ(wire, "a\n\n%%% FAILURE\nError: x\n\nBacktrace:\n %%% OK\n%%% OK\n");
  ReplyReader reader;
  size_t start = 0;
  for (size_t end; (end = wire.find('\n', start)) != std::string::npos; start = end + 1) {
    EXPECT_EQ(reader.feed(wire.substr(start, end - start)), end + 1 == wire.size());
  }
  const Reply got = reader.take();
  EXPECT_EQ(got.output, sent.output);
  EXPECT_EQ(got.failure, "Error: x\n\nBacktrace:\n %%% OK");
}

}  // namespace
}  // namespace kenaz::protocol
