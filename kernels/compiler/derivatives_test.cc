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

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Derivatives, OfMaximaHaveNoScansAndSorts) {
  const std::string of_array =
      ir_of("entry main [n] (xs: [n]f32) : [n]f32 = vjp f32.maximum xs 2\n");
  EXPECT_FALSE(has(of_array, "scan")) << of_array;
  const std::string of_bins = ir_of(
      "entry main [n] [k] (bins: *[k]f32) (is: [n]i64) (xs: [n]f32) : [n]f32 =\n"
      "  vjp (reduce_by_index (copy bins) f32.max f32.lowest is) xs (replicate k 1)\n");
  EXPECT_FALSE(has(of_bins, "scan")) << of_bins;
  EXPECT_FALSE(has(of_bins, "loop")) << of_bins;
}

TEST(Derivatives, OfProductsAreQuotientsExceptInMaps) {
  const std::string alone = ir_of("entry main [n] (xs: [n]f32) : [n]f32 = vjp f32.product xs 2\n");
  EXPECT_TRUE(has(alone, "div.f32")) << alone;
  const std::string of_integers =
      ir_of("entry main [n] (xs: [n]i32) : [n]i32 = vjp i32.product xs 2\n");
  EXPECT_TRUE(has(of_integers, "scan") && !has(of_integers, "quot")) << of_integers;
  const std::string of_rows = ir_of(
      "entry main [n] [m] (xs: [n][m]f32) : [n][m]f32 = vjp (map f32.product) xs (replicate n "
      "2)\n");
  EXPECT_FALSE(has(of_rows, "div.f32")) << of_rows;
  const std::string in_map = ir_of(
      "entry main [n] [m] (xs: [n][m]f32) : [n][m]f32 = map (\\x -> vjp f32.product x 2) xs\n");
  EXPECT_FALSE(has(in_map, "div.f32")) << in_map;
}

TEST(Derivatives, OfTheLeastOfManyAreMadeForThatOneOnly) {
  const std::string ir = ir_of(
      "def distance [d] (x: [d]f32) (c: [d]f32) : f32 = f32.sum (map2 (\\a b -> (a - b) * (a - b)) "
      "x c)\n"
      "def total [n] [k] [d] (xs: [n][d]f32) (cs: [k][d]f32) : f32 =\n"
      "  f32.sum (map (\\x -> f32.minimum (map (distance x) cs)) xs)\n"
      "entry main [n] [k] [d] (xs: [n][d]f32) (cs: [k][d]f32) : [k][d]f32 = vjp (total xs) cs 1\n");
  // A row for each element, and where it is added; no value for each element and each row.
  EXPECT_TRUE(has(ir, "hist")) << ir;
  EXPECT_FALSE(has(ir, "scan")) << ir;
  EXPECT_FALSE(std::regex_search(ir, std::regex("\\[n_[0-9]+\\]\\[k_[0-9]+\\]f32"))) << ir;
}

}  // namespace
}  // namespace kenaz::compiler
