#include "client/bench/lines.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

constexpr const char* kObserved = R"({"subgroup_size":32,"findings":[],
  "kernels":[{"name":"f_map_0","place":{"range":"a.fut:1:2-9"},"workgroups":20,"workgroups_run":8},
             {"name":"f_sum_1","place":null,"workgroups":4,"workgroups_run":4},
             {"name":"none","workgroups":4,"workgroups_run":0}],
  "rows":[
   {"place":{"file":"a.fut","line":1,"range":"a.fut:1:2-9"},"kernel":"f_map_0","kind":"store",
    "access":{"memory":"device","bytes":400,"sectors":13}},
   {"place":{"file":"a.fut","line":2,"range":"a.fut:2:2-9"},"kernel":"f_map_0","kind":"load",
    "access":{"memory":"device","bytes":300,"sectors":25}},
   {"place":{"file":"a.fut","line":2,"range":"a.fut:2:4-9"},"kernel":"f_map_0","kind":"load",
    "access":{"memory":"device","bytes":100,"sectors":25}},
   {"place":{"file":"a.fut","line":2,"range":"a.fut:2:4-9"},"kernel":"f_map_0","kind":"load",
    "access":{"memory":"shared","bytes":1000,"sectors":999}},
   {"place":null,"kernel":"f_sum_1","kind":"load","access":{"memory":"device","bytes":64,"sectors":2}},
   {"place":null,"kernel":"none","kind":"load","access":{"memory":"device","bytes":64,"sectors":2}}
  ]})";

TEST(BenchLines, StandForTheWorkgroupsThatHaveNotRun) {
  const auto lines = parse_observed(kObserved);
  ASSERT_TRUE(lines) << lines.error().text();
  ASSERT_EQ(lines->size(), 2);
  EXPECT_EQ(lines->at("f_map_0").place, "a.fut:1:2-9");
  const auto& map = lines->at("f_map_0").lines;
  ASSERT_EQ(map.size(), 2);
  EXPECT_EQ(map[0].line, 2);  // it touches more
  EXPECT_EQ(map[0].file, "a.fut");
  EXPECT_DOUBLE_EQ(map[0].accessed, 400 * 20 / 8.0);
  EXPECT_DOUBLE_EQ(map[0].touched, 50 * 32 * 20 / 8.0);
  EXPECT_EQ(map[1].line, 1);
  EXPECT_DOUBLE_EQ(lines->at("f_sum_1").lines.at(0).accessed, 64);
}

TEST(BenchLines, AreNotReadFromWhatIsNoReport) {
  for (const char* text : {"", "[]", "{}", R"({"rows":[],"kernels":3})"}) {
    EXPECT_FALSE(parse_observed(text)) << text;
  }
  // What has other types than it should is left out.
  const auto odd = parse_observed(
      R"({"kernels":[1,{"name":2}],"rows":[3,{"kernel":"k","place":5,"access":[]}]})");
  ASSERT_TRUE(odd);
  EXPECT_TRUE(odd->empty());
}

TEST(BenchLines, HaveTheTimeOfTheirKernel) {
  const auto lines = parse_observed(kObserved);
  ASSERT_TRUE(lines);
  ProfiledCall call;
  call.kernels = {{"f_map_0", "a.fut:1:2-9", {}, 0.5, 0}, {"other", "", {}, 2, 0}};
  const auto text = [](const LineBytes& l) { return l.line == 2 ? "xs[2 * i]" : ""; };
  // 1000 bytes in half a microsecond are 2 GB/s, of 4 that a copy moves.
  EXPECT_EQ(lines_text(call, *lines, 4000, text),
            "    line                     time   accessed    GB/s of copy    touched    GB/s\n"
            "    other                  2.0 us  not on the interpreter\n"
            "    f_map_0                0.5 us\n"
            "      a.fut:2                         1000 B    2.00   50.0%    3.9 KiB    8.00  "
            "xs[2 * i]\n"
            "      a.fut:1                         1000 B    2.00   50.0%    1.0 KiB    2.08\n"
            "    f_sum_1                     -  on the interpreter only\n"
            "      ?                                 64 B       -       -       64 B       -\n");
}

TEST(BenchLines, AreOfTheKernelOfTheirPlaceWhateverItsNumber) {
  const KernelLines lines = {{"f_map_0", {"a.fut:1:2-9", {{"a.fut", 1, 8, 32}}}},
                             {"f_map_1", {"a.fut:2:2-9", {{"a.fut", 2, 16, 32}}}},
                             {"f_sum_2", {"a.fut:3:2-9", {{"a.fut", 3, 16, 32}}}}};
  ProfiledCall call;
  call.kernels = {{"f_map_1", "a.fut:1:2-9", {}, 3, 0},
                  {"f_map_3", "a.fut:2:2-9", {}, 2, 0},
                  {"f_sum_4", "a.fut:3:2-9", {}, 1, 0},   // which are two here:
                  {"f_sum_5", "a.fut:3:2-9", {}, 1, 0}};  // another plan
  const std::string text = lines_text(call, lines, 0, [](const LineBytes&) { return ""; });
  std::string names;  // of kernels and lines
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    const size_t from = text.find_first_not_of(' ', at + 1);
    names += text.substr(from, text.find(' ', from) - from) + " ";
  }
  EXPECT_EQ(names, "f_map_1 a.fut:1 f_map_3 a.fut:2 f_sum_4 f_sum_5 f_sum_2 a.fut:3 ") << text;
}

}  // namespace
}  // namespace kenaz::bench
