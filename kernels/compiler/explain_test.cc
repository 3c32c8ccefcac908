// What reports say of small programs, and that asking for one changes nothing.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "kernels/compiler/test_programs.h"
#include "kernels/explain/text.h"
#include "kernels/program/serialise.h"

namespace kenaz {
namespace {

using compiler::testing::optimised;
using explain::Kind;
using explain::Operation;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Result<program::Program> generated(const std::string& text, const program::Target& target,
                                   explain::Report* report = nullptr) {
  const auto program = optimised(text);
  auto made =
      program ? compiler::generate(*program, target, report) : tl::make_unexpected(program.error());
  EXPECT_TRUE(made) << made.error().text();
  return made;
}

explain::Report whole_report_of(const std::string& text, const program::Target& target = {}) {
  explain::Report report;
  generated(text, target, &report);
  return report;
}

/// Of the only entry point.
explain::EntryReport report_of(const std::string& text, const program::Target& target = {}) {
  const explain::Report report = whole_report_of(text, target);
  for (const auto& e : report.entries) {
    if (e.name != "constants") return e;
  }
  return {};
}

std::string bytes(const explain::Bytes& all) {
  std::string out;
  for (const auto& s : all) out += (out.empty() ? "" : " + ") + explain::size_text(s);
  return out;
}

std::vector<Kind> kinds(const explain::EntryReport& e) {
  std::vector<Kind> out;
  for (const Operation& o : e.operations) out.push_back(o.kind);
  return out;
}

const char* const kTwoWays =
    "entry f [n][m] (xss: [n][m]f32) = map (\\xs -> let s = reduce (+) 0 xs\n"
    " in reduce f32.max 0 (map (/ s) xs)) xss";

program::Target large_target() {
  program::Target t;
  t.threads = 1 << 17;
  t.max_group_size = 1024;
  t.shared_bytes = 48 << 10;
  return t;
}

TEST(Explain, VersionsForWorkgroupsWhereBarriersAreCheap) {
  const auto e = report_of(kTwoWays, large_target());
  ASSERT_THAT(kinds(e), ElementsAre(Kind::kMap, Kind::kGroups, Kind::kReduce, Kind::kReduce));
  const Operation& groups = e.operations[1];
  ASSERT_THAT(groups.versions, SizeIs(2));
  EXPECT_EQ(groups.versions[1].name, "group");
  EXPECT_EQ(groups.versions[1].param, "f.enough_inner_par_0");
  EXPECT_TRUE(groups.versions[1].holds);
  EXPECT_EQ(e.operations[2].versions[1].name, "all");
}

TEST(Explain, WhyThereIsNoVersionForWorkgroups) {
  const auto report = whole_report_of(
      "entry f [n][m] (xss: [n][m]f32) = map (\\xs -> let s = reduce (+) 0 xs\n"
      " in if s > 0 then reduce f32.max 0 (map (/ s) xs) else reduce f32.min 0 (map (+ s) xs)) xss",
      large_target());
  ASSERT_THAT(report.no_groups, SizeIs(1));
  EXPECT_EQ(report.no_groups[0].why, ir::NoGroups::Why::kControl);
}

TEST(Explain, VersionsHaveTheirConditionsAndWhatTheyLeaveInThreads) {
  const auto e = report_of(kTwoWays);
  ASSERT_THAT(kinds(e), ElementsAre(Kind::kMap, Kind::kReduce, Kind::kReduce));
  const Operation &maps = e.operations[0], &all = e.operations[1];
  ASSERT_THAT(maps.versions, SizeIs(1));
  EXPECT_EQ(maps.versions[0].name, "maps");
  EXPECT_EQ(maps.versions[0].param, "f.enough_outer_par_0");
  EXPECT_EQ(maps.versions[0].size, maps.space[0]);
  EXPECT_TRUE(maps.versions[0].holds);
  ASSERT_THAT(maps.inside, SizeIs(2));
  EXPECT_EQ(maps.inside[0].why, std::nullopt);
  ASSERT_THAT(all.versions, SizeIs(1));
  EXPECT_EQ(all.versions[0].name, "all");
  EXPECT_FALSE(all.versions[0].holds);
  EXPECT_THAT(all.inside, IsEmpty());
  EXPECT_THAT(all.space, SizeIs(2));
  EXPECT_THAT(maps.plans, IsEmpty());
  ASSERT_FALSE(all.plans.empty());
  EXPECT_TRUE(all.plans.back().when.is_true());
}

TEST(Explain, TrafficIsOfOneElement) {
  const auto sum =
      report_of("entry f (xs: []f32) (ys: []f64) = map2 (\\x y -> f64.f32 x + y) xs ys");
  ASSERT_THAT(kinds(sum), ElementsAre(Kind::kMap));
  EXPECT_EQ(bytes(sum.operations[0].reads), "12");
  EXPECT_EQ(bytes(sum.operations[0].writes), "8");
  const auto rows = report_of(
      "entry f [n][m] (xss: [n][m]i16) = #[sequential_inner] "
      "map (\\xs -> reduce (+) 0 xs) xss");
  ASSERT_THAT(kinds(rows), ElementsAre(Kind::kMap));
  const auto& row = rows.operations[0].reads;
  ASSERT_THAT(row, SizeIs(1));
  EXPECT_EQ(row[0].factor, 2);
  EXPECT_THAT(row[0].names, SizeIs(1));
  EXPECT_EQ(bytes(rows.operations[0].writes), "2");
}

TEST(Explain, MemoryOfTheElementItselfIsNoTraffic) {
  const auto e = report_of(
      "entry f (xs: []i32) = map (\\x -> let a = loop a = replicate 4 x for i < 4 do a with [i] = "
      "i32.i64 i\n"
      " in a[x % 4]) xs");
  ASSERT_FALSE(e.operations.empty());
  EXPECT_EQ(bytes(e.operations[0].reads), "4");
  EXPECT_EQ(bytes(e.operations[0].writes), "4");
}

TEST(Explain, WhatWasFusedHasItsPlace) {
  const auto e = report_of("entry f (xs: []i32) =\n  let ys = map (* 2) xs\n  in reduce (+) 0 ys");
  ASSERT_THAT(kinds(e), ElementsAre(Kind::kReduce));
  ASSERT_THAT(e.operations[0].fused, SizeIs(1));
  EXPECT_EQ(e.operations[0].fused[0].begin.line, 2);
  EXPECT_EQ(e.operations[0].place.begin.line, 3);
}

std::vector<ir::Stays::Why> reasons(const explain::EntryReport& e) {
  std::vector<ir::Stays::Why> out;
  for (const Operation& o : e.operations) {
    for (const auto& i : o.inside) {
      if (i.why) out.push_back(*i.why);
    }
  }
  return out;
}

TEST(Explain, WhichNeighboursAreLoadedTogether) {
  const auto width_of = [](const std::string& what) {
    const auto e =
        report_of("entry f [n][m] (xss: [n][m]i32) (ys: [m]i64) = map (\\xs -> " + what + ") xss");
    EXPECT_FALSE(e.operations.empty());
    return e.operations.empty() ? 0 : e.operations.back().width;
  };
  EXPECT_EQ(width_of("reduce (+) 0 xs"), 4);
  EXPECT_EQ(width_of("scan (+) 0 (map2 (\\x y -> i64.i32 x * y) xs ys)"), 2);
  EXPECT_EQ(width_of("reduce (+) 0 (map2 (\\x y -> i64.i32 x * y) xs ys)"), 1);
  EXPECT_EQ(width_of("scan (+) 0 xs"), 4);
  EXPECT_EQ(width_of("scan (+) 0 (replicate m 1i32)"), 4);
  EXPECT_EQ(width_of("scan (+) 0 (map (\\x -> x + xss[0, m - 1]) xs)"), 4);
}

TEST(Explain, WhyParallelWorkStaysInAThread) {
  using Why = ir::Stays::Why;
  EXPECT_THAT(
      reasons(report_of("entry f (ns: []i64) = map (\\n -> last (scan (+) 0 (iota n))) ns")),
      ElementsAre(Why::kSizes));
  EXPECT_THAT(reasons(report_of("entry f (xss: [][4]i32) = map (\\xs -> reduce (+) 0 xs) xss")),
              ElementsAre(Why::kFew));
  EXPECT_THAT(reasons(report_of("entry f (xss: [][]i32) = "
                                "map (\\xs -> #[sequential] reduce (+) 0 xs) xss")),
              ElementsAre(Why::kAttribute));
  EXPECT_THAT(reasons(report_of("entry f [n][m] (xss: [n][m]i32) (ks: [n]i32) = map2 (\\xs k ->\n"
                                " loop s = 0 for _i < k do s + reduce (+) s xs) xss ks")),
              ElementsAre(Why::kLoop));
}

// The map is done where results are stored.
TEST(Explain, MapsBehindScansAndReductionsBecomePartOfThem) {
  const auto last = [](const std::string& what, bool ahead = false) {
    program::Target target = large_target();
    target.reads_ahead = ahead;
    const auto e = report_of("entry f [n][m] (xss: [n][m]i32) (ys: [n]i32) = " + what, target);
    EXPECT_FALSE(e.operations.empty());
    return e.operations.empty() ? Operation{} : e.operations.back();
  };
  const std::string flat = "map2 (\\s y -> s * y) (scan (+) 0 ys) ys";
  EXPECT_EQ(last(flat).kind, Kind::kScan);
  EXPECT_THAT(last(flat).fused, SizeIs(1));
  // Plans that read ahead store what they have found.
  EXPECT_EQ(last(flat, true).kind, Kind::kMap);
  const std::string rows = "map2 (\\xs y -> map (* y) (scan (+) 0 xs)) xss ys";
  EXPECT_EQ(last(rows).kind, Kind::kScan);
  EXPECT_EQ(last(rows, true).kind, Kind::kScan);
  EXPECT_EQ(last("map2 (\\xs y -> i32.sum xs * y) xss ys").kind, Kind::kReduce);
  // Others need the results, or the map needs others of them.
  EXPECT_EQ(last("let s = scan (+) 0 ys in (map (+ 1) s, s)").kind, Kind::kMap);
  EXPECT_EQ(last("let s = scan (+) 0 ys in map2 (+) s (reverse s)").kind, Kind::kMap);
  // .. or what is made in between.
  EXPECT_EQ(last("let s = scan (+) 0 ys let k = i32.maximum xss[0] in map (+ k) s").kind,
            Kind::kMap);
}

TEST(Explain, ReductionsOfDifferentLengthsAreMadeTogether) {
  program::Target gpu;
  gpu.threads = 1 << 18;
  const std::string text = "entry f (ns: []i64) = map (\\n -> i64.sum (map (* n) (iota n))) ns";
  EXPECT_THAT(reasons(report_of(text)), ElementsAre(ir::Stays::Why::kSizes));
  const auto e = report_of(text, gpu);
  ASSERT_THAT(kinds(e), ElementsAre(Kind::kMap));
  ASSERT_THAT(e.operations[0].plans, SizeIs(1));
  EXPECT_EQ(e.operations[0].plans[0].name, "together");
  EXPECT_THAT(reasons(e), IsEmpty());
}

// One kernel counts elements and another one places them: both must see the same classes.
TEST(Packings, MakeClassesOnceWhereDriversMayRoundInTwoWays) {
  const auto makes_once = [](const std::string& value, bool contracts) {
    program::Target target;
    target.contracts_floats = contracts;
    const auto made = generated("entry f [n] (xs: [n]f32) (ys: [n]f32) = filter (\\(x, y) -> " +
                                    value + " < 2) (zip xs ys)",
                                target);
    return made &&
           std::any_of(made->kernels.begin(), made->kernels.end(), [](const program::Kernel& k) {
             return k.name.find("_map_") != std::string::npos;
           });
  };
  EXPECT_FALSE(makes_once("x + y", true));
  for (const char* value : {"x * y + 1", "f32.mad x y 1"}) {
    EXPECT_TRUE(makes_once(value, true)) << value;
    EXPECT_FALSE(makes_once(value, false)) << value;
  }
}

TEST(Maps, OfMuchCodeHaveLargeWorkgroups) {
  const auto size_of = [](int doublings, int max_group_size) {
    program::Target target;
    target.threads = 1 << 17;
    target.max_group_size = max_group_size;
    std::string text = "def f0 (x: i64) (y: i64) = y ^ (y << x)\n";
    for (int k = 1; k <= doublings; k++) {
      text += fmt::format("def f{0} (x: i64) (y: i64) = f{1} x (f{1} x y)\n", k, k - 1);
    }
    text += fmt::format("entry f (xs: []i64) = map (\\x -> (x, f{} x x)) xs", doublings);
    const auto made = generated(text, target);
    const std::string glsl = made ? made->kernels.back().glsl : "";
    const std::string before = "local_size_x = ";
    const size_t at = glsl.find(before);
    return at == std::string::npos ? 0 : std::stoi(glsl.substr(at + before.size()));
  };
  EXPECT_EQ(size_of(6, 1024), 128);
  EXPECT_EQ(size_of(13, 1024), 512);
  EXPECT_EQ(size_of(13, 256), 256);
}

TEST(Explain, WhyOneThreadRunsSomething) {
  using Why = ir::OneThread::Why;
  const auto swaps = report_of(
      "entry f (xs: *[]i64) (n: i64) = loop xs for i < n do\n"
      " let j = xs[i] in let xs[i] = xs[j] in xs");
  ASSERT_THAT(kinds(swaps), ElementsAre(Kind::kOneThread));
  EXPECT_EQ(swaps.operations[0].one_thread, Why::kElements);
  const auto whole = report_of(
      "entry f [n][m] (xss: [n][m]i32) = reduce (\\a b -> scan (+) 0 (map2 (+) a b))\n"
      " (replicate m 0) xss");
  bool told = false;
  for (const Operation& o : whole.operations) told = told || o.one_thread == Why::kOperator;
  EXPECT_TRUE(told) << explain::text({"", {whole}, {}});
}

TEST(Explain, WhatIsRefusedASecondVersion) {
  const auto e = whole_report_of(
      "entry f [n][m] (xss: [n][m]f32) = #[flattening(only_inner)]\n"
      "map (\\xs -> let s = reduce (+) 0 xs in reduce f32.max 0 (map (/ s) xs)) xss");
  ASSERT_THAT(e.refused, SizeIs(1));
  EXPECT_EQ(e.refused[0].why, ir::OneVersion::Why::kAttribute);
  EXPECT_THAT(whole_report_of(kTwoWays).refused, IsEmpty());
}

TEST(Explain, ChangesNothing) {
  const auto program = optimised(kTwoWays);
  ASSERT_TRUE(program);
  explain::Report report;
  const auto with = compiler::generate(*program, {}, &report),
             without = compiler::generate(*program);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(program::serialise(*with), program::serialise(*without));
}

}  // namespace
}  // namespace kenaz
