#include "kernels/explain/text.h"

#include <gtest/gtest.h>

namespace kenaz::explain {
namespace {

using plan::HostExpr;
const HostExpr kSegments = HostExpr::size(0), kLength = HostExpr::size(1);

TEST(ConditionText, NamesSizesAndFoldsTheWorkgroupsSize) {
  EXPECT_EQ(condition_text(HostExpr::boolean(true), 256), "always");
  EXPECT_EQ(condition_text(le(kLength, HostExpr::spec(0) * 16), 256), "length <= 4096");
  EXPECT_EQ(condition_text(and_(le(8, HostExpr::spec(0)), le(kLength, 8)), 256), "length <= 8");
  EXPECT_EQ(condition_text(lt(div_up(kSegments, 2), HostExpr::size(2)), 256),
            "min(segments, (segments - 1) / 2 + 1) < bins");
}

TEST(ConditionText, ParenthesesOnlyWhereTheyAreNeeded) {
  const HostExpr a = le(kLength, 8), b = le(64, kSegments);
  EXPECT_EQ(condition_text(or_(and_(a, b), a), 1), "length <= 8 and 64 <= segments or length <= 8");
  EXPECT_EQ(condition_text(and_(or_(a, b), a), 1),
            "(length <= 8 or 64 <= segments) and length <= 8");
  EXPECT_EQ(condition_text(lt((kLength + 1) * kSegments, 9), 1), "(length + 1) * segments < 9");
}

TEST(SizeText, FactorsAndNames) {
  EXPECT_EQ(size_text({4, {}}), "4");
  EXPECT_EQ(size_text({1, {"n_0"}}), "n_0");
  EXPECT_EQ(size_text({4, {"m_1", "n_0"}}), "4*m_1*n_0");
}

Report one_reduction() {
  const auto file = std::make_shared<const SourceFile>(
      SourceFile{"a.fut", "-- \"x\"\nentry f xs = reduce (+) 0 xs\n"});
  Operation o;
  o.kind = Kind::kReduce;
  o.place = {file, {2, 14}, {2, 29}};
  o.versions = {{"all", "f.t", Size{1, {"n_0"}}, false}};
  o.space = {{1, {"n_0"}}, {8, {}}};
  o.plans = {{"thread", le(kLength, 8)}, {"groups", HostExpr::boolean(true)}};
  o.group_size = 128;
  o.why_one = OneByOne::kElements;
  o.reads = {{4, {}}, {2, {"m_1"}}};
  o.inside = {{o.place, ir::Stays::Why::kLoop}};
  return {"a device", {{"f", {o}}}, {{o.place, ir::OneVersion::Why::kAttribute}}, {}};
}

TEST(Text, SaysAllThatTheReportHas) {
  EXPECT_EQ(text(one_reduction()),
            "On a device:\n"
            "entry f\n"
            "  reduction over n_0 x 8  a.fut:2:14-29\n"
            "      reduce (+) 0 xs\n"
            "    version   all, where f.t > n_0\n"
            "    plan      thread, if length <= 8\n"
            "              groups, else\n"
            "    width     1: the code of an element loads what it needs by itself\n"
            "    traffic   reads 4 + 2*m_1 B, writes nothing per element\n"
            "    in thread a.fut:2:14-29  the number of iterations differs between elements\n"
            "one version only: a.fut:2:14-29  the program asks for it\n");
}

TEST(Json, HasTheSameInWordsForTools) {
  const std::string place = R"({"file":"a.fut","line":2,"column":14,"end_line":2,"end_column":29})";
  EXPECT_EQ(
      json(one_reduction()),
      R"({"device":"a device","entries":[{"name":"f","operations":[{"kind":"reduce","place":)" +
          place +
          R"(,"space":[{"factor":1,"sizes":["n_0"]},{"factor":8,"sizes":[]}],"versions":)"
          R"([{"name":"all","parameter":"f.t","at_most":false,"size":{"factor":1,"sizes":)"
          R"(["n_0"]}}],"plans":[{"name":"thread","when":"length <= 8"},{"name":"groups",)"
          R"("when":"always"}],"group_size":128,"width":1,"width_why":"elements","reads":)"
          R"([{"factor":4,"sizes":[]},{"factor":2,"sizes":["m_1"]}],"writes":[],"fused":[],)"
          R"("in_thread":[{"place":)" +
          place + R"(,"why":"loop"}]}]}],"one_version":[{"place":)" + place +
          R"(,"why":"attribute"}]})" + "\n");
}

}  // namespace
}  // namespace kenaz::explain
