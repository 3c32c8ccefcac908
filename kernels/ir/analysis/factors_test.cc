#include "kernels/ir/analysis/factors.h"

#include <gtest/gtest.h>

#include "kernels/ir/parse.h"

namespace kenaz::ir {
namespace {

/// A reduction over n x m x q by (+), whose elements are x; `stms` make it. `more`: dims between
/// the first two, and their sizes in the result's type.
std::string text_of(const std::string& stms, const std::string& more = "",
                    const std::string& sizes = "") {
  return "stage seg\n"
         "fun main(n: i64, m: i64, q: i64, a: [n][q]f32, b: [q][m]f32, c: [n][m][q]f32, w: [n]f32)"
         " -> ([n]" +
         sizes + "[m]f32) {\n  let r: [n]" + sizes + "[m]f32 = seg reduce device (i: i64 < n, " +
         more + "j: i64 < m, k: i64 < q) {\n" + stms +
         "    return x\n"
         "  } by \\(s: f32, t: f32) -> (f32) {\n"
         "    let u: f32 = add.f32(s, t)\n"
         "    return u\n"
         "  } {0.00000000f32}\n"
         "  return r\n"
         "}\n";
}

struct Found {
  Program program;
  std::optional<Factors> factors;

  std::vector<std::string> names(const std::vector<VarId>& values) const {
    std::vector<std::string> out;
    for (const VarId v : values) out.push_back(program.vars[v.index].name);
    return out;
  }
};

Found found_in(const std::string& stms, const std::string& more = "",
               const std::string& sizes = "") {
  auto parsed = parse(text_of(stms, more, sizes));
  EXPECT_TRUE(parsed) << parsed.error().text();
  Found f;
  if (!parsed) return f;
  f.program = std::move(*parsed);
  f.factors = factors_of(f.program, std::get<ESeg>(f.program.functions[0].body.stms[0].exp));
  return f;
}

constexpr const char* kReads =
    "    let p: f32 = index a[i, k]\n"
    "    let t: f32 = index b[k, j]\n";

using Names = std::vector<std::string>;

TEST(Factors, OfAProductOfMatrices) {
  const Found f = found_in(std::string(kReads) + "    let x: f32 = mul.f32(p, t)\n");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.names(f.factors->left.values), Names{"p"});
  EXPECT_EQ(f.names(f.factors->right.values), Names{"t"});
  EXPECT_TRUE(f.factors->left.along);
  EXPECT_FALSE(f.factors->right.along);
  EXPECT_EQ(f.factors->join.stms.size(), 1U);
}

TEST(Factors, TakeWithThemWhatDependsOnThemAlone) {
  const Found f = found_in(std::string(kReads) +
                           "    let v: f32 = index w[i]\n"
                           "    let g: f32 = mul.f32(p, v)\n"
                           "    let x: f32 = add.f32(g, t)\n");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.names(f.factors->left.values), Names{"g"});
  EXPECT_EQ(f.factors->left.body.stms.size(), 3U);
  EXPECT_EQ(f.factors->join.stms.size(), 1U);
}

TEST(Factors, MayBeIndices) {
  const Found f = found_in(std::string(kReads) +
                           "    let near: bool = lt.i64(i, j)\n"
                           "    let x: f32 = select.f32(near, p, t)\n");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.names(f.factors->left.values), (Names{"i", "p"}));
  EXPECT_EQ(f.names(f.factors->right.values), (Names{"j", "t"}));
}

TEST(Factors, AreNotThereWhereAnElementReadsWhatOnlyItDoes) {
  EXPECT_FALSE(found_in(std::string(kReads) + "    let z: f32 = index c[i, j, k]\n"
                                              "    let y: f32 = mul.f32(p, t)\n"
                                              "    let x: f32 = mul.f32(y, z)\n")
                   .factors);
}

TEST(Factors, MayBeReadOnOneSideOnly) {
  const Found f = found_in(
      "    let t: f32 = index b[k, j]\n"
      "    let y: f32 = convert.i64.f32(i)\n"
      "    let x: f32 = mul.f32(y, t)\n");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.names(f.factors->left.values), Names{"y"});
  EXPECT_FALSE(f.factors->left.reads);
  EXPECT_TRUE(f.factors->right.reads);
}

TEST(Factors, OfSeveralDimsThatReadTheSame) {
  const Found f = found_in(
      "    let t: f32 = index c[h, j, k]\n"
      "    let y: f32 = convert.i64.f32(i)\n"
      "    let x: f32 = mul.f32(y, t)\n",
      "h: i64 < n, ", "[n]");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.factors->dims.row, 0U);
  EXPECT_EQ(f.factors->dims.column, 1U);
  EXPECT_EQ(f.factors->dims.end, 3U);
  EXPECT_EQ(f.names(f.factors->right.values), Names{"t"});
}

TEST(Factors, OfOneDimEachWhereBothRead) {
  const Found f = found_in(
      "    let p: f32 = index a[h, k]\n"
      "    let t: f32 = index b[k, j]\n"
      "    let x: f32 = mul.f32(p, t)\n",
      "h: i64 < n, ", "[n]");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.factors->dims.row, 1U);
  EXPECT_EQ(f.factors->dims.column, 2U);
}

TEST(Factors, OfMatricesBetweenRowsAndColumns) {
  const Found f = found_in(
      "    let p: f32 = index c[h, i, k]\n"
      "    let t: f32 = index c[h, j, k]\n"
      "    let x: f32 = mul.f32(p, t)\n",
      "h: i64 < n, ", "[n]");
  ASSERT_TRUE(f.factors);
  EXPECT_EQ(f.factors->dims.row, 0U);
  EXPECT_EQ(f.factors->dims.row_end, 1U);
  EXPECT_EQ(f.factors->dims.column, 2U);
  EXPECT_EQ(f.factors->dims.end, 3U);
  EXPECT_EQ(f.names(f.factors->left.values), Names{"p"});
  EXPECT_EQ(f.names(f.factors->right.values), Names{"t"});
}

TEST(Factors, AreNotThereWhereOnlyRowsShare) {
  EXPECT_FALSE(found_in("    let p: f32 = index a[i, k]\n"
                        "    let x: f32 = add.f32(p, p)\n")
                   .factors);
}

TEST(Factors, AreNotThereWhereAnElementCanFail) {
  EXPECT_FALSE(found_in(std::string(kReads) + "    let good: bool = lt.f32(p, t)\n"
                                              "    let ok: bool = assert (good, \"bad\")\n"
                                              "    let x: f32 = mul.f32(p, t)\n")
                   .factors);
}

}  // namespace
}  // namespace kenaz::ir
