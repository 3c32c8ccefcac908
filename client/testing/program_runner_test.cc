#include "client/testing/program_runner.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/temp_dir.h"
#include "client/testing/random_data.h"
#include "client/testing/regex.h"
#include "client/testing/report.h"

namespace kenaz::testing {
namespace {

using ::testing::HasSubstr;

// Knows one entry point, the identity on i32: what is restored is stored again. Calling `crash`
// kills it, `hang` keeps it busy, `bad` fails; a program whose name has "reject" is rejected.
constexpr const char* kFakeServer = R"(#!/bin/sh
case "$1 $2" in *default.tuning*) echo "Warning: tuned" >&2; shift 2;; esac
if [ "$1" = --check ]; then
  case "$2" in *reject*) echo "Error at x.fut:1:1: Unknown name" >&2; echo "  1 | quoted" >&2; exit 2;; esac
  exit 0
fi
dir=$(dirname "$0")
echo "$*" >> "$dir/started"
echo "%%% OK"
while read -r command a b c d; do
  case "$command" in
    inputs) echo i32;;
    output) echo i32;;
    fields) echo "%%% FAILURE"; echo "Not a record type";;
    restore) cp "$a" "$dir/$b";;
    call)
      case "$a" in
        crash) echo "about to crash" >&2; kill -9 $$;;
        hang) sleep 20;;
        bad) echo "runtime: 1"; echo "%%% FAILURE"; echo "Error: division by"; echo "zero";;
        *) cp "$dir/$c" "$dir/$b"; echo "runtime: 1";;
      esac;;
    store) cp "$dir/$b" "$a";;
    free | clear | entry_points) ;;
    *) echo "%%% FAILURE"; echo "Unknown command: $command";;
  esac
  echo "%%% OK"
done
)";

class ProgramRunner : public ::testing::Test {
 protected:
  ProgramRunner() : dir_(*client::TempDir::make()) {
    options_.server.server = dir_.file("server");
    options_.timeout = 10;
    EXPECT_TRUE(client::write_file(options_.server.server, kFakeServer));
    ::chmod(options_.server.server.c_str(), 0700);
  }
  ProgramResult test(const std::string& source, const std::string& name = "p.fut") {
    EXPECT_TRUE(client::write_file(dir_.file(name), source));
    return test_program(dir_.file(name), options_);
  }

  client::TempDir dir_;
  TestOptions options_;
};

TEST_F(ProgramRunner, ComparesResults) {
  const auto result = test("-- ==\n-- input { 1 } output { 1 }\n-- input { 2 } output { 3 }\n");
  EXPECT_EQ(result.runs, 2);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].dataset, "#1 (\"2\")");
  EXPECT_EQ(result.outcome, Outcome::kFail);
}

TEST_F(ProgramRunner, RefusesInputsOfTheWrongType) {
  const auto result = test("-- ==\n-- input { 1i64 } output { 1i64 }\n");
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_THAT(result.failures[0].message, HasSubstr("takes inputs of types i32"));
}

TEST_F(ProgramRunner, ExpectsRuntimeErrors) {
  EXPECT_TRUE(test("-- ==\n-- entry: bad\n-- input { 1 } error: by.zero$\n").failures.empty());
  const auto other = test("-- ==\n-- entry: bad\n-- input { 1 } error: bounds\n");
  ASSERT_EQ(other.failures.size(), 1u);
  EXPECT_THAT(other.failures[0].message, HasSubstr("failed, but not with: bounds"));
  EXPECT_EQ(test("-- ==\n-- input { 1 } error: bounds\n").failures.size(), 1u);
}

TEST_F(ProgramRunner, ACrashIsReportedAndDoesNotHideOtherRuns) {
  const auto result = test(
      "-- ==\n-- entry: crash\n-- input { 1 } output { 1 }\n"
      "-- ==\n-- entry: same\n-- input { 1 } output { 1 }\n");
  EXPECT_EQ(result.runs, 2);
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_THAT(result.failures[0].message, HasSubstr("killed by signal 9"));
  EXPECT_THAT(result.failures[0].message, HasSubstr("about to crash"));
}

TEST_F(ProgramRunner, AHangEndsAtTheDeadline) {
  options_.timeout = 0.5;
  const auto result = test("-- ==\n-- entry: hang\n-- input { 1 } output { 1 }\n");
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_THAT(result.failures[0].message, HasSubstr("did not answer in time"));
  EXPECT_LT(result.seconds, 5);
}

TEST_F(ProgramRunner, RejectedPrograms) {
  const std::string source = "-- ==\n-- error: Unknown.name\n";
  EXPECT_TRUE(test(source, "reject.fut").failures.empty());
  const auto accepted = test(source, "fine.fut");
  ASSERT_EQ(accepted.failures.size(), 1u);
  EXPECT_THAT(accepted.failures[0].message, HasSubstr("accepted"));
  EXPECT_EQ(test("-- ==\n-- error: other\n", "reject.fut").failures.size(), 1u);
  // The program's text is no message.
  EXPECT_EQ(test("-- ==\n-- error: quoted\n", "reject.fut").failures.size(), 1u);
}

TEST_F(ProgramRunner, CompileOnlyAndExcluded) {
  EXPECT_EQ(test("def x = 1\n").outcome, Outcome::kPass);
  options_.exclude = {"slow"};
  EXPECT_EQ(test("-- ==\n-- tags { slow }\n").outcome, Outcome::kExcluded);
}

