// Several errors in one program.
#include <gmock/gmock.h>

#include "kernels/futhark/check/testing.h"

namespace kenaz::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// "FILE:LINE first line of the message" of each error in the text of all.
std::vector<std::string> errors_of(const Files& files) {
  const auto program = check_files(files);
  std::vector<std::string> out;
  if (program) return out;
  const std::string text = program.error().text();
  const std::string head = "Error at ";
  for (size_t at = text.find(head); at != std::string::npos; at = text.find(head, at + 1)) {
    const size_t place = at + head.size(), line_end = text.find('\n', at);
    const size_t colon = text.find(':', text.find(':', place) + 1);
    const size_t end = text.find('\n', line_end + 1);
    out.push_back(text.substr(place, colon - place) + " " +
                  text.substr(line_end + 1, end - line_end - 1));
  }
  return out;
}

std::vector<std::string> errors_in(const std::string& text) {
  std::vector<std::string> out;
  for (const auto& e : errors_of({{"main.fut", text}})) out.push_back(e.substr(e.find(':') + 1));
  return out;
}

TEST(Recover, EachDefinitionHasItsOwnError) {
  EXPECT_THAT(errors_in("def a = nothing\ndef b : i32 = 2\ndef c = b + true\ndef d = also_nothing"),
              ElementsAre("1 Unknown name \"nothing\".", HasSubstr("3 Cannot apply \"+\""),
                          "4 Unknown name \"also_nothing\"."));
}

TEST(Recover, WhatIsNotKnownCausesNoErrors) {
  EXPECT_THAT(errors_in("def a = nothing\ndef b = a + 1\ndef c = b && true"),
              ElementsAre("1 Unknown name \"nothing\"."));
  EXPECT_THAT(errors_in("type t = nothing\ndef a (x: t) = x\ndef b = a 1 + true"),
              ElementsAre("1 Unknown type \"nothing\"."));
  EXPECT_THAT(errors_in("module m = nothing\nopen m\ndef a = m.x\ndef b = y\ntype t = u\n"
                        "module n = k"),
              ElementsAre("1 Unknown module \"nothing\"."));
  EXPECT_THAT(errors_in("module type s = { val x : t }\nmodule m : s = { def x = 1 }\n"
                        "def a = m.x\nmodule n (p: s) = { def y = p.x }"),
              ElementsAre("1 Unknown type \"t\"."));
  EXPECT_THAT(errors_in("import \"nothing\"\ndef a = x"),
              ElementsAre(HasSubstr("1 Could not read file")));
}

TEST(Recover, ADeclaredTypeIsKnown) {
  EXPECT_THAT(errors_in("def a (x: i32) : i32 = nothing\ndef b = a true\ndef c = a 1 + 2i32"),
              ElementsAre("1 Unknown name \"nothing\".", HasSubstr("2 Cannot apply \"a\"")));
  EXPECT_THAT(errors_in("def a x : i32 = nothing\ndef b = a true"),
              ElementsAre("1 Unknown name \"nothing\"."));
  // Of which size the result would be, only the body can say.
  EXPECT_THAT(errors_in("def a (n: i64) : []i32 = nothing\ndef b n : [n]i32 = a n"),
              ElementsAre("1 Unknown name \"nothing\"."));
  EXPECT_THAT(errors_in("def a 't [n] (x: t) (_: [n]i32) : [n]t = nothing\n"
                        "def b [m] (xs: [m]i32) : [m]bool = a true xs\ndef c = a 1"),
              ElementsAre("1 Unknown name \"nothing\"."));
}

TEST(Recover, ErrorsInModules) {
  EXPECT_THAT(errors_in("module m = {\n def a = nothing\n def b = 1i32\n def c = a\n}\n"
                        "def d = m.b + true\ndef e = m.a + true"),
              ElementsAre("2 Unknown name \"nothing\".", HasSubstr("6 Cannot apply \"+\"")));
  EXPECT_THAT(errors_in("module m (x: { val y : i32 }) = {\n def a = x.y + true\n}\n"
                        "module n = m { def y = 1i32 }\nmodule o = m { def y = 2i32 }\n"
                        "def b = n.a"),
              ElementsAre(HasSubstr("2 Cannot apply \"+\"")));
  EXPECT_THAT(errors_in("module type s = { val x : i32 val y : i32 }\n"
                        "module m : s = { def x = nothing def y = 2i32 }\ndef a = m.x + 1i64"),
              ElementsAre("2 Unknown name \"nothing\".", HasSubstr("3 Cannot apply \"+\"")));
}

TEST(Recover, AModuleTypeSaysTheTypesOfItsModulesBrokenValues) {
  EXPECT_THAT(errors_in("module m : { val f : i32 -> i32 } = { def f x = nothing }\n"
                        "def a (x: i32) = m.f x\ndef b = m.f true"),
              ElementsAre("1 Unknown name \"nothing\".", HasSubstr("3 Cannot apply \"m.f\"")));
}

TEST(Recover, ErrorsOfAllPassesAreInTheOrderOfTheText) {
  EXPECT_THAT(errors_in("def a (xs: *[]i32) = let ys = xs with [0] = 1 in (xs, ys)\n"
                        "def b = nothing\n"
                        "def c (x: bool) = match x case true -> 1i32\n"
                        "def d = 300u8 + 256 + nothing"),
              ElementsAre(HasSubstr("1 Using \"xs\""), "2 Unknown name \"nothing\".",
                          "3 Unmatched cases in match expression:", "4 Unknown name \"nothing\"."));
}

TEST(Recover, ErrorsInImportedFiles) {
  EXPECT_THAT(errors_of({{"main.fut", "import \"lib\"\ndef a = x + true\ndef b = y"},
                         {"lib.fut", "def x = 1i32\ndef y = nothing\ndef z = more"}}),
              ElementsAre("lib.fut:2 Unknown name \"nothing\".", "lib.fut:3 Unknown name \"more\".",
                          HasSubstr("main.fut:2 Cannot apply")));
  EXPECT_THAT(
      errors_of({{"main.fut",
                  "module m = import \"lib\"\nmodule n = import \"lib\"\n"
                  "def a = m.x\ndef b = nothing"},
                 {"lib.fut", "def x = = 1"}}),
      ElementsAre(HasSubstr("lib.fut:1 Unexpected"), "main.fut:4 Unknown name \"nothing\"."));
}

TEST(Recover, ASecondDefinitionOfANameIsItsOnlyError) {
  EXPECT_THAT(errors_in("def a = 1i32\ndef a = true\ndef b = a && true"),
              ElementsAre(HasSubstr("2 Duplicate definition of value \"a\"")));
}

TEST(Recover, TwentyErrorsAreEnough) {
  std::string text;
  for (int i = 0; i < 30; i++) text += "def a" + std::to_string(i) + " = nothing\n";
  EXPECT_THAT(errors_in(text), SizeIs(20));
}

}  // namespace
}  // namespace kenaz::check
