#include <gmock/gmock.h>

#include "kernels/ir/analysis/calls.h"
#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/passes/passes.h"

namespace kenaz::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFact = R"(
fun fact(n_0: i64) -> (i64) {
  let done_1: bool = le.i64(n_0, 0i64)
  let r_2: i64 = if done_1 then {
    return 1i64
  } else {
    let m_3: i64 = sub.i64(n_0, 1i64)
    let c_4: i64 = call fact(m_3)
    let d_5: i64 = mul.i64(c_4, n_0)
    return d_5
  }
  return r_2
}
)";

// Every kind of result at once: a scan, a reduction and plain arrays.
constexpr const char* kMain = R"(
fun main(n_6: i64) -> (size_99: i64, [size_99]i64, i64, [size_99]i64, [size_99]i64) {
  let xs_7: [n_6]i64 = iota.i64(n_6, 0i64, 1i64)
  let (sums_8: [n_6]i64, product_9: i64, facts_10: [n_6]i64, same_11: [n_6]i64) =
    soac (n_6; xs_7) map \(x_12: i64) -> (i64, i64, i64, i64) {
      let f_13: i64 = call fact(x_12)
      return f_13, f_13, f_13, x_12
    } scan \(a_14: i64, b_15: i64) -> (i64) {
      let c_16: i64 = add.i64(a_14, b_15)
      return c_16
    } {0i64} reduce \(d_17: i64, e_18: i64) -> (i64) {
      let f_19: i64 = mul.i64(d_17, e_18)
      return f_19
    } {1i64}
  return n_6, sums_8, product_9, facts_10, same_11
}
entry main = main
)";

TEST(SequenceCalls, MakesALoopOfACombinatorThatCalls) {
  auto p = ir::parse(std::string(kFact) + kMain);
  ASSERT_TRUE(p) << p.error().text();
  ASSERT_TRUE(sequence_calls(*p));
  const auto valid = ir::validate(*p);
  EXPECT_TRUE(valid) << valid.error().text();
  const std::string text = ir::print(*p);
  EXPECT_THAT(text, Not(HasSubstr("soac")));
  EXPECT_THAT(text, HasSubstr("for "));
}

}  // namespace
}  // namespace kenaz::passes
