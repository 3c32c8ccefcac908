#include "kernels/diagnostics/codes.h"

#include <gmock/gmock.h>

#include <set>

namespace kenaz {
namespace {

Diagnostic saying(std::string message, std::string code = "") {
  Diagnostic d;
  d.message = std::move(message);
  d.code = std::move(code);
  return d;
}

TEST(Codes, AMessageHasTheCodeOfItsWords) {
  EXPECT_EQ(code_of(saying("Unknown name \"mpa\".")), "unknown-name");
  EXPECT_EQ(code_of(saying("Unmatched cases in match expression:\n  #b")), "exhaustiveness");
}

TEST(Codes, WhatTheMakerSaysCountsMore) {
  EXPECT_EQ(code_of(saying("Unknown name \"mpa\".", "syntax")), "syntax");
}

TEST(Codes, OtherWordsAndOtherCodesAreOfTheLastRow) {
  EXPECT_EQ(code_of(saying("Branches differ.")), "type");
  EXPECT_EQ(code_of(saying("", "no such code")), "type");
}

TEST(Codes, AWarningIsAWarningWhateverItsWords) {
  Diagnostic d = saying("Unmatched cases.");
  d.severity = Severity::kWarning;
  EXPECT_EQ(code_of(d), "warning");
  EXPECT_THAT(all_codes(), testing::Contains("warning"));
}

TEST(Codes, NoCodeIsThereTwice) {
  const auto codes = all_codes();
  EXPECT_EQ(std::set(codes.begin(), codes.end()).size(), codes.size());
}

TEST(Codes, HintsAreLinesOfTheirOwn) {
  const Words words = words_of(saying("Unknown name \"mpa\".\nDid you mean \"map\"?"));
  EXPECT_EQ(words.message, "Unknown name \"mpa\".");
  EXPECT_THAT(words.hints, testing::ElementsAre("Did you mean \"map\"?"));
  EXPECT_EQ(words_of(saying("a\n  b")).message, "a\n  b");
  EXPECT_EQ(words_of(saying("")).message, "");
}

}  // namespace
}  // namespace kenaz
