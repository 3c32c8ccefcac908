#include "server/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace kenaz {
namespace {

using host::Tuning;
const std::vector<program::TuningParam> kParams = {{"a", program::TuningClass::kThreshold, 10},
                                                   {"b", program::TuningClass::kNumber, 20}};

TEST(ReadTuning, LinesOfFiles) {
  EXPECT_EQ(*parse_tuning("\n  -- x\n"), Tuning{});
  EXPECT_EQ(*parse_tuning("-- x\na=1\nmain.b_2=-7\na=3\n"), (Tuning{{"a", 3}, {"main.b_2", -7}}));
  EXPECT_EQ(*parse_tuning("a=1 -- x\r\n  b = -2\t\n"), (Tuning{{"a", 1}, {"b", -2}}));
  EXPECT_EQ(parse_tuning("a=1x").error().text(), "Invalid line 1 (must be NAME=INT).");
}

TEST(ReadTuning, OptionsCountMoreThanTheFileAndTheFileMoreThanDefaults) {
  Options options;
  options.default_threshold = 5;
  EXPECT_EQ(*read_tuning(options, kParams), (Tuning{{"a", 5}}));
  options.tuning_file = testing::TempDir() + "/tuning_test.tuning";
  std::ofstream(options.tuning_file) << "a=6\nb=7\n";
  EXPECT_EQ(*read_tuning(options, kParams), (Tuning{{"a", 6}, {"b", 7}}));
  options.params = {"b=8"};
  EXPECT_EQ(*read_tuning(options, kParams), (Tuning{{"a", 6}, {"b", 8}}));
}

TEST(ReadTuning, NamesThatTheProgramDoesNotHave) {
  Options options;
  options.no_warnings = true;
  options.tuning_file = testing::TempDir() + "/foreign_test.tuning";
  std::ofstream(options.tuning_file) << "main.suff_outer_par_6=32768\n";
  EXPECT_EQ(*read_tuning(options, kParams), Tuning{});
  options.params = {"c=1"};
  EXPECT_EQ(read_tuning(options, kParams).error().text(), "Unknown parameter: c");
  options.params = {"a"};
  EXPECT_THAT(read_tuning(options, kParams).error().text(), testing::HasSubstr("NAME=INT"));
}

}  // namespace
}  // namespace kenaz
