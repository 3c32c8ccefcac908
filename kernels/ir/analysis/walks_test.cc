#include "kernels/ir/analysis/walks.h"

#include <gmock/gmock.h>

#include "kernels/ir/parse.h"

namespace kenaz::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A map over h x w of a and n whose results are x; `stms` make it.
std::string map_text(const std::string& stms) {
  return "stage seg\n"
         "fun main(h: i64, w: i64, n: i32, e: i64, a: [h][w]i32, b: [h][w]f32) -> ([h][w]i32) {\n"
         "  let r: [h][w]i32 = seg map device (i: i64 < h, j: i64 < w) {\n" +
         stms +
         "    return x\n"
         "  }\n"
         "  return r\n"
         "}\n";
}

struct FoundWalk {
  Program program;
  std::optional<Walk> walk;

  std::string name(VarId v) const { return program.vars[v.index].name; }
  /// What is carried, as "value from".
  std::vector<std::string> carried() const {
    std::vector<std::string> out;
    for (const auto& c : walk->carried) out.push_back(name(c.value) + " " + name(c.from));
    return out;
  }
  /// What statements make.
  std::vector<std::string> names(const Body& b) const {
    std::vector<std::string> out;
    for (const Stm& s : b.stms) out.push_back(name(s.pat[0]));
    return out;
  }
};

FoundWalk walk_in(const std::string& stms) {
  auto parsed = parse(map_text(stms));
  EXPECT_TRUE(parsed) << parsed.error().text();
  FoundWalk f;
  if (!parsed) return f;
  f.program = std::move(*parsed);
  f.walk = walk_of(f.program, std::get<ESeg>(f.program.functions[0].body.stms[0].exp));
  return f;
}

/// Elements of neighbouring rows: p, q, x.
const std::string kThreeRows =
    "    let up: i64 = sub.i64(i, 1i64)\n"
    "    let p: i32 = index a[up, j]\n"
    "    let q: i32 = index a[i, j]\n"
    "    let down: i64 = add.i64(1i64, i)\n"
    "    let s: i32 = index a[down, j]\n"
    "    let t: i32 = add.i32(p, q)\n"
    "    let x: i32 = add.i32(t, s)\n";

TEST(Walks, CarryWhatTheNextPointReadsAgain) {
  const FoundWalk f = walk_in(kThreeRows);
  ASSERT_TRUE(f.walk);
  EXPECT_EQ(f.walk->dim, 0U);
  EXPECT_THAT(f.carried(), UnorderedElementsAre("p q", "q s"));
  EXPECT_THAT(f.names(f.walk->start), ElementsAre("up", "p", "q"));
  EXPECT_THAT(f.names(f.walk->rest), ElementsAre("down", "s", "t", "x"));
  EXPECT_THAT(f.walk->slides, IsEmpty());
}

TEST(Walks, CarryWhatWasMadeOfIt) {
  const FoundWalk f = walk_in(
      "    let down: i64 = add.i64(i, 1i64)\n"
      "    let p: i32 = index a[i, j]\n"
      "    let q: i32 = mul.i32(p, p)\n"
      "    let s: i32 = index a[down, j]\n"
      "    let t: i32 = mul.i32(s, s)\n"
      "    let x: i32 = add.i32(q, t)\n");
  ASSERT_TRUE(f.walk);
  EXPECT_THAT(f.carried(), ElementsAre("q t"));
}

TEST(Walks, ThroughClampsAndConversionsToFewerBits) {
  const FoundWalk f = walk_in(
      "    let k: i32 = convert.i64.i32(i)\n"
      "    let u: i32 = add.i32(k, -1i32)\n"
      "    let v: i32 = max.i32(u, 0i32)\n"
      "    let c: i64 = convert.i32.i64(v)\n"
      "    let y: i32 = max.i32(k, 0i32)\n"
      "    let z: i64 = convert.i32.i64(y)\n"
      "    let p: i32 = index a[c, j]\n"
      "    let q: i32 = index a[z, j]\n"
      "    let x: i32 = sub.i32(q, p)\n");
  ASSERT_TRUE(f.walk);
  EXPECT_THAT(f.carried(), ElementsAre("p q"));
}

TEST(Walks, OfOtherChecksCarryNothing) {
  const std::string read =
      "    let up: i64 = add.i64(i, -1i64)\n"
      "    let c: bool = le.i64(0i64, up)\n"
      "    let d: bool = assert (c, \"no row above\")\n"
      "    let p: i32 = index a[up, j] cert {d}\n"
      "    let q: i32 = index a[i, j]%s\n"
      "    let x: i32 = add.i32(p, q)\n";
  std::string with = read, without = read;
  with.replace(with.find("%s"), 2, " cert {g}");
  with.insert(0, "    let f: bool = le.i64(0i64, i)\n    let g: bool = assert (f, \"no row\")\n");
  without.replace(without.find("%s"), 2, "");
  EXPECT_FALSE(walk_in(without).walk);
  const FoundWalk f = walk_in(with);
  ASSERT_TRUE(f.walk);
  EXPECT_THAT(f.carried(), ElementsAre("p q"));
}

TEST(Walks, SeeWhetherNeighboursShare) {
  const std::string corners =
      "    let down: i64 = add.i64(i, 1i64)\n"
      "    let right: i64 = add.i64(j, 1i64)\n"
      "    let p: i32 = index a[i, j]\n"
      "    let q: i32 = index a[down, j]\n"
      "    let t: i32 = index a[i, right]\n"
      "    let u: i32 = index a[down, right]\n"
      "    let v: i32 = add.i32(p, q)\n"
      "    let w: i32 = add.i32(t, u)\n"
      "    let x: i32 = add.i32(v, w)\n";
  ASSERT_TRUE(walk_in(corners).walk);
  EXPECT_TRUE(walk_in(corners).walk->neighbours_share);
  EXPECT_FALSE(walk_in(kThreeRows).walk->neighbours_share);
}

