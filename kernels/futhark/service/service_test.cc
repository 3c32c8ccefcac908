#include "kernels/futhark/service/service.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "kernels/futhark/service/declarations.h"

namespace kenaz::service {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kPath = "/p/main.fut";

SourceReader reading(std::map<std::string, std::string> files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto it = files.find(path);
    if (it == files.end()) return fail(ErrorKind::kNoSuchFile, "no such file");
    return it->second;
  };
}

check::Examined analyse_text(const std::string& text) {
  return analyse(kPath, reading({{kPath, text}}), {});
}

/// Completes at the "|" of a text, which is left out.
std::vector<std::string> names_at(std::string text, std::map<std::string, std::string> more = {}) {
  const size_t at = text.find('|');
  text.erase(at, 1);
  more[kPath] = text;
  std::vector<std::string> names;
  for (const auto& s : complete(kPath, reading(more), position_of(text, at), {})) {
    names.push_back(s.name);
  }
  return names;
}

std::string type_at(const check::Examined& e, int line, int column) {
  const check::Use* use = use_at(e.index, kPath, {line, column});
  return use ? signature(e.index.symbols[use->symbol]) : "nothing";
}

TEST(Declarations, AreFoundByTheirTokens) {
  const std::string text =
      "-- a comment\ndef f x = x\n#[noinline]\nentry g =\n  1\nmodule type m = {\n  val x: "
      "i32\n}\n";
  const auto all = declarations(text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "f");
  EXPECT_EQ(text.substr(all[0].body, all[0].end - all[0].body), " x\n");
  EXPECT_EQ(all[1].keyword + " " + all[1].name, "entry g");
  EXPECT_EQ(text.substr(all[1].begin, 11), "#[noinline]");
  EXPECT_EQ(all[2].keyword + " " + all[2].name, "module type m");
}

TEST(Declarations, AreHiddenInTwoSteps) {
  std::string text = "def f x = y + 1\ndef g = 2\n";
  EXPECT_TRUE(hide_declaration(text, {1, 11}, false));
  EXPECT_EQ(text, "def f x = ???  \ndef g = 2\n");
  EXPECT_TRUE(hide_declaration(text, {1, 11}, false));
  EXPECT_EQ(text, "               \ndef g = 2\n");
  EXPECT_TRUE(hide_declaration(text, {2, 9}, false));
  EXPECT_EQ(text, "               \n         \n");
  EXPECT_FALSE(hide_declaration(text, {2, 1}, false));
}

TEST(Declarations, WhatCannotFollowBelongsToTheOneBefore) {
  std::string text = "def f x =\ndef g = 2\n";
  EXPECT_TRUE(hide_declaration(text, {2, 1}, true));
  EXPECT_EQ(text, "         \ndef g = 2\n");
}

TEST(Closing, EndsWhatIsOpen) {
  EXPECT_EQ(closing("def f = g (map [x"), "])");
  EXPECT_EQ(closing("def f (x: m.t"), ") = ???");
  EXPECT_EQ(closing("def f = let x = y"), " in ???");
  EXPECT_EQ(closing("def f = let x = y let z = x"), " in ???");
  EXPECT_EQ(closing("def f = let x = let y = z"), " in ??? in ???");
  EXPECT_EQ(closing("def f = if a then b"), " else ???");
  EXPECT_EQ(closing("def f = loop a = 0 for x in xs"), " do ???");
  EXPECT_EQ(closing("def f = \\x"), " -> ???");
  EXPECT_EQ(closing("module m = { let f = (x"), ")\n}");
  EXPECT_EQ(closing("module m = {\n  def f =\n    let x = y"), " in ???\n}");
  EXPECT_EQ(closing("module m = {\n  let f = 1\n  let g"), " = ???\n}");
  EXPECT_EQ(closing("def f = match x case #a -> y"), "");
}

TEST(Analyse, KnowsWhatStandsBehindAnError) {
  const auto e = analyse_text("def f = nonsense\ndef g (x: i32) = x\ndef h = g (f + 1)\n");
  ASSERT_EQ(e.diagnostics.size(), 1u);
  EXPECT_EQ(type_at(e, 3, 9), "def g : i32 -> i32");
  EXPECT_EQ(type_at(e, 2, 18), "def x : i32");
}

TEST(Analyse, KnowsWhatStandsAroundASyntaxError) {
  const auto e = analyse_text("def f = 1i32\ndef g = (\ndef h = f\ndef i = ]\ndef k = h\n");
  EXPECT_EQ(type_at(e, 3, 9), "def f : i32");
  EXPECT_EQ(type_at(e, 5, 9), "def h : i32");
}

