#include "client/bench/profile.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kenaz::bench {
namespace {

constexpr const char* kReport = R"({"events":[
  {"name":"call f","duration":100.5,"provenance":"","details":{}},
  {"name":"device","duration":80,"provenance":"","details":{"begin":1000}},
  {"name":"f_map_0","duration":20,"provenance":"a.fut:1:2-9",
   "details":{"begin":1001,"bytes_read":30000,"bytes_written":10000}},
  {"name":"f_sum_1","duration":30,"provenance":"a.fut:3:1-4",
   "details":{"begin":1025,"bytes_read":8000,"bytes_written":8}},
  {"name":"f_map_0","duration":20,"provenance":"a.fut:1:2-9",
   "details":{"begin":1058,"bytes_read":30000,"bytes_written":10000}},
  {"name":"call f","duration":50,"provenance":"","details":{}}],
  "memory":{"space 'device'":77},"lost_events":2})";

TEST(BenchProfile, IsReadByCall) {
  const auto profile = parse_profile(kReport);
  ASSERT_TRUE(profile) << profile.error().text();
  ASSERT_EQ(profile->calls.size(), 2);
  const ProfiledCall& call = profile->calls[0];
  EXPECT_EQ(call.us, 100.5);
  EXPECT_EQ(call.device_us(), 80);
  EXPECT_EQ(call.bytes(0), 88008);
  EXPECT_EQ(profile->memory.at("space 'device'"), 77);
  EXPECT_EQ(profile->lost, 2);
  const auto rows = kernel_rows(call, 0);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].name, "f_map_0");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].us, 40);
  EXPECT_EQ(rows[0].bytes, 80000);
  EXPECT_EQ(rows[0].place, "a.fut:1:2-9");
}

TEST(BenchProfile, LaunchesThatCannotHaveUsedTheirArraysCountNoBytes) {
  const int64_t large = int64_t{1} << 30;
  ProfiledCall call;
  call.kernels = {
      {"sum", "", {}, 300, large}, {"last", "", {}, 3, large}, {"small", "", {}, 1, 99999}};
  EXPECT_EQ(call.bytes(4e6), large + 99999);  // a copy of as much takes 268 us
  EXPECT_EQ(call.bytes(0), 2 * large + 99999);
  for (const KernelRow& row : kernel_rows(call, 4e6)) {
    EXPECT_EQ(row.bytes > 0, row.name != "last") << row.name;
  }
  EXPECT_NE(profile_text(call, 4e6).find("3.0 us    1.0%          -       -       -\n"),
            std::string::npos);
}

TEST(BenchProfile, OfOtherServersIsOneCall) {
  const auto profile = parse_profile(R"({"memory":{"default space":5},"events":[
      {"name":"copy","duration":3,"provenance":"unknown","details":"x"},
      {"name":"segmap","duration":4}]})");
  ASSERT_TRUE(profile) << profile.error().text();
  ASSERT_EQ(profile->calls.size(), 1);
  EXPECT_EQ(profile->calls[0].device_us(), 7);
  EXPECT_FALSE(parse_profile("Peak memory usage"));
}

TEST(BenchProfile, Text) {
  // 80,000 bytes in 40 us are 2 GB/s, of 4 that a copy moves.
  const auto profile = parse_profile(kReport);
  ASSERT_TRUE(profile);
  EXPECT_EQ(
      profile_text(profile->calls[0], 4000),
      "    kernel              count       time   share     arrays    GB/s of copy  place\n"
      "    f_map_0                 2    40.0 us   50.0%   78.1 KiB    2.00   50.0%  a.fut:1:2-9\n"
      "    f_sum_1                 1    30.0 us   37.5%    7.8 KiB    0.27    6.7%  a.fut:3:1-4\n"
      "    between kernels              10.0 us   12.5%\n"
      "    outside the device           20.5 us        \n");
}

TEST(BenchProfile, TellsOfRegistersWhereTheServerDoes) {
  const auto profile = parse_profile(R"({"events":[{"name":"call f","duration":9,"details":{}},
    {"name":"a","duration":3,"details":{"registers":168,"spilled_bytes":48}},
    {"name":"b","duration":2,"details":{"registers":40,"spilled_bytes":0}},
    {"name":"c","duration":1,"details":{}}]})");
  ASSERT_TRUE(profile);
  ProfiledCall call = profile->calls[0];
  EXPECT_EQ(profile_text(call, 0),
            "    kernel              count       time   share     arrays    GB/s of copy registers"
            "  spilled  place\n"
            "    a                       1     3.0 us   50.0%          -       -       -       168"
            "     48 B\n"
            "    b                       1     2.0 us   33.3%          -       -       -        40"
            "      0 B\n"
            "    c                       1     1.0 us   16.7%          -       -       -         -"
            "        -\n"
            "    outside the device            3.0 us        \n");
  call.kernels.erase(call.kernels.begin());
  EXPECT_EQ(profile_text(call, 0).find("spilled"), std::string::npos);
  EXPECT_NE(profile_text(call, 0).find("registers"), std::string::npos);
  const auto json = nlohmann::json::parse(trace_json({{"f", call}}));
  for (const auto& e : json["traceEvents"]) {
    if (e["name"] == "b") {
      EXPECT_EQ(e["args"]["registers"], 40);
    }
    EXPECT_EQ(e["args"].contains("registers"), e["name"] == "b");
  }
}

TEST(BenchProfile, Trace) {
  const auto profile = parse_profile(kReport);
  ASSERT_TRUE(profile);
  const auto json = nlohmann::json::parse(trace_json({{"a.fut f", profile->calls[0]}}));
  std::vector<std::string> kernels;
  for (const auto& e : json["traceEvents"]) {
    if (e["ph"] == "M") continue;
    EXPECT_EQ(e["ph"], "X");
    if (e["tid"] == 3) kernels.push_back(e["name"]);
    if (e["name"] == "f_sum_1") {
      EXPECT_EQ(e["ts"], 25);
      EXPECT_EQ(e["dur"], 30);
      EXPECT_EQ(e["args"]["place"], "a.fut:3:1-4");
      EXPECT_EQ(e["args"]["bytes"], 8008);
    }
    if (e["name"] == "call f") {
      EXPECT_EQ(e["ts"], -10.25);  // as far before as behind
    }
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"f_map_0", "f_sum_1", "f_map_0"}));
}

}  // namespace
}  // namespace kenaz::bench
