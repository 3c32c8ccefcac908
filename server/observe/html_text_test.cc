#include "server/observe/html_text.h"

#include <gtest/gtest.h>

namespace kenaz::observe {
namespace {

TEST(HtmlText, WhatMeansSomethingInHtmlIsEscaped) {
  EXPECT_EQ(escaped("a < b && c > \"d\" 'e'"),
            "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
  EXPECT_EQ(escaped("</td><script>x</script>"), "&lt;/td&gt;&lt;script&gt;x&lt;/script&gt;");
  EXPECT_EQ(escaped("&lt;"), "&amp;lt;");
  EXPECT_EQ(escaped("tab\tline\nend"), "tab\tline\nend");
  EXPECT_EQ(escaped("λ → 𝛼"), "λ → 𝛼");
}

TEST(HtmlText, WhatNoPageMayHoldIsReplaced) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b[0m\x7f", 8)), "a\ufffdb\ufffd[0m\ufffd");
  EXPECT_EQ(escaped("\xff<"), "\ufffd&lt;");
  EXPECT_EQ(escaped("\xc3(").substr(0, 3), "\ufffd");
  EXPECT_EQ(escaped("\xed\xa0\x80").find('\xed'), std::string::npos);  // half of a surrogate pair
}

TEST(HtmlText, RowsHoldTheirCells) {
  EXPECT_EQ(TableRow(" id=\"a\"").heading("<").number(int64_t{-3}).number(0.25).text("&").str(),
            "<tr id=\"a\"><th>&lt;</th><td class=\"n\">-3</td><td class=\"n\">0.2</td>"
            "<td>&amp;</td></tr>\n");
}

}  // namespace
}  // namespace kenaz::observe
