#include "client/bench/results.h"

#include <gtest/gtest.h>

namespace kenaz::bench {
namespace {

TEST(BenchResults, AreReadAsTheyWereWritten) {
  Dataset good;
  good.name = "[10]i32";
  good.runtimes = {10, 12, 11};
  good.bytes = {{"space 'device'", 4096}};
  good.figures = {7.5, 800, 80};
  good.log = "a line\n";
  good.settled = false;
  good.report = R"({"events":[],"memory":{"space 'device'":4096}})";
  Dataset bad;
  bad.name = "#1 (\"x\")";
  bad.error = "a wrong result";
  const Results results = {{"a/b.fut", "main", {good, bad}}, {"a/b.fut", "sums", {good}}};
  const auto back = parse_results(results_json(results));
  ASSERT_TRUE(back) << back.error().text();
  ASSERT_EQ(back->size(), 2);
  EXPECT_EQ((*back)[0].name(), "a/b.fut");
  EXPECT_EQ((*back)[1].name(), "a/b.fut:sums");
  EXPECT_EQ((*back)[1].entry, "sums");
  const auto& datasets = (*back)[0].datasets;
  ASSERT_EQ(datasets.size(), 2);
  EXPECT_EQ(datasets[0].name, good.name);
  EXPECT_EQ(datasets[0].runtimes, good.runtimes);
  EXPECT_EQ(datasets[0].bytes, good.bytes);
  EXPECT_EQ(datasets[0].figures.device_us, 7.5);
  EXPECT_EQ(datasets[0].figures.kernel_bytes, 800);
  EXPECT_EQ(datasets[0].figures.value_bytes, 80);
  EXPECT_EQ(datasets[0].report, good.report);
  EXPECT_EQ(datasets[0].log, "a line\n");
  EXPECT_FALSE(datasets[0].settled);
  EXPECT_EQ(datasets[1].error, "a wrong result");
  EXPECT_EQ(results_json(*back), results_json(results));
}

TEST(BenchResults, OfFuthark) {
  const auto results = parse_results(R"json({"x.fut:f": {"datasets": {
      "#0 (\"10i64\")": {"runtimes": [3, 4.5], "bytes": {"default": 8}, "stderr": "..."},
      "n": "Timed out."}}})json");
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), 1);
  EXPECT_EQ((*results)[0].program, "x.fut");
  EXPECT_EQ((*results)[0].datasets[0].runtimes, (std::vector<double>{3, 4.5}));
  EXPECT_EQ((*results)[0].datasets[1].error, "Timed out.");
}

TEST(BenchResults, WhatIsNoneIsRefused) {
  EXPECT_FALSE(parse_results("["));
  EXPECT_FALSE(parse_results("[]"));
  EXPECT_FALSE(parse_results(R"({"x.fut": {}})"));
  EXPECT_FALSE(parse_results(R"({"x.fut": {"datasets": {"n": {"runtimes": []}}}})"));
  EXPECT_FALSE(parse_results(R"({"x.fut": {"datasets": {"n": {"runtimes": ["a"]}}}})"));
  EXPECT_FALSE(parse_results(R"({"x.fut": {"datasets": {"n": 3}}})"));
}

}  // namespace
}  // namespace kenaz::bench