TEST(Complete, NamesInScopeNearestFirst) {
  const auto names = names_at("def top = 1i32\ndef f (x: i32) = let y = x in x + |\n");
  ASSERT_GT(names.size(), 10u);
  EXPECT_EQ(names[0] + names[1], "yx");
  EXPECT_THAT(names, Contains("top"));
  EXPECT_THAT(names, Contains("map"));
}

TEST(Complete, InsideAWordAndInUnfinishedText) {
  EXPECT_EQ(names_at("def f (abc: i32) = ab|c + 1")[0], "abc");
  EXPECT_EQ(names_at("def f (abc: i32) = (abc + [|")[0], "abc");
  EXPECT_EQ(names_at("def f (abc: i32) =\n  let x = abc\n  let y = |\ndef g = 1")[0], "x");
  EXPECT_EQ(names_at("def f (xs: []i32) = map (\\x -> |) xs")[0], "x");
  EXPECT_EQ(names_at("def bad = nonsense\ndef f (abc: i32) = |")[0], "abc");
  EXPECT_EQ(names_at("def bad = (\ndef f (abc: i32) = |")[0], "abc");
}

TEST(Complete, BehindAModulesDot) {
  const std::string module = "module m = { def one = 1i32 type t = i32 }\n";
  EXPECT_THAT(names_at(module + "def f = m.|"), ElementsAre("one", "t"));
  EXPECT_THAT(names_at(module + "def f = m.o|n + 2"), ElementsAre("one", "t"));
  EXPECT_THAT(names_at(module + "def f (x: m.|"), ElementsAre("one", "t"));
  EXPECT_THAT(names_at("module m = import \"lib\"\ndef f = m.|", {{"/p/lib.fut", "def two = 2"}}),
              ElementsAre("two"));
  EXPECT_THAT(names_at("def f = f32.|"), Contains("sqrt"));
  EXPECT_EQ(names_at("def f [n] (xs: [|")[0], "n");
}

TEST(Complete, KeepsToParametersWhereTheBodyIsWrong) {
  EXPECT_THAT(names_at("def f (abc: i32) = let z = nonsense in |"), Contains("abc"));
}

TEST(Complete, NothingInCommentsNumbersAndStrings) {
  EXPECT_THAT(names_at("-- a |\ndef f = 1"), IsEmpty());
  EXPECT_THAT(names_at("def f = 12.|"), IsEmpty());
  EXPECT_THAT(names_at("def f = \"a |\""), IsEmpty());
  EXPECT_THAT(names_at("|"), IsEmpty());
}

TEST(Names, TheShortestAroundAPlace) {
  const auto e = analyse_text("module m = { def f (x: i32) = x }\ndef g = m.f 2");
  EXPECT_EQ(type_at(e, 2, 9), "module m");
  EXPECT_EQ(type_at(e, 2, 11), "def f : i32 -> i32");
  EXPECT_EQ(type_at(e, 2, 12), "def f : i32 -> i32");
  EXPECT_EQ(type_at(e, 2, 13), "nothing");
}

TEST(Names, DocumentationLosesItsMargin) {
  EXPECT_EQ(plain_doc(" One.\n   Two.\n\n Three. \n"), "One.\n  Two.\n\nThree.");
  EXPECT_EQ(plain_doc(""), "");
}

// Whatever a text has become, every question has an answer, and soon.
TEST(Service, AnyTextIsAnswered) {
  const std::string text =
      "-- | A module.\nmodule m = { type t = i32 def f (x: t) = x + 1 }\n"
      "def g [n] (xs: [n]i32): i32 = let ys = map (\\x -> m.f x) xs in\n"
      "  loop a = 0 for y in ys do if y > a then y else match a case 0 -> 1 case _ -> a\n"
      "entry main = {a = g [1, 2], b = (.a) {a = 1}}\n";
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::string now = text;
    for (int i = 0; i < 3; ++i) {
      const size_t at = random() % now.size(), size = random() % 12;
      switch (random() % 3) {
        case 0: now.erase(at, size); break;
        case 1: now.insert(at, text.substr(random() % text.size(), size)); break;
        default: now[at] = static_cast<char>(random() % 256);
      }
    }
    const auto e = analyse_text(now);
    EXPECT_EQ(e.accepted, e.diagnostics.empty());
    complete(kPath, reading({{kPath, now}}), position_of(now, random() % now.size()), {});
    for (const auto& use : e.index.uses) ASSERT_LT(use.symbol, e.index.symbols.size());
  }
}

}  // namespace
}  // namespace kenaz::service