TEST_F(ProgramRunner, CasesHaveLinesAndTimes) {
  const auto result = test("-- ==\n-- input { 1 } output { 1 }\n--\n-- input { 2 } output { 3 }\n");
  ASSERT_EQ(result.cases.size(), 2u);
  EXPECT_EQ(result.cases[0].line, 2);
  EXPECT_EQ(result.cases[0].failure, "");
  EXPECT_GT(result.cases[0].seconds, 0);
  EXPECT_EQ(result.cases[1].failure, "expected 3i32, got 2i32");
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].line, 4);
  EXPECT_THAT(failure_text(result, false), HasSubstr("p.fut:4: main #1 (\"2\"):\n"));
}

TEST_F(ProgramRunner, OnlyOneEntryPoint) {
  options_.entry = "same";
  const auto result = test(
      "-- ==\n-- entry: bad same\n-- input { 1 } output { 1 }\n"
      "-- ==\n-- input { 1 } output { 2 }\n");
  EXPECT_EQ(result.runs, 1);
  EXPECT_EQ(result.outcome, Outcome::kPass);
}

TEST_F(ProgramRunner, TuningFilesAreWarnedOfOrLeftAlone) {
  ASSERT_TRUE(client::write_file(dir_.file("default.tuning"), "a=1\n"));
  const std::string source = "-- ==\n-- input { 1 } output { 1 }\n";
  const auto tuned = test(source, "default");  // the server gets --tuning .../default.tuning
  EXPECT_EQ(tuned.outcome, Outcome::kPass);
  EXPECT_EQ(tuned.warnings, "Warning: tuned\n");
  EXPECT_THAT(warning_text(tuned, false), HasSubstr("/default\n  Warning: tuned\n"));
  options_.tuning = false;
  EXPECT_EQ(test(source, "default").warnings, "");
}

TEST_F(ProgramRunner, AutomaticOutputsComeFromTheReferenceOrAnotherDevice) {
  options_.server.arguments = {"--for-the-one-under-test"};
  const auto started = [&] {
    const auto result = test("-- ==\n-- random input { i32 } auto output\n");
    EXPECT_TRUE(result.failures.empty());
    EXPECT_EQ(result.unchecked, 0);
    auto lines = client::read_file(dir_.file("started"));
    ::unlink(dir_.file("started").c_str());
    return lines ? *lines : "";
  };
  EXPECT_THAT(started(), HasSubstr("--reference"));
  options_.expect_from = "gpu";
  const std::string lines = started();
  EXPECT_THAT(lines, HasSubstr("--device gpu"));
  EXPECT_THAT(lines, ::testing::Not(HasSubstr("--reference")));
  EXPECT_EQ(lines.find("--for-the-one-under-test"), lines.rfind("--for-the-one-under-test"));
}

TEST_F(ProgramRunner, JUnitHasATestCasePerRun) {
  const auto cases = test("-- ==\n-- input { 1 } output { 1 }\n-- input { 2 } output { 3 }\n");
  const auto whole = test("-- ==\n-- input {\n", "whole.fut");
  const auto none = test("def x = 1\n", "none.fut");
  ASSERT_TRUE(write_junit(dir_.file("junit"), {cases, whole, none}));
  const std::string xml = *client::read_file(dir_.file("junit"));
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"2\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("name=\"main #1 (&quot;2&quot;)\""));
  EXPECT_THAT(xml, HasSubstr("line=\"3\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"expected 3i32, got 2i32\">"));
  EXPECT_THAT(xml, HasSubstr("whole.fut\" name=\"program\""));
}

TEST(Xml, HasOnlyItsOwnCharacters) {
  EXPECT_EQ(escape_xml("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
  EXPECT_EQ(escape_xml(std::string("\x1b[1m\0\a\t\n", 8)), "[1m\t\n");
  EXPECT_EQ(escape_xml("\u00e4\xff\xc3(\xf0\x9f\x92"), "\u00e4\ufffd\ufffd(\ufffd\ufffd\ufffd");
  EXPECT_EQ(escape_xml("\uffff\xed\xa0\x80\U0001f4a9"), "\ufffd\ufffd\ufffd\ufffd\U0001f4a9");
}

TEST_F(ProgramRunner, AMissingServerIsAFailure) {
  options_.server.server = "/nonexistent/server";
  ASSERT_EQ(test("def x = 1\n").failures.size(), 1u);
}

TEST(RandomData, DependsOnTypeAndShapeOnly) {
  const auto a = random_value({PrimType::kF32, {100}}), b = random_value({PrimType::kF32, {100}});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a, *b);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(a->at(i).as_double(), 0);
    EXPECT_LE(a->at(i).as_double(), 1);
  }
  EXPECT_FALSE(random_value({PrimType::kF64, {1 << 30, 1 << 30, 1 << 30}}));
}

TEST(Regex, IsExtendedAndCrossesLines) {
  EXPECT_TRUE(*regex_found("a.*(b|c)\\[", "xa\n\nc[1]"));
  EXPECT_FALSE(*regex_found("^b", "a\nb"));
  EXPECT_FALSE(regex_found("(", "x"));
}

}  // namespace
}  // namespace kenaz::testing
