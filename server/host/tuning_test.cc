#include "server/host/tuning.h"

#include <gtest/gtest.h>

namespace kenaz::host {
namespace {

const std::vector<program::TuningParam> kParams = {{"a", program::TuningClass::kThreshold, 10},
                                                   {"b", program::TuningClass::kNumber, 20}};

TEST(Tuning, ValuesAreIntegersAndNothingElse) {
  EXPECT_EQ(tuning_value("12"), 12);
  EXPECT_EQ(tuning_value("-1"), -1);
  for (const char* bad : {"", "x", "1x", " 1", "1.5", "9223372036854775808"}) {
    EXPECT_EQ(tuning_value(bad), std::nullopt) << bad;
  }
}

TEST(Tuning, ZeroAndNoValueAreTheParametersOwn) {
  const Tuning tuning = {{"a", 0}, {"b", 3}, {"c", 4}};
  EXPECT_EQ(tuned_value(kParams[0], nullptr), 10);
  EXPECT_EQ(tuned_value(kParams[0], &tuning), 10);
  EXPECT_EQ(tuned_value(kParams[1], &tuning), 3);
}

TEST(Tuning, ComparesWithWhatIsSetAndNotesEachSizeOnce) {
  const Tuning tuning = {{"b", 3}};
  CallTuning call(kParams, &tuning);
  EXPECT_FALSE(call.compare(0, 9));
  EXPECT_TRUE(call.compare(0, 10));
  EXPECT_TRUE(call.compare(0, 10));
  EXPECT_TRUE(call.compare(1, 3));
  EXPECT_EQ(call.value(1), 3);
  const std::vector<Comparison> all = {{"a", 9, false}, {"a", 10, true}, {"b", 3, true}};
  EXPECT_EQ(call.comparisons(), all);
}

TEST(Tuning, OfComparisonsInALoopSomeAreNoted) {
  CallTuning call(kParams, nullptr);
  for (int64_t n = 0; n < 100'000; n++) call.compare(0, n);
  EXPECT_EQ(call.comparisons().size(), 1000u);
}

TEST(Tuning, ClassesAreFutharksWords) {
  EXPECT_EQ(program::class_text(kParams[0]), "threshold(10,)");
  EXPECT_EQ(program::class_text(kParams[1]), "number(20)");
}

}  // namespace
}  // namespace kenaz::host
