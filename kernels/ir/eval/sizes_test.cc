// Arrays of shapes whose products do not fit into 64 bits. UBSan sees what wraps by accident.
#include <gtest/gtest.h>

#include "kernels/ir/eval/evaluator.h"
#include "kernels/ir/parse.h"

namespace kenaz::ir::eval {
namespace {

constexpr int64_t kSide = int64_t{1} << 40;

/// Calls the only function of the program.
Result<std::vector<Value>> run(const std::string& text, std::vector<Value> args) {
  auto program = parse(text);
  if (!program) return tl::make_unexpected(program.error());
  KENAZ_ASSIGN(auto evaluator, Evaluator::make(std::move(*program)));
  for (Value& v : args) {
    if (!v.array.shape.empty()) {
      KENAZ_ASSIGN(v.array, evaluator.allocate(v.type.prim, v.array.shape));
    }
  }
  return evaluator.call(FunId{0}, std::move(args));
}

Value number(int64_t n) { return {{PrimType::kI64, {}}, static_cast<uint64_t>(n), {}}; }
Value array(std::vector<int64_t> shape) {
  return {{PrimType::kI64, {}}, 0, {nullptr, 0, std::move(shape)}};
}

TEST(Sizes, WithoutElementsAnyShapeIsFine) {
  const auto r =
      run("fun main(a_0: [n_1][m_2][k_3]i64, i_4: i64) -> ([m_2][k_3]i64, [k_3][m_2][n_1]i64) {\n"
          "  let row_5: [m_2][k_3]i64 = index a_0[i_4, 0i64 : m_2 : 1i64, 0i64 : k_3 : 1i64]\n"
          "  let turned_6: [k_3][m_2][n_1]i64 = rearrange (2, 1, 0) a_0\n"
          "  return row_5, turned_6\n"
          "}\nentry main = main\n",
          {array({kSide, kSide, 0}), number(kSide - 1)});
  ASSERT_TRUE(r.has_value()) << r.error().text();
  EXPECT_EQ((*r)[0].array.shape, (std::vector<int64_t>{kSide, 0}));
  EXPECT_EQ((*r)[1].array.shape, (std::vector<int64_t>{0, kSide, kSide}));
}

TEST(Sizes, StridesOfOneElementAreNotAdded) {
  const auto r =
      run("fun main(a_0: [n_1][m_2]i64, s_3: i64) -> ([1i64][m_2]i64) {\n"
          "  let row_4: [1i64][m_2]i64 = index a_0[1i64 : 1i64 : s_3, 0i64 : m_2 : 1i64]\n"
          "  return row_4\n"
          "}\nentry main = main\n",
          {array({3, 5}), number(INT64_MAX)});
  ASSERT_TRUE(r.has_value()) << r.error().text();
  EXPECT_EQ((*r)[0].array.shape, (std::vector<int64_t>{1, 5}));
}

TEST(Sizes, TooLargeIsOutOfMemory) {
  const char* text =
      "fun main(n_0: i64, m_1: i64) -> ([n_0][m_1]i64) {\n"
      "  let a_2: [n_0][m_1]i64 = replicate [n_0, m_1] 7i64\n"
      "  return a_2\n"
      "}\nentry main = main\n";
  for (const auto& [n, m] : {std::pair{kSide, kSide},
                             {int64_t{1} << 32, int64_t{1} << 32},
                             {(int64_t{1} << 62) + 16, int64_t{4}},
                             {INT64_MAX, INT64_MAX}}) {
    const auto r = run(text, {number(n), number(m)});
    ASSERT_FALSE(r.has_value());
    EXPECT_EQ(r.error().kind, ErrorKind::kOutOfMemory) << n << " " << m;
  }
  const auto negative = run(text, {number(3), number(-1)});
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().kind, ErrorKind::kProgramFailure);
  EXPECT_NE(negative.error().text().find("Backtrace"), std::string::npos);
}

}  // namespace
}  // namespace kenaz::ir::eval