TEST(Walks, NotWhereNothingIsShared) {
  EXPECT_FALSE(walk_in("    let p: i32 = index a[i, j]\n    let x: i32 = add.i32(p, p)\n").walk);
  EXPECT_FALSE(
      walk_in("    let two: i64 = mul.i64(i, 2i64)\n    let odd: i64 = add.i64(two, 1i64)\n"
              "    let p: i32 = index a[two, j]\n    let q: i32 = index a[odd, j]\n"
              "    let x: i32 = add.i32(p, q)\n")
          .walk);
}

/// A window of n elements; what is added is `added`, of p at i + k.
std::string window_text(const std::string& added, const std::string& bound = "n",
                        const std::string& type = "i32") {
  return "    let z: i32 = convert.i64.i32(i)\n"
         "    let x: i32 = loop (s: i32 = 7i32) for k: " +
         type + " < " + bound + " do {\n" + added + "      return y\n    }\n";
}
const std::string kWindowSum =
    "      let c: i64 = convert.i32.i64(k)\n"
    "      let at: i64 = add.i64(c, i)\n"
    "      let p: i32 = index a[at, j]\n"
    "      let y: i32 = add.i32(p, s)\n";

TEST(Walks, SlideWindowsOfSums) {
  const FoundWalk f = walk_in(window_text(kWindowSum));
  ASSERT_TRUE(f.walk);
  ASSERT_EQ(f.walk->slides.size(), 1U);
  EXPECT_EQ(f.walk->dim, 0U);
  EXPECT_EQ(f.name(f.walk->rest.stms[f.walk->slides[0].at].pat[0]), "x");
  EXPECT_THAT(f.names(f.walk->slides[0].last), ElementsAre("c", "at", "p"));
  EXPECT_THAT(f.names(f.walk->start), ElementsAre("x"));
}

TEST(Walks, SlideAlongRows) {
  const std::string along =
      "      let c: i64 = convert.i32.i64(k)\n"
      "      let at: i64 = add.i64(c, j)\n"
      "      let p: i32 = index a[i, at]\n"
      "      let y: i32 = add.i32(p, s)\n";
  const FoundWalk f = walk_in(window_text(along));
  ASSERT_TRUE(f.walk);
  EXPECT_EQ(f.walk->dim, 1U);
  EXPECT_EQ(f.walk->slides.size(), 1U);
}

TEST(Walks, AlongRowsOnlyOfWindows) {
  EXPECT_FALSE(walk_in("    let next: i64 = add.i64(j, 1i64)\n"
                       "    let p: i32 = index a[i, j]\n    let q: i32 = index a[i, next]\n"
                       "    let x: i32 = add.i32(p, q)\n")
                   .walk);
}

TEST(Walks, SlidesCheckOnlyWhatComes) {
  const FoundWalk f =
      walk_in(window_text("      let c: i64 = convert.i32.i64(k)\n"
                          "      let at: i64 = add.i64(c, i)\n"
                          "      let u: bool = lt.i64(at, h)\n"
                          "      let v: bool = assert (u, \"below\")\n"
                          "      let p: i32 = index a[at, j] cert {v}\n"
                          "      let y: i32 = add.i32(s, p)\n"));
  ASSERT_TRUE(f.walk);
  ASSERT_EQ(f.walk->slides.size(), 1U);
  EXPECT_THAT(f.names(f.walk->slides[0].first), ElementsAre("c", "at", "p"));
  EXPECT_THAT(f.names(f.walk->slides[0].last), ElementsAre("c", "at", "u", "v", "p"));
}

TEST(Walks, NoSlidesOfOtherLoops) {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  // The place of an unsigned number that wraps; of another distance; of the element itself.
  EXPECT_FALSE(
      walk_in(window_text(replaced(kWindowSum, "convert.i32", "convert.u32"), "3u32", "u32")).walk);
  EXPECT_FALSE(walk_in(window_text(replaced(kWindowSum, "add.i64(c, i)", "sub.i64(i, c)"))).walk);
  EXPECT_FALSE(walk_in(window_text(replaced(kWindowSum, "add.i32(p, s)", "sub.i32(s, p)"))).walk);
  EXPECT_FALSE(walk_in(window_text(replaced(kWindowSum, "add.i32(p, s)", "add.i32(s, s)"))).walk);
  EXPECT_FALSE(walk_in(window_text(replaced(kWindowSum, "let y: i32 = add.i32(p, s)",
                                            "let o: i32 = mul.i32(p, k)\n"
                                            "      let y: i32 = add.i32(o, s)")))
                   .walk);
  // A bound that the map computes.
  EXPECT_FALSE(
      walk_in("    let v: i32 = convert.i64.i32(j)\n" + window_text(kWindowSum, "v")).walk);
}

TEST(Walks, NoSlidesOfFloats) {
  EXPECT_FALSE(walk_in("    let f: f32 = loop (s: f32 = 0.00000000f32) for k: i64 < e do {\n"
                       "      let at: i64 = add.i64(k, i)\n"
                       "      let p: f32 = index b[at, j]\n"
                       "      let y: f32 = add.f32(p, s)\n"
                       "      return y\n    }\n"
                       "    let x: i32 = convert.f32.i32(f)\n")
                   .walk);
}

}  // namespace
}  // namespace kenaz::ir
