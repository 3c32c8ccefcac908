#include "server/editor/diagnostics_json.h"

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>

namespace kenaz::editor {
namespace {

const auto kFile = std::make_shared<const SourceFile>(SourceFile{"a.fut", "def f = mpa\n"});

TEST(DiagnosticsJson, HasPlaceCodeMessageHintsAndRelatedPlaces) {
  Diagnostic d;
  d.range = {kFile, {1, 9}, {1, 12}};
  d.message = "Unknown name \"mpa\".\nDid you mean \"map\"?";
  Note& note = d.notes.emplace_back();
  note.range = {kFile, {1, 5}, {1, 6}};
  note.message = "In this definition";
  const auto json = to_json(d);
  EXPECT_EQ(json["file"], "a.fut");
  EXPECT_EQ(text_of(json["range"]),
            R"({"end":{"column":12,"line":1},"start":{"column":9,"line":1}})");
  EXPECT_EQ(json["code"], "unknown-name");
  EXPECT_EQ(json["message"], "Unknown name \"mpa\".");
  EXPECT_EQ(text_of(json["hints"]), R"(["Did you mean \"map\"?"])");
  EXPECT_EQ(json["related"][0]["message"], "In this definition");
  EXPECT_EQ(json["rendered"], d.str());
}

TEST(DiagnosticsJson, TextThatIsNoUtf8StaysAString) {
  Diagnostic d;
  d.message = "Bad byte \xff.";
  EXPECT_NE(text_of(to_json(d)).find("Bad byte \xEF\xBF\xBD."), std::string::npos);
  EXPECT_FALSE(to_json(d).contains("range"));
}

TEST(DiagnosticsJson, WhatIsOnlyTextGetsItsPlaceBack) {
  const Diagnostic one = diagnostic_of("Error at lib/a-b.fut:3:5-9:\nNo.\nReally.\n\n  3 | x\n");
  EXPECT_EQ(one.range.str(), "lib/a-b.fut:3:5-9");
  EXPECT_EQ(one.message, "No.\nReally.");
  EXPECT_EQ(diagnostic_of("Error at a.fut:3:5-4:2:\nNo.").range.str(), "a.fut:3:5-4:2");
  EXPECT_EQ(diagnostic_of("Error at a.fut:\nNo.").message, "Error at a.fut:\nNo.");
  EXPECT_EQ(diagnostic_of("a: no such file\n").message, "a: no such file");
}

}  // namespace
}  // namespace kenaz::editor
