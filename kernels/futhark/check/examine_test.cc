#include "kernels/futhark/check/examine.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

namespace kenaz::check {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Examined examine(const std::map<std::string, std::string>& files, std::stop_token stop = {}) {
  return examine_program(
      "main.fut",
      [&](const std::string& path) -> Result<std::string> {
        const auto it = files.find(path);
        if (it == files.end()) return fail(ErrorKind::kNoSuchFile, "no such file");
        return it->second;
      },
      std::move(stop));
}

Examined examine(const std::string& text) {
  return examine(std::map<std::string, std::string>{{"main.fut", text}});
}

/// What the name at a place is: its type, and where it is defined.
std::string meaning(const Examined& e, int line, int column) {
  for (const Use& use : e.index.uses) {
    if (use.range.begin != SourcePos{line, column}) continue;
    const Symbol& s = e.index.symbols[use.symbol];
    return s.name + " " + s.type + " @ " + (s.definition.file ? s.definition.str() : "");
  }
  return "nothing";
}

std::vector<std::string> wanted(const Examined& e) {
  std::vector<std::string> names;
  if (!e.index.wanted) return {"nothing"};
  for (const Symbol& s : *e.index.wanted) names.push_back(s.name);
  return names;
}

TEST(Examine, NamesHaveTypesAndDefinitions) {
  const Examined e = examine("def total [n] (xs: [n]i32): i32 = i32.sum xs\nentry f = total [1]\n");
  EXPECT_TRUE(e.accepted);
  EXPECT_EQ(meaning(e, 2, 11), "total [n] : [n]i32 -> i32 @ main.fut:1:5-10");
  EXPECT_EQ(meaning(e, 1, 5), "total [n] : [n]i32 -> i32 @ main.fut:1:5-10");
  EXPECT_EQ(meaning(e, 1, 43), "xs : [n]i32 @ main.fut:1:16-18");
  EXPECT_THAT(meaning(e, 1, 35), testing::StartsWith("i32  @ /prelude/"));
}

TEST(Examine, DefinitionsInOtherFilesAndModules) {
  const Examined e = examine({{"main.fut", "module m = import \"lib\"\ndef f (x: m.t) = m.g x\n"},
                              {"lib.fut", "type t = bool\n-- | Gives x.\ndef g (x: t) = x\n"}});
  EXPECT_EQ(meaning(e, 2, 20), "g : bool -> bool @ lib.fut:3:5-6");
  EXPECT_EQ(meaning(e, 2, 13), "t bool @ lib.fut:1:6-7");
  EXPECT_EQ(meaning(e, 2, 18), "m  @ main.fut:1:8-9");
  const auto g = std::find_if(e.index.symbols.begin(), e.index.symbols.end(),
                              [](const Symbol& s) { return s.name == "g"; });
  EXPECT_EQ(g->doc, " Gives x.");
  EXPECT_THAT(e.files, ElementsAre("lib.fut", "main.fut"));
}

TEST(Examine, WhatWasCheckedBeforeAnErrorIsKnown) {
  const Examined e = examine("def f (x: i32) = x\ndef g = f nonsense\n");
  EXPECT_FALSE(e.accepted);
  ASSERT_EQ(e.diagnostics.size(), 1u);
  EXPECT_EQ(e.diagnostics[0].message.substr(0, 23), "Unknown name \"nonsense\"");
  EXPECT_EQ(meaning(e, 1, 18), "x : i32 @ main.fut:1:8-9");
}

TEST(Examine, NamesThatCouldStandInAnExpression) {
  const std::string at = std::string("def f (x: i32) =\n  let y = x in ") + kWanted + "\n";
  const auto names = wanted(examine(at));
  ASSERT_GT(names.size(), 20u);
  EXPECT_EQ(names[0], "y");
  EXPECT_EQ(names[1], "x");
  EXPECT_THAT(names, Contains("map"));
  EXPECT_THAT(names, Contains("f32"));
  EXPECT_THAT(names, Not(Contains("intrinsics")));
}

TEST(Examine, NamesThatCouldStandBehindADot) {
  const std::string module = "module m = { def a = 1i32 local def b = 2i32 type t = i32 }\n";
  EXPECT_THAT(wanted(examine(module + "def f = m." + kWanted)), ElementsAre("a", "t"));
  EXPECT_THAT(wanted(examine(module + "def f (x: m." + kWanted + ") = x")), ElementsAre("a", "t"));
  EXPECT_THAT(wanted(examine(std::string("def f (r: {a: i32, b: {c: bool}}) = r.") + kWanted)),
              ElementsAre("a", "b"));
  EXPECT_THAT(wanted(examine(std::string("def f (r: {a: i32, b: {c: bool}}) = r.b.") + kWanted)),
              ElementsAre("c"));
}

TEST(Examine, ACheckCanBeCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const Examined e = examine({{"main.fut", "def f (x: i32) = x"}}, stop.get_token());
  EXPECT_FALSE(e.accepted);
}

}  // namespace
}  // namespace kenaz::check
