#include "protocol/base/diagnostic_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace kenaz {
namespace {

TEST(Colour, paints_headings_numbers_and_underlines) {
  const std::string text =
      "Error at a.fut:12:5-6:\nUnknown name \"y\".\n\n  12 | x = y\n     |     ^\nWarning:\nz";
  EXPECT_EQ(colour_diagnostics(text),
            "\x1b[1;31mError\x1b[0m at a.fut:12:5-6:\nUnknown name \"y\".\n\n"
            "\x1b[34m  12 |\x1b[0m x = y\n\x1b[34m     |\x1b[0m\x1b[1;31m     ^\x1b[0m\n"
            "\x1b[1;33mWarning\x1b[0m:\nz");
}

TEST(Colour, leaves_other_text_alone) {
  const std::string text = "Errors at\nExpected: #a | #b\n| x\n 3 | y\n\n";
  EXPECT_EQ(colour_diagnostics(text), text);
}

TEST(Excerpts, are_left_out) {
  EXPECT_EQ(without_excerpts("Error at a.fut:1:1-3:\nBad #a | b.\n\n  1 | x (\n    | ^^^\n    ...\n"
                             "  9 | )\n    | ^\n\nMore\n...\nend"),
            "Error at a.fut:1:1-3:\nBad #a | b.\n\n\nMore\n...\nend");
}

TEST(Colour, goes_to_terminals_only) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  EXPECT_FALSE(wants_colour(pipe_ends[1], nullptr, "xterm"));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "there are no terminals here";
  EXPECT_TRUE(wants_colour(terminal, nullptr, "xterm"));
  EXPECT_TRUE(wants_colour(terminal, "", nullptr));
  EXPECT_FALSE(wants_colour(terminal, "1", "xterm"));
  EXPECT_FALSE(wants_colour(terminal, nullptr, "dumb"));
  ::close(terminal);
}

}  // namespace
}  // namespace kenaz
