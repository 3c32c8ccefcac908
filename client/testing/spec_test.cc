#include "client/testing/spec.h"

#include <gmock/gmock.h>

#include "protocol/data/text_format.h"

namespace kenaz::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ProgramSpec parse(std::string_view source) {
  auto spec = parse_spec(source);
  EXPECT_TRUE(spec) << spec.error().text();
  return spec ? *spec : ProgramSpec{};
}

std::vector<std::string> texts(const Literal& values) {
  std::vector<std::string> out;
  for (const auto& v : values) out.push_back(data::to_text(v));
  return out;
}

TEST(Spec, ProgramWithoutBlock) {
  const auto spec = parse("-- just a comment\ndef x = 1\n");
  EXPECT_FALSE(spec.has_block);
  EXPECT_TRUE(spec.groups.empty());
}

TEST(Spec, FiltersHaveTheirOwnComments) {
  const auto spec = parse_spec(
      "# A filter.\n"
      "# ==\n"
      "# input { [1, 2] } output { 3 }\n"
      "def result_u8 |x, y| {\n",
      spec_language("a/soft.mfg"));
  ASSERT_TRUE(spec) << spec.error().text();
  ASSERT_EQ(spec->groups.size(), 1u);
  EXPECT_THAT(spec->groups[0].entries, ElementsAre("result_u8"));
  EXPECT_EQ(spec->groups[0].cases.size(), 1u);
  EXPECT_EQ(spec_language("a/soft.fut").entry, "main");
}

TEST(Spec, Literals) {
  const auto spec = parse(
      "-- About it.\n"
      "-- ==\n"
      "-- tags { slow no_gpu }\n"
      "-- input { [1, 2,\n"
      "--          3] true -- and a comment\n"
      "-- }\n"
      "-- output { 6i64 empty([0][2]f32) }\n"
      "def main = 1\n");
  EXPECT_THAT(spec.tags, ElementsAre("slow", "no_gpu"));
  ASSERT_EQ(spec.groups.size(), 1u);
  EXPECT_THAT(spec.groups[0].entries, ElementsAre("main"));
  ASSERT_EQ(spec.groups[0].cases.size(), 1u);
  const auto& c = spec.groups[0].cases[0];
  EXPECT_EQ(c.line, 4);
  EXPECT_THAT(texts(std::get<Literal>(c.input)), ElementsAre("[1i32, 2i32, 3i32]", "true"));
  EXPECT_THAT(texts(std::get<Literal>(c.expected)), ElementsAre("6i64", "empty([0][2]f32)"));
}

TEST(Spec, EntriesTagsNamesAndKinds) {
  const auto spec = parse(
      "-- ==\n"
      "-- input { 1 } error: no\n"
      "-- entry: f g\n"
      "-- \"big one\" random compiled input {[10][2]f32 bool 3i64} auto output\n"
      "-- nobench input @ data/x.in.gz\n"
      "-- output @data/x.out\n"
      "-- structure gpu { SegMap 1 }\n"
      "\n"
      "-- ==\n"
      "-- entry: h\n"
      "-- script input { f {a=1} \"}\" } output { 1 }\n");
  ASSERT_EQ(spec.groups.size(), 3u);
  EXPECT_EQ(std::get<RuntimeError>(spec.groups[0].cases[0].expected).regex, "no");
  const auto& group = spec.groups[1];
  EXPECT_THAT(group.entries, ElementsAre("f", "g"));
  ASSERT_EQ(group.cases.size(), 2u);
  EXPECT_EQ(group.cases[0].name, "big one");
  EXPECT_THAT(group.cases[0].tags, ElementsAre("compiled"));
  const auto& random = std::get<RandomInput>(group.cases[0].input);
  ASSERT_EQ(random.values.size(), 3u);
  EXPECT_EQ(std::get<RandomType>(random.values[0]).name(), "[10][2]f32");
  EXPECT_EQ(data::to_text(std::get<data::Value>(random.values[2])), "3i64");
  EXPECT_TRUE(std::holds_alternative<AutoOutput>(group.cases[0].expected));
  EXPECT_EQ(std::get<DataFile>(group.cases[1].input).path, "data/x.in.gz");
  EXPECT_EQ(group.cases[1].name, "data/x.in");
  EXPECT_EQ(std::get<DataFile>(group.cases[1].expected).path, "data/x.out");
  EXPECT_THAT(spec.groups[2].entries, ElementsAre("h"));
  EXPECT_EQ(std::get<Script>(spec.groups[2].cases[0].input).text, " f {a=1} \"}\" ");
}

TEST(Spec, RejectedProgram) {
  const auto spec = parse("-- ==\n-- error: Unknown name \"x\"\ndef main = x\n");
  ASSERT_TRUE(spec.compile_error);
  EXPECT_EQ(*spec.compile_error, "Unknown name \"x\"");
}

TEST(Spec, MalformedBlocksAreReportedWithTheirLine) {
  for (const auto* source :
       {"-- ==\n-- input { [1, }\n", "-- ==\n--\n-- random input { [x]i32 }\n",
        "-- ==\n-- script input { (\n", "-- ==\n-- entry:\n", "-- ==\n-- %\n"}) {
    const auto spec = parse_spec(source);
    ASSERT_FALSE(spec) << source;
    EXPECT_THAT(spec.error().message, HasSubstr("line ")) << source;
  }
}

TEST(Spec, WordsThatNobodyKnowsAreNamed) {
  const auto error = [](const std::string& block) {
    const auto spec = parse_spec("-- ==\n" + block);
    return spec ? "accepted" : spec.error().message;
  };
  EXPECT_EQ(
      error("-- input { 1 }\n-- ouput { 1 }\n"),
      "test block, line 3: expected a test case, but here is 'ouput'; did you mean 'output'?");
  EXPECT_EQ(error("-- fast inptu @ data\n"),
            "test block, line 2: expected a test case, but here is 'inptu'; did you mean 'input'?");
  EXPECT_EQ(error("-- nonsense: 1\n"),
            "test block, line 2: expected a test case, but here is 'nonsense:'");
}

TEST(Spec, Properties) {
  const auto spec = parse_spec(
      "-- ==\n-- property: a b\n-- input { 1 } output { 1 }\n--\n-- ==\n-- property: a\n");
  ASSERT_TRUE(spec) << spec.error().message;
  ASSERT_EQ(spec->properties.size(), 3u);
  EXPECT_EQ(spec->properties[1].name, "b");
  EXPECT_EQ(spec->properties[1].line, 2);
  EXPECT_EQ(spec->properties[2].line, 6);
  EXPECT_EQ(spec->groups.size(), 1u);
  EXPECT_FALSE(parse_spec("-- ==\n-- property:\n"));
  EXPECT_FALSE(parse_spec("-- ==\n-- error: x\n-- ==\n-- property: a\n"));
}

}  // namespace
}  // namespace kenaz::testing
