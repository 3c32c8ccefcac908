#include "kernels/diagnostics/excerpt.h"

#include <gtest/gtest.h>

#include "kernels/diagnostics/diagnostic.h"

namespace kenaz {
namespace {

SourceRange range(const std::string& text, SourcePos begin, SourcePos end) {
  return {std::make_shared<const SourceFile>(SourceFile{"a.fut", text}), begin, end};
}

std::string shown(const std::string& text, SourcePos begin, SourcePos end) {
  return excerpt(range(text, begin, end));
}

TEST(Excerpt, underlines_the_range) {
  EXPECT_EQ(shown("def x = y + 1\r\n", {1, 9}, {1, 10}),
            "  1 | def x = y + 1\n"
            "    |         ^\n");
  EXPECT_EQ(shown("\n\n\n\n\n\n\n\n\ndef x =\n  y", {10, 7}, {11, 4}),
            "  10 | def x =\n"
            "     |       ^\n"
            "  11 |   y\n"
            "     |   ^\n");
}

TEST(Excerpt, shows_both_ends_of_many_lines) {
  const std::string text = "f (a,\n   b,\n\n   c,\n   d,\n   e) g\n";
  EXPECT_EQ(shown(text, {1, 3}, {6, 6}),
            "  1 | f (a,\n"
            "    |   ^^^\n"
            "  2 |    b,\n"
            "    |    ^^\n"
            "    ...\n"
            "  6 |    e) g\n"
            "    |    ^^\n");
}

TEST(Excerpt, counts_characters_and_widens_tabs) {
  EXPECT_EQ(shown("\tlet \xc3\xa9 = \"\xe2\x82\xac\" x", {1, 13}, {1, 14}),
            "  1 |     let \xc3\xa9 = \"\xe2\x82\xac\" x\n"
            "    |                ^\n");
}

TEST(Excerpt, hides_what_terminals_obey) {
  EXPECT_EQ(shown("a \x1b[31m \xc2\x9b \x7f b", {1, 1}, {1, 2}),
            "  1 | a ?[31m ? ? b\n"
            "    | ^\n");
}

TEST(Excerpt, cuts_long_lines) {
  const std::string text = std::string(300, 'a') + "b" + std::string(300, 'c');
  EXPECT_EQ(shown(text, {1, 301}, {1, 302}), "  1 | ..." + std::string(40, 'a') + "b" +
                                                 std::string(59, 'c') + "...\n" + "    | " +
                                                 std::string(43, ' ') + "^\n");
}

TEST(Excerpt, is_empty_where_there_is_nothing_to_show) {
  EXPECT_EQ(excerpt({}), "");
  EXPECT_EQ(shown("", {1, 1}, {1, 2}), "");
  EXPECT_EQ(shown("x\n", {2, 1}, {2, 1}), "");
  EXPECT_EQ(shown("x\n", {7, 1}, {9, 1}), "");
}

TEST(Excerpt, stays_within_lines_that_are_shorter_than_ranges_say) {
  EXPECT_EQ(shown("ab\n", {1, 50}, {1, 60}), "  1 | ab\n    |   ^\n");
  EXPECT_EQ(shown("ab\n", {1, 2}, {1, 1}), "  1 | ab\n    |  ^\n");
}

TEST(Diagnostic, has_the_text_behind_what_tools_parse) {
  Diagnostic d;
  d.range = range("x (y\n", {1, 3}, {1, 5});
  d.message = "Not good.";
  d.anchor = "not-good";
  d.notes.push_back({range("x (y\n", {1, 3}, {1, 4}), "This one is open"});
  EXPECT_EQ(d.str(),
            "Error at a.fut:1:3-5:\nNot good.\n\n  1 | x (y\n    |   ^^\n\nThis one is open:\n\n"
            "  1 | x (y\n    |   ^\n\nFor more information, see:\n"
            "  https://futhark.readthedocs.io/en/latest/error-index.html#not-good\n");
}

}  // namespace
}  // namespace kenaz
