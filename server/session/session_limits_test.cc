// What a session counts, and how much of it there may be.
#include <gtest/gtest.h>

#include "server/testdata/echo_engine.h"
#include "server/testdata/streams.h"

namespace kenaz {
namespace {

TEST(SessionLimits, CountsWhatStreamsHold) {
  SessionOptions options;
  options.limits = {0, 100};
  Session session(std::make_shared<EchoEngine>(), options);
  const std::string fifteen =
      binary("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]");  // 60 bytes of values
  const std::string size = std::to_string(fifteen.size());
  const auto refused = [&](const std::string& name) {
    return upload(session, name + " []i32", fifteen, 100).find("the session may have") !=
           std::string::npos;
  };
  EXPECT_EQ(upload(session, "a []i32", fifteen, 100), "");
  auto held = session.begin(*protocol::parse_request("download a"));
  ASSERT_TRUE(held);
  EXPECT_FALSE(session.execute("free a").failure);
  EXPECT_TRUE(refused("b"));  // the download has not been read yet
  held->reset();
  EXPECT_FALSE(refused("b"));
  EXPECT_FALSE(session.execute("clear").failure);
  auto coming = session.begin(*protocol::parse_request("upload " + size + " c []i32"));
  ASSERT_TRUE(coming);
  EXPECT_TRUE(refused("d"));  // its room is reserved
  coming->reset();
  EXPECT_FALSE(refused("d"));
  EXPECT_TRUE(session.execute("rename d " + std::string(1025, 'n')).failure);
}

TEST(SessionLimits, CountsHostMemory) {
  SessionOptions options;
  options.memory = std::make_shared<ClientMemory>(1 << 20);
  options.profile = true;
  {
    Session session(std::make_shared<EchoEngine>(), options);
    EXPECT_EQ(upload(session, "a []i32", binary("[1,2,3]"), 100), "");
    const int64_t with_one = options.memory->used();
    EXPECT_GT(with_one, 0);
    EXPECT_FALSE(session.execute("rename a " + std::string(1000, 'n')).failure);
    EXPECT_GT(options.memory->used(), with_one + 900);
    EXPECT_FALSE(session.execute("clear").failure);
    EXPECT_EQ(options.memory->used(), 0);
    ASSERT_TRUE(options.memory->take(780'000, ClientMemory::Use::kPassing));
    data::Value large{PrimType::kI32, {5000}, std::vector<std::byte>(20'000)};
    std::string bytes;
    data::append_binary(large, bytes);
    EXPECT_EQ(upload(session, "b []i32", bytes, 100), no_client_memory().value().text());
    options.memory->give_back(780'000);
    EXPECT_EQ(options.memory->used(), 0);
  }
  EXPECT_EQ(options.memory->used(), 0);
}

TEST(SessionLimits, EventsHaveAnEnd) {
  SessionOptions options;
  options.profile = true;
  Session session(std::make_shared<EchoEngine>(), options);
  ASSERT_EQ(upload(session, "a []i32", binary("[1]"), 100), "");
  for (int i = 0; i < 100'010; ++i) {
    ASSERT_FALSE(session.execute("call id b a").failure);
    ASSERT_FALSE(session.execute("free b").failure);
  }
  const std::string report = session.execute("report").output.at(0);
  EXPECT_NE(report.find(R"({"details":{},"duration":)"), std::string::npos);
  EXPECT_NE(report.find(R"("lost_events":10,)"), std::string::npos);
  EXPECT_EQ(session.execute("report").output.at(0),
            R"({"events":[],"memory":{"space 'device'":0}})");
}

}  // namespace
}  // namespace kenaz
