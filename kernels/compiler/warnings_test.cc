#include "kernels/compiler/warnings.h"

#include <gmock/gmock.h>

#include "kernels/compiler/test_programs.h"

namespace kenaz::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kCheck = " Safety check required at run time.";
constexpr const char* kUnroll = " #[unroll] has no effect: the number of iterations is not known.";

/// "LINE:COLUMN the warning", one for each.
std::vector<std::string> warnings(const std::string& text) {
  const auto program = testing::optimised(text);
  if (!program) return {program.error().text()};
  std::vector<std::string> out;
  for (const Diagnostic& d : warnings_of(program->ir)) {
    EXPECT_EQ(d.severity, Severity::kWarning);
    out.push_back(std::to_string(d.range.begin.line) + ":" + std::to_string(d.range.begin.column) +
                  " " + d.message);
  }
  return out;
}

TEST(Warnings, ChecksThatRemainWhereTheProgramAsks) {
  EXPECT_THAT(warnings("entry main (xs: []i32) (i: i64) = #[warn(safety_checks)] xs[i]"),
              ElementsAre("1:58" + std::string(kCheck)));
  EXPECT_THAT(warnings("def f (xs: []i32) (i: i64) = xs[i]\n"
                       "entry main (xs: []i32) (is: []i64) = #[warn(safety_checks)] map (f xs) is"),
              ElementsAre("1:30" + std::string(kCheck)));
  EXPECT_THAT(warnings("entry main (xs: []i32) (i: i64) = xs[i]"), IsEmpty());
}

TEST(Warnings, ChecksOfTheLibraryAreWhereItIsCalled) {
  EXPECT_THAT(warnings("entry main (n: i64) =\n  #[warn(safety_checks)] iota n"),
              ElementsAre("2:26" + std::string(kCheck)));
}

TEST(Warnings, NoChecksThatAreKnownToHold) {
  EXPECT_THAT(warnings("entry main (xs: [4]i32) = #[warn(safety_checks)] xs[3]"), IsEmpty());
}

TEST(Warnings, LoopsToBeUnrolledWhoseIterationsAreNotKnown) {
  EXPECT_THAT(warnings("entry main (n: i64) = #[unroll] loop x = n for i < n do x * i"),
              ElementsAre("1:33" + std::string(kUnroll)));
  EXPECT_THAT(warnings("entry main (n: i64) = #[unroll] loop x = n while x > 3 do x / 2"),
              ElementsAre("1:33" + std::string(kUnroll)));
  EXPECT_THAT(warnings("entry main (n: i64) = #[unroll] loop x = n for i < 3 do x * i"), IsEmpty());
  EXPECT_THAT(warnings("entry main (n: i64) = loop x = n for i < n do x * i"), IsEmpty());
  // The loop that it stands on, and no other.
  EXPECT_THAT(warnings("entry main (n: i64) = #[unroll] loop x = n for i < 3 do\n"
                       "  loop x for j < n do x * i * j"),
              IsEmpty());
}

}  // namespace
}  // namespace kenaz::compiler
