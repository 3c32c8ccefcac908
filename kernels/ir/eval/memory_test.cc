// Places: what is wrong with one is found when the program runs.
#include <gmock/gmock.h>

#include <cstring>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/validate.h"

namespace kenaz::ir::eval {
namespace {

using testing::HasSubstr;

/// The array of i64 that `main` gives, as text; or its error.
std::string values_of(const std::string& stms, const std::string& size = "4") {
  auto program =
      parse("stage mem\nfun main() -> ([" + size + "]i64) {\n" + stms + "\n}\nentry main = main\n");
  if (!program) return "parse: " + program.error().text();
  if (const auto valid = validate(*program); !valid) return valid.error().text();
  auto evaluator = Evaluator::make(std::move(*program));
  const auto values = evaluator->call(FunId{0}, {});
  if (!values) return values.error().text();
  const Array& a = values->at(0).array;
  std::string out;
  for (int64_t i = 0; i < a.shape[0]; i++) {
    int64_t x = 0;
    std::memcpy(&x, a.buffer->data.get() + (a.offset + i) * 8, sizeof x);
    out += (i == 0 ? "" : " ") + std::to_string(x);
  }
  return out;
}

/// Two elements from `from` on: at `place`, if there is one.
std::string two(const std::string& name, int from, const std::string& place) {
  return "let " + name + ": [2]i64 " + (place.empty() ? "" : "in m at " + place + "i64") +
         " = seg map device (i: i64 < 2i64) { let x: i64 = add.i64(i, " + std::to_string(from) +
         "i64) return x }\n";
}
const std::string kScratch = "let m: [4]i64 = scratch [4]i64\n";
const std::string kWhole = "let c: [4]i64 in m at 0i64 = concat (4i64; a, b)\nreturn c";

TEST(Places, PartsAreFoundWhereTheyWereMade) {
  EXPECT_EQ(values_of(kScratch + two("a", 10, "0") + two("b", 20, "2") + kWhole), "10 11 20 21");
  EXPECT_EQ(values_of(kScratch + two("a", 10, "") + two("b", 20, "2") + kWhole), "10 11 20 21");
}

TEST(Places, APartInAnotherPlaceIsFound) {
  EXPECT_THAT(values_of(kScratch + two("a", 10, "0") + two("b", 20, "1") + kWhole),
              HasSubstr("is not at the place where it belongs"));
  EXPECT_THAT(values_of(kScratch + two("a", 10, "0") + two("b", 20, "3") + kWhole),
              HasSubstr("2 elements from 3 on are placed in memory of 4"));
}

TEST(Places, WhatIsMadeOverWhatIsStillReadIsFound) {
  const std::string copy =
      "let r: [2]i64 = seg map device (i: i64 < 2i64) { let x: i64 = index a[i] return x }\n";
  const std::string reads = kScratch + two("a", 10, "0") + two("b", 20, "0") + copy + "return r";
  EXPECT_EQ(values_of(reads, "2"), "20 21");
  // Worthless before it is made again, so reading what is overwritten gives no old values.
  const std::string itself =
      kScratch + two("a", 10, "0") +
      "let r: [2]i64 in m at 0i64 = seg map device (i: i64 < 2i64) { let x: i64 = index a[i] "
      "return x }\nreturn r";
  EXPECT_NE(values_of(itself, "2"), "10 11");
}

TEST(Places, MemoryIsWorthlessUntilSomethingIsMade) {
  const std::string worthless = "-6510615555426900571";
  EXPECT_EQ(values_of(kScratch + two("a", 10, "1") + "return m"),
            worthless + " 10 11 " + worthless);
}

TEST(Places, UpdatesFindTheirValues) {
  const std::string array = "let m: [4]i64 = replicate [4i64] 7i64\n";
  EXPECT_EQ(values_of(array + two("a", 10, "1") +
                      "let u: [4]i64 = update m[1i64 : 2i64 : 1i64] = a\n"
                      "return u"),
            "7 10 11 7");
  EXPECT_THAT(values_of(array + two("a", 10, "2") +
                        "let u: [4]i64 = update m[1i64 : 2i64 : 1i64] = a\nreturn u"),
              HasSubstr("is not at the place where it belongs"));
  EXPECT_THAT(values_of(array + two("a", 10, "0") +
                        "let u: [4]i64 = update m[0i64 : 2i64 : 2i64] = a\nreturn u"),
              HasSubstr("a value lies where it is not put"));
}

}  // namespace
}  // namespace kenaz::ir::eval
