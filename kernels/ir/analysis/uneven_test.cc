#include "kernels/ir/analysis/uneven.h"

#include <gmock/gmock.h>

#include "kernels/ir/parse.h"

namespace kenaz::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A map over the n rows of a that begin at o, whose result is x; `stms` make it.
std::string uneven_text(const std::string& stms) {
  return "stage seg\n"
         "fun main(n: i64, m: i64, o: [m]i64, a: [m]i32) -> ([n]i32) {\n"
         "  let r: [n]i32 = seg map device (i: i64 < n) {\n" +
         stms +
         "    return x\n"
         "  }\n"
         "  return r\n"
         "}\n";
}

struct FoundUneven {
  Program program;
  std::optional<Uneven> uneven;

  std::string name(VarId v) const { return program.vars[v.index].name; }
  std::vector<std::string> names(const std::vector<VarId>& vars) const {
    std::vector<std::string> out;
    for (const VarId v : vars) out.push_back(name(v));
    return out;
  }
  /// What statements make.
  std::vector<std::string> names(const std::vector<Stm>& stms) const {
    std::vector<std::string> out;
    for (const Stm& s : stms) out.push_back(name(s.pat[0]));
    return out;
  }
};

FoundUneven uneven_in(
    const std::string& stms,
    const std::function<bool(const Stm&)>& stays = [](const Stm&) { return false; }) {
  auto parsed = parse(uneven_text(stms));
  EXPECT_TRUE(parsed) << parsed.error().text();
  FoundUneven f;
  if (!parsed) return f;
  f.program = std::move(*parsed);
  f.uneven = uneven_of(f.program, std::get<ESeg>(f.program.functions[0].body.stms[0].exp), stays);
  return f;
}

const std::string kOwnRow =
    "    let from: i64 = index o[i]\n"
    "    let next: i64 = add.i64(i, 1i64)\n"
    "    let to: i64 = index o[next]\n"
    "    let fits: bool = le.i64(from, to)\n"
    "    let c: bool = assert (fits, \"bad row\")\n"
    "    let size: i64 = sub.i64(to, from)\n"
    "    let row: [size]i32 = index a[from : size : 1i64] cert {c}\n";

/// The sum `name` of what `made` makes of the row's elements e.
std::string row_sum(const std::string& name, const std::string& made, const std::string& neutral) {
  return "    let " + name + ": i32 = soac (size; row) map \\(e_" + name + ": i32) -> (i32) {\n" +
         made + "    } reduce commutative \\(p_" + name + ": i32, q_" + name +
         ": i32) -> (i32) {\n      let s_" + name + ": i32 = add.i32(p_" + name + ", q_" + name +
         ")\n      return s_" + name + "\n    } {" + neutral + "}\n";
}

TEST(Uneven, ARowIsEnteredAndItsSliceTakenAnew) {
  const auto f = uneven_in(kOwnRow + row_sum("x", "      return e_x\n", "0i32"));
  ASSERT_TRUE(f.uneven);
  ASSERT_EQ(f.uneven->stages.size(), 1U);
  const auto& stage = f.uneven->stages[0];
  EXPECT_THAT(f.names(stage.enter.stms),
              ElementsAre("from", "next", "to", "fits", "c", "size", "row"));
  EXPECT_EQ(stage.enter.results[0], Atom(stage.enter.stms[5].pat[0]));
  EXPECT_THAT(f.names(stage.shared), ElementsAre("from", "size"));
  EXPECT_THAT(stage.kept, IsEmpty());
  EXPECT_THAT(f.names(stage.views), ElementsAre("row"));
  EXPECT_THAT(f.uneven->leave.stms, IsEmpty());
  EXPECT_THAT(f.names(f.uneven->known(1)), ElementsAre("from", "size", "x"));
}

TEST(Uneven, WhatIsNeededLaterIsKept) {
  const auto f =
      uneven_in(kOwnRow + "    let k: i32 = convert.i64.i32(to)\n" +
                row_sum("y", "      return e_y\n", "0i32") + "    let h: i32 = mul.i32(y, k)\n" +
                row_sum("z", "      let d: i32 = sub.i32(e_z, h)\n      return d\n", "0i32") +
                "    let x: i32 = add.i32(z, y)\n");
  ASSERT_TRUE(f.uneven);
  ASSERT_EQ(f.uneven->stages.size(), 2U);
  const auto& first = f.uneven->stages[0];
  const auto& second = f.uneven->stages[1];
  EXPECT_THAT(f.names(first.kept), ElementsAre("k"));
  EXPECT_THAT(f.names(second.enter.stms), ElementsAre("h"));
  EXPECT_THAT(f.names(second.shared), ElementsAre("from", "size", "h"));
  EXPECT_THAT(f.names(second.kept), ElementsAre("y"));
  EXPECT_THAT(f.names(f.uneven->leave.stms), ElementsAre("x"));
}

TEST(Uneven, ElementsMayNeedThePointsIndex) {
  const auto f = uneven_in(
      "    let row: [i]i64 = iota.i64(i, 0i64, 1i64)\n"
      "    let x: i32 = soac (i; row) map \\(e: i64) -> (i32) {\n"
      "      let d: i64 = mul.i64(e, i)\n      let y: i32 = convert.i64.i32(d)\n      return y\n"
      "    } reduce commutative \\(p: i32, q: i32) -> (i32) {\n"
      "      let s: i32 = add.i32(p, q)\n      return s\n    } {0i32}\n");
  ASSERT_TRUE(f.uneven);
  EXPECT_THAT(f.names(f.uneven->stages[0].shared), ElementsAre("i"));
}

TEST(Uneven, NotWhereAllPointsHaveAsManyElements) {
  EXPECT_FALSE(uneven_in("    let x: i32 = soac (m; a) map \\(e: i32) -> (i32) {\n"
                         "      return e\n    } reduce commutative \\(p: i32, q: i32) -> (i32) {\n"
                         "      let s: i32 = add.i32(p, q)\n      return s\n    } {0i32}\n")
                   .uneven);
}

TEST(Uneven, NotWhereTheProgramWantsOneThread) {
  const std::string text = kOwnRow + row_sum("x", "      return e_x\n", "0i32");
  EXPECT_FALSE(uneven_in(text, [](const Stm&) { return true; }).uneven);
}

TEST(Uneven, NotWhereTheNeutralElementDiffers) {
  EXPECT_FALSE(uneven_in(kOwnRow + "    let k: i32 = convert.i64.i32(to)\n" +
                         row_sum("x", "      return e_x\n", "k"))
                   .uneven);
}

TEST(Uneven, NotWhereAnArrayOfThePointsOwnIsNeeded) {
  EXPECT_FALSE(uneven_in(kOwnRow +
                         "    let own: [size]i32 = copy row\n"
                         "    let x: i32 = soac (size; own) map \\(e: i32) -> (i32) {\n"
                         "      return e\n    } reduce commutative \\(p: i32, q: i32) -> (i32) {\n"
                         "      let s: i32 = add.i32(p, q)\n      return s\n    } {0i32}\n")
                   .uneven);
}

}  // namespace
}  // namespace kenaz::ir
