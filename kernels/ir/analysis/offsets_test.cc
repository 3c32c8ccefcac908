#include "kernels/ir/analysis/offsets.h"

#include <gmock/gmock.h>

#include "kernels/ir/parse.h"

namespace kenaz::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct FoundOffsets {
  Program program;
  std::vector<Offset> offsets;

  /// "index constant: what makes it"
  std::vector<std::string> text() const {
    std::vector<std::string> out;
    for (const Offset& o : offsets) {
      std::string line = name(o.index) + " " + std::to_string(o.constant) + ":";
      for (const Stm& s : o.made.stms) line += " " + name(s.pat[0]);
      out.push_back(line);
    }
    return out;
  }
  bool share(int64_t count) const { return neighbours_share(program, seg(), offsets, count); }
  const ESeg& seg() const { return std::get<ESeg>(program.functions[0].body.stms[0].exp); }
  std::string name(VarId v) const { return program.vars[v.index].name; }
};

/// Of a map over h x w; `stms` make its result x.
FoundOffsets offsets_in(const std::string& stms, bool rows_fixed = false) {
  auto parsed = parse(
      "stage seg\n"
      "fun main(h: i64, w: i64, m: i32, a: [h][w]i32, b: [w]i64) -> ([h][w]i32) {\n"
      "  let r: [h][w]i32 = seg map device (i: i64 < h, j: i64 < w) {\n" +
      stms +
      "    return x\n"
      "  }\n"
      "  return r\n"
      "}\n");
  EXPECT_TRUE(parsed) << parsed.error().text();
  FoundOffsets f;
  if (!parsed) return f;
  f.program = std::move(*parsed);
  std::optional<VarId> fixed;
  if (rows_fixed) fixed = f.seg().space.dims[0].index;
  f.offsets = offsets_of(f.program, f.seg(), fixed);
  return f;
}

TEST(Offsets, OfClampedIndices) {
  const FoundOffsets f = offsets_in(
      "    let c: i32 = convert.i64.i32(j)\n"
      "    let d: i32 = sub.i32(c, 2i32)\n"
      "    let e: i32 = min.i32(d, m)\n"
      "    let f: i32 = max.i32(e, 0i32)\n"
      "    let g: i64 = convert.i32.i64(f)\n"
      "    let x: i32 = index a[i, g]\n");
  EXPECT_THAT(f.text(), ElementsAre("g -2: c d e f g"));
}

TEST(Offsets, OfATorus) {
  const FoundOffsets f = offsets_in(
      "    let c: bool = eq.i64(j, 0i64)\n"
      "    let d: i64 = sub.i64(w, 1i64)\n"
      "    let e: i64 = add.i64(-1i64, j)\n"
      "    let g: i64 = select.i64(c, d, e)\n"
      "    let x: i32 = index a[i, g]\n"
      "    let y: i32 = index a[i, j]\n");
  EXPECT_THAT(f.text(), ElementsAre("g -1: c d e g"));
}

TEST(Offsets, NoneOfLoadedOrMirroredOnes) {
  EXPECT_THAT(offsets_in("    let d: i64 = index b[j]\n"
                         "    let e: i64 = add.i64(d, 1i64)\n"
                         "    let g: i64 = min.i64(e, j)\n"
                         "    let x: i32 = index a[i, g]\n")
                  .text(),
              IsEmpty());
  EXPECT_THAT(offsets_in("    let g: i64 = sub.i64(w, j)\n    let x: i32 = index a[i, g]\n").text(),
              IsEmpty());
  EXPECT_THAT(offsets_in("    let d: i64 = add.i64(j, 1i64)\n"
                         "    let g: i64 = max.i64(d, j)\n"
                         "    let x: i32 = index a[i, g]\n")
                  .text(),
              IsEmpty());
}

TEST(Offsets, NoneThatChangeWithAFixedIndex) {
  const std::string text =
      "    let d: i64 = add.i64(j, 1i64)\n"
      "    let g: i64 = min.i64(d, i)\n"
      "    let x: i32 = index a[i, g]\n";
  EXPECT_THAT(offsets_in(text).text(), ElementsAre("g 1: d g"));
  EXPECT_THAT(offsets_in(text, true).text(), IsEmpty());
}

TEST(Offsets, NeighboursShareRows) {
  const std::string row =
      "    let d: i64 = add.i64(j, 1i64)\n"
      "    let p: i32 = index a[i, j]\n";
  EXPECT_TRUE(offsets_in(row + "    let x: i32 = index a[i, d]\n").share(4));  // 2 of 8 loads
  EXPECT_FALSE(offsets_in("    let x: i32 = index a[i, j]\n").share(4));
  // Each has an element of its own: 2 + 4 of 12 are half, 2 + 8 of 16 are more.
  const std::string own = row +
                          "    let e: i64 = sub.i64(w, j)\n"
                          "    let x: i32 = index a[i, d]\n"
                          "    let y: i32 = index a[i, e]\n";
  EXPECT_TRUE(offsets_in(own).share(4));
  EXPECT_FALSE(offsets_in(own + "    let z: i32 = index a[e, i]\n").share(4));
  // Not side by side.
  EXPECT_FALSE(offsets_in("    let d: i64 = add.i64(j, 1i64)\n"
                          "    let p: i32 = index a[j, i]\n"
                          "    let x: i32 = index a[d, i]\n")
                   .share(4));
}

}  // namespace
}  // namespace kenaz::ir
