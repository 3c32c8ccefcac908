// What becomes of derivatives when programs are optimised.
#include <gtest/gtest.h>

#include <regex>

#include "kernels/compiler.h"
#include "kernels/ir/print.h"

namespace kenaz::compiler {
namespace {

std::string optimised(const std::string& text) {
  FrontEndOptions options;
  options.read = [&](const std::string&) -> Result<std::string> { return text; };
  const auto checked = front_end("t.fut", options);
  EXPECT_TRUE(checked) << (checked ? "" : checked.error().text());
  auto program = lower(*checked);
  EXPECT_TRUE(program && optimise(program->ir));
  return ir::print(program->ir);
}

TEST(Derivatives, OfMatrixProductsHaveNoMatrixPerRow) {
  const std::string ir = optimised(
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
