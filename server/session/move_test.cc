// Sessions that go from one device to another.
#include "server/session/move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/data/binary_format.h"
#include "protocol/data/values.h"
#include "server/session/session.h"
#include "server/testdata/echo_engine.h"
#include "server/testdata/pieces.h"
#include "server/testdata/streams.h"

namespace kenaz {
namespace {

using testing::HasSubstr;

/// Takes so many values, and no more.
class SmallEngine : public EchoEngine {
 public:
  Result<host::LeafPtr> put(const data::Value& value) override {
    if (room-- == 0) return fail(ErrorKind::kOutOfMemory, "no room");
    return EchoEngine::put(value);
  }
  int room = -1;  // negative: for any number
};

class MoveTest : public ::testing::Test {
 protected:
  MoveTest() {
    std::vector<PooledDevice> devices;
    for (const auto& engine : engines_) {
      devices.push_back({only_program(engine)});
    }
    pool_ = std::make_shared<DevicePool>(std::move(devices));
    session_.emplace(pool_, SessionOptions{});
    std::string bytes;
    data::append_binary(data::Value::scalar(PrimValue::i32(7)), bytes);
    data::append_binary(data::Value::scalar(PrimValue::of_bool(true)), bytes);
    upload("x i32 b bool", bytes);
  }

  void upload(const std::string& targets, std::string_view bytes) {
    auto stream = begin("upload " + std::to_string(bytes.size()) + " " + targets);
    feed(*stream, bytes);
    EXPECT_FALSE(session_->end(*stream).failure);
  }
  std::unique_ptr<Stream> begin(const std::string& line) {
    auto stream = session_->begin(*protocol::parse_request(line));
    EXPECT_TRUE(stream) << stream.error().text();
    return stream ? std::move(*stream) : nullptr;
  }
  /// As one string, "|" for line ends, "!" before a failure.
  std::string run(const std::string& line) {
    const auto reply = session_->execute(line);
    std::string s;
    for (const auto& l : reply.output) s += l + "|";
    if (reply.failure) s += "!" + *reply.failure;
    return s;
  }
  int64_t sessions(size_t device) const { return pool_->figures()[device].sessions; }

  const std::vector<std::shared_ptr<SmallEngine>> engines_{std::make_shared<SmallEngine>(),
                                                           std::make_shared<SmallEngine>()};
  std::shared_ptr<DevicePool> pool_;
  std::optional<Session> session_;
};

TEST_F(MoveTest, ValuesGoWithTheSession) {
  EXPECT_EQ(run("new p \"(i32, bool)\" x b"), "");
  EXPECT_EQ(run("device"), "#0|");
  EXPECT_EQ(engines_[0]->living, 2);  // the record shares both
  EXPECT_EQ(run("device #1"), "");
  EXPECT_EQ(run("device"), "#1|");
  EXPECT_EQ(engines_[0]->living, 0);
  EXPECT_EQ(engines_[1]->living, 2);
  EXPECT_EQ(sessions(0), 0);
  EXPECT_EQ(sessions(1), 1);
  EXPECT_EQ(run("vars"), "b bool 1|p \"(i32, bool)\" 5|x i32 4|");
  EXPECT_THAT(run("call same q p"), HasSubstr("runtime"));
  EXPECT_EQ(engines_[0]->calls, 0);
  EXPECT_EQ(engines_[1]->calls, 1);
  EXPECT_EQ(run("device #0"), "");
  EXPECT_EQ(engines_[1]->living, 0);
  EXPECT_EQ(session_->variables().bytes(), 5);
  auto download = begin("download x");
  std::string bytes;
  while (download->want() != Stream::Want::kDone) {
    if (download->want() == Stream::Want::kWork) {
      download->work();
      continue;
    }
    const auto out = download->output();
    bytes.append(reinterpret_cast<const char*>(out.data()), out.size());
    download->advance(out.size());
  }
  EXPECT_TRUE(bytes.ends_with(std::string_view("\7\0\0\0", 4))) << bytes;
}

TEST_F(MoveTest, LargeValuesAndEmptyOnesGoToo) {
  std::vector<int32_t> many(3'000'000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int32_t>(i * 7);
  const auto bytes = std::as_bytes(std::span(many));
  std::string text;
  data::append_binary({PrimType::kI32, {3'000'000}, {bytes.begin(), bytes.end()}}, text);
  data::append_binary({PrimType::kI32, {0}, {}}, text);
  upload("many []i32 none []i32", text);
  EXPECT_EQ(run("device #1"), "");
  EXPECT_EQ(run("shape many"), "3000000|");
  EXPECT_EQ(run("shape none"), "0|");
  const auto many_there = session_->variables().find("many");
  ASSERT_TRUE(many_there);
  const auto value = engines_[1]->get(*(*many_there)->leaves[0]);
  EXPECT_TRUE(host::same_bytes(value->bytes, bytes));
}

TEST_F(MoveTest, AMoveThatFailsChangesNothing) {
  engines_[1]->room = 1;
  EXPECT_EQ(run("device #1"), "!no room");
  EXPECT_EQ(run("device"), "#0|");
  EXPECT_EQ(engines_[0]->living, 2);
  EXPECT_EQ(engines_[1]->living, 0);
  EXPECT_EQ(sessions(1), 0);
  EXPECT_THAT(run("device #2"), HasSubstr("!Unknown device: #2"));
  EXPECT_THAT(run("device one"), HasSubstr("!Unknown device: one"));
  EXPECT_EQ(run("vars"), "b bool 1|x i32 4|");
}

TEST_F(MoveTest, ValuesOnTheirWayToTheSessionComeFirst) {
  std::string one;
  data::append_binary(data::Value::scalar(PrimValue::i32(1)), one);
  auto upload = begin("upload " + std::to_string(one.size()) + " late i32");
  EXPECT_THAT(run("device #1"), HasSubstr("on their way"));
  feed(*upload, one);
  EXPECT_FALSE(session_->end(*upload).failure);
  EXPECT_THAT(run("device #1"), HasSubstr("on their way"));  // it has not gone
  upload.reset();
  EXPECT_EQ(run("device #1"), "");
  EXPECT_EQ(engines_[1]->living, 3);
}

TEST_F(MoveTest, EachStepIsOnOneDevice) {
  auto move = begin("device #1");
  EXPECT_TRUE(move->needs_session());
  std::vector<size_t> devices;
  while (move->want() == Stream::Want::kWork) {
    devices.push_back(move->device());
    move->work();
  }
  EXPECT_THAT(devices, testing::ElementsAre(0, 1, 0, 1));
  move->cancel();  // too late
  EXPECT_FALSE(session_->end(*move).failure);
  EXPECT_EQ(run("device"), "#1|");
  move = begin("device #0");
  move->cancel();
  move->work();
  EXPECT_EQ(move->want(), Stream::Want::kDone);
  EXPECT_TRUE(session_->end(*move).failure);
  EXPECT_EQ(run("device"), "#1|");
}

TEST_F(MoveTest, ADownloadThatHasBegunEndsWhereItBegan) {
  auto download = begin("download x");
  EXPECT_EQ(run("device #1"), "");
  EXPECT_EQ(download->device(), 0u);
  EXPECT_EQ(engines_[0]->living, 1);  // what it has of the old value
  download.reset();
  EXPECT_EQ(engines_[0]->living, 0);
}

}  // namespace
}  // namespace kenaz
