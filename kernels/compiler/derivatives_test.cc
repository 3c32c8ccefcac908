// What becomes of derivatives when programs are optimised.
#include <gtest/gtest.h>

#include <regex>

#include "kernels/compiler/test_programs.h"
#include "kernels/ir/print.h"

namespace kenaz::compiler {
namespace {

std::string ir_of(const std::string& text) {
  const auto program = testing::optimised(text);
  return program ? ir::print(program->ir) : program.error().text();
}

TEST(Derivatives, OfMatrixProductsHaveNoMatrixPerRow) {
  const std::string ir = ir_of(
      "def product [m] [q] [n] (xss: [m][q]f64, yss: [q][n]f64) : [m][n]f64 =\n"
      "  map (\\xs -> map (\\ys -> f64.sum (map2 (*) xs ys)) (transpose yss)) xss\n"
      "entry main [m] [q] [n] (xss: [m][q]f64) (yss: [q][n]f64) (seed: [m][n]f64) =\n"
      "  vjp product (xss, yss) seed\n");
  EXPECT_FALSE(std::regex_search(ir, std::regex("(\\[[a-z0-9_]+\\]){3}f64"))) << ir;
  // One operator adds numbers, not rows, for each of the two products.
  EXPECT_FALSE(std::regex_search(ir, std::regex("reduce commutative [^:]*: \\["))) << ir;
}

}  // namespace
}  // namespace kenaz::compiler
