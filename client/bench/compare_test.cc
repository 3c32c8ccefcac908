#include "client/bench/compare.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

Dataset dataset(const std::string& name, double around, int runs, int64_t bytes = 0) {
  Dataset d;
  d.name = name;
  for (int k = 0; k < runs; ++k) d.runtimes.push_back(around + k % 5);
  if (bytes > 0) d.bytes["device"] = bytes;
  return d;
}

TEST(BenchCompare, SaysWhatIsSignificant) {
  const Results before = {{"a.fut",
                           "main",
                           {dataset("much", 200, 20, 100), dataset("little", 1000, 2000),
                            dataset("few", 100, 2), dataset("gone", 1, 9)}}};
  Dataset failed = dataset("gone", 1, 0);
  failed.error = "no";
  const Results after = {{"a.fut",
                          "main",
                          {dataset("much", 100, 20, 150), dataset("little", 1004, 2000),
                           dataset("few", 110, 2), failed, dataset("new", 1, 9)}}};
  const Compared compared = compare(before, after);
  ASSERT_EQ(compared.both.size(), 3);
  EXPECT_EQ(compared.both[0].verdict, Verdict::kFaster);
  EXPECT_NEAR(compared.both[0].speedup, 202.0 / 102, 1e-12);
  EXPECT_NEAR(compared.both[0].memory, 1.5, 1e-12);
  EXPECT_LT(compared.both[1].chance, 1e-6);  // no chance, but less than 1%
  EXPECT_EQ(compared.both[1].verdict, Verdict::kSame);
  EXPECT_EQ(compared.both[2].verdict, Verdict::kSame);  // four runs say little
  EXPECT_EQ(compared.only_before, std::vector<std::string>{"a.fut gone"});
  EXPECT_EQ(compared.only_after, std::vector<std::string>{"a.fut new"});
  EXPECT_EQ(compare(after, before).both[0].verdict, Verdict::kSlower);
}

TEST(BenchCompare, Text) {
  const Results before = {{"a.fut", "f", {dataset("x", 200, 20, 100), dataset("y", 100, 2)}}};
  const Results after = {{"a.fut", "f", {dataset("x", 100, 20, 150), dataset("y", 100, 2)}}};
  EXPECT_EQ(comparison_text(compare(before, after)),
            "a.fut:f\n"
            "          before      after speed-up\n"
            "  x       202 us     102 us    1.98x  faster (p < 0.0001), memory 1.50x\n"
            "  y       100 us     100 us    1.00x  no significant difference\n");
  Results more = before;
  for (const char* name : {"z1", "z2", "z3", "z4", "z5"}) {
    more[0].datasets.push_back(dataset(name, 1, 5));
  }
  EXPECT_TRUE(
      comparison_text(compare(before, more)).ends_with("only after: a.fut:f z3\n  and 2 more\n"));
}

}  // namespace
}  // namespace kenaz::bench
