#include "client/lib/client.h"

#include <gmock/gmock.h>

#include <new>
#include <numeric>

#include "client/lib/fake_server.h"

namespace kenaz::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Elements for which there is no memory.
struct Roomless {
  Roomless() { throw std::bad_alloc(); }
  int32_t value;
};

}  // namespace

template <>
struct ElementType<Roomless> {
  static constexpr PrimType value = PrimType::kI32;
};

namespace {

Result<Client> reach(const FakeServer& server, ConnectOptions options = {}) {
  if (server.url().starts_with("tls")) options.ca_file = server.ca_file();
  return Client::connect(server.url(), options, deadline_in(20));
}

class EveryTransport : public ::testing::TestWithParam<FakeServer::Kind> {};

INSTANTIATE_TEST_SUITE_P(Client, EveryTransport,
                         ::testing::Values(FakeServer::Kind::kTcp, FakeServer::Kind::kTls,
                                           FakeServer::Kind::kUnix));

TEST_P(EveryTransport, ValuesComeBackAsTheyWere) {
  FakeServer server({.kind = GetParam()});
  auto client = reach(server);
  ASSERT_TRUE(client) << client.error().text();
  const std::vector<float> xs = {1, 2.5f, -3, 4, 5, 6};
  ASSERT_TRUE(client->put<float>("xs", xs, {2, 3}));
  ASSERT_TRUE(client->put("n", int64_t{-7}));
  ASSERT_TRUE(client->put("yes", true));
  ASSERT_TRUE(client->put("h", Half::of(1.5f)));
  const auto got = client->get<float>("xs");
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_THAT(got->shape, ElementsAre(2, 3));
  EXPECT_EQ(got->values, xs);
  EXPECT_EQ(client->get_scalar<int64_t>("n").value(), -7);
  EXPECT_TRUE(client->get_scalar<bool>("yes").value());
  EXPECT_EQ(client->get_scalar<Half>("h").value().to_float(), 1.5f);
  const auto call = client->call("copy", "ys", {"xs"});
  ASSERT_TRUE(call) << call.error().text();
  EXPECT_EQ(call->count(), 42);
  EXPECT_EQ(client->get_values("ys").value().at(0).type_name(), "[][]f32");
  EXPECT_TRUE(client->finish());
}

TEST_P(EveryTransport, LargeValuesPipelined) {
  FakeServer server({.kind = GetParam()});
  auto client = reach(server);
  ASSERT_TRUE(client) << client.error().text();
  // More than all buffers hold, so that both sides write at the same time.
  std::vector<uint32_t> xs(size_t{3} << 20);
  std::iota(xs.begin(), xs.end(), 1u);
  const auto n = static_cast<int64_t>(xs.size());
  std::vector<Client::Future<void>> puts;
  std::vector<Client::Future<Array<uint32_t>>> gets;
  for (int i = 0; i < 4; ++i) {
    const auto name = fmt::format("x{}", i);
    xs[0] = static_cast<uint32_t>(i);
    puts.push_back(client->put_async<uint32_t>(name, xs, {n}));
    gets.push_back(client->get_async<uint32_t>(name));
  }
  for (int i = 3; i >= 0; --i) {
    const auto got = gets[static_cast<size_t>(i)].get();
    ASSERT_TRUE(got) << got.error().text();
    xs[0] = static_cast<uint32_t>(i);
    EXPECT_EQ(got->values, xs);
    EXPECT_TRUE(puts[static_cast<size_t>(i)].get());
  }
}

TEST_P(EveryTransport, TheServerGoes) {
  FakeServer server({.kind = GetParam()});
  auto client = reach(server);
  ASSERT_TRUE(client) << client.error().text();
  const auto gone = client->request({"quit"});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().message, "the server closed the connection");
  EXPECT_TRUE(client->broken());
  EXPECT_FALSE(client->put("x", 1.0));
}

TEST_P(EveryTransport, NoCommandWaitsForAServerThatHasGone) {
  FakeServer server({.kind = GetParam()});
  ConnectOptions options;
  options.ca_file = GetParam() == FakeServer::Kind::kTls ? server.ca_file() : "";
  const auto left = Connection::connect(server.url(), options, deadline_in(20));
  ASSERT_TRUE(left) << left.error().text();
  ASSERT_TRUE((*left)->send({"quit"}));
  ASSERT_TRUE(reach(server));  // which is served once the first connection has been closed
  for (int k = 0; k < 5; ++k) EXPECT_TRUE((*left)->send({"device"}));
  EXPECT_EQ((*left)->receive().error().message, "the server closed the connection");
}

TEST_P(EveryTransport, DeadlinesHold) {
  FakeServer server({.kind = GetParam(), .silent = true});
  ConnectOptions options;
  options.ca_file = GetParam() == FakeServer::Kind::kTls ? server.ca_file() : "";
  const auto begin = Clock::now();
  const auto client = Client::connect(server.url(), options, deadline_in(0.3));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "the server did not answer in time");
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(5));
}

TEST(Client, RefusalsAreTheServersWords) {
  FakeServer server({});
  auto client = reach(server);
  ASSERT_TRUE(client);
  const auto none = client->get<float>("none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kProgramFailure);
  EXPECT_EQ(none.error().message, "Unknown variable: none");
  ASSERT_TRUE(client->put("x", 1));
  EXPECT_EQ(client->put("x", 2).error().message, "Variable already exists: x");
  const auto wrong = client->get<double>("x");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("x is of type i32"));
  EXPECT_THAT(client->put("a b\nc", 1).error().message, HasSubstr("cannot be written"));
  EXPECT_THAT(client->put<int>("y", std::vector<int>{1, 2}, {3}).error().message,
              HasSubstr("2 elements do not make an array of shape [3]"));
  EXPECT_EQ(client->get_scalar<int32_t>("x").value(), 1);  // all is well still
}

TEST(Client, LoadsProgramsAndSaysWhatTheCompilerSays) {
  FakeServer server({});
  auto client = reach(server);
  const std::vector<SourceFile> files{{"a.fut", "import \"b\""}, {"b.fut", "def b = 1"}};
  EXPECT_TRUE(client->load("good", files));
  EXPECT_TRUE(client->choose_program("good"));
  const Status bad = client->load("bad", files);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::kCompile);
  EXPECT_EQ(bad.error().message,
            "Error at file \"a.fut\" 10\nimport \"b\"file \"b.fut\" 9\ndef b = 1");
  EXPECT_THAT(client->choose_program("bad").error().message, HasSubstr("Unknown program"));
  EXPECT_TRUE(client->unload("good"));
  EXPECT_EQ(client->unload("good").error().kind, ErrorKind::kProgramFailure);
  EXPECT_FALSE(client->load("none", "/nonexistent/a.fut"));
  EXPECT_EQ(client->device().value(), "#0");
  EXPECT_TRUE(client->choose_device("#1"));
  EXPECT_EQ(client->device().value(), "#1");
}

TEST(Client, AFailureAfterTheBytes) {
  FakeServer server({.bad_download = "The device is lost"});
  auto client = reach(server);
  ASSERT_TRUE(client->put("x", 1));
  EXPECT_EQ(client->get<int32_t>("x").error().message, "The device is lost");
  EXPECT_EQ(client->get_values("x").error().message, "The device is lost");
  EXPECT_FALSE(client->broken());
}

TEST(Client, NoMemoryForAValue) {
  FakeServer server({});
  auto client = reach(server);
  ASSERT_TRUE(client->put("x", 1));
  auto x = client->get_async<Roomless>("x");
  auto y = client->get_async<int32_t>("x");
  // What is left of x must not be taken for y, whichever is asked for first.
  const auto late = y.get();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "the server is given up: no memory for the server's reply");
  EXPECT_EQ(x.get().error().kind, ErrorKind::kOutOfMemory);
  EXPECT_TRUE(client->broken());
  EXPECT_FALSE(client->put("z", 1));
  EXPECT_FALSE(client->finish());
}

TEST(Client, TokensAndSessions) {
  FakeServer server({.token = "secret"});
  EXPECT_THAT(reach(server, {.token = "guess"}).error().message, HasSubstr("Wrong token"));
  {
    auto client = reach(server, {.token = "secret", .session_name = "mine"});
    ASSERT_TRUE(client) << client.error().text();
    ASSERT_TRUE(client->put("x", 5));
    ASSERT_TRUE(client->finish());
  }
  auto again = reach(server, {.token = "secret", .session_name = "mine"});
  EXPECT_EQ(again->get_scalar<int32_t>("x").value(), 5);
  ASSERT_TRUE(again->finish());
  auto other = reach(server, {.token = "secret"});
  EXPECT_FALSE(other->get<int32_t>("x"));
}

TEST(Client, ARefusedConnection) {
  FakeServer server({.refusal = "Too many connections"});
  const auto client = reach(server);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message, "the server refuses: Too many connections");
}

TEST(Client, NobodyListens) {
  const auto client = Client::connect("unix:///nonexistent/socket", {}, deadline_in(5));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().message,
            "cannot connect to /nonexistent/socket: No such file or directory");
  for (const char* url : {"http://x:1", "tcp://x", "tcp://:1", "unix://", "x", "tcp://::1:5",
                          "tcp://x:65537", "tcp://x:99999999999999999999", "tcp://x:http"}) {
    EXPECT_THAT(Client::connect(url, {}, deadline_in(5)).error().message, HasSubstr(url));
  }
}

TEST(Client, CertificatesMustBeKnownAndTheServersOwn) {
  using Kind = FakeServer::Kind;
  FakeServer server({.kind = Kind::kTls});
  const auto unknown = Client::connect(server.url(), {}, deadline_in(20));
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("is not accepted: self"));
  FakeServer other({.kind = Kind::kTls, .certificate = "DNS:elsewhere.example"});
  const auto wrong = reach(other);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("is not accepted: IP address mismatch"));
  const auto by_name = Client::connect(fmt::format("tls://localhost:{}", server.port()),
                                       {.ca_file = server.ca_file()}, deadline_in(20));
  ASSERT_FALSE(by_name);
  EXPECT_THAT(by_name.error().message, HasSubstr("hostname mismatch"));
  const auto none = Client::connect(server.url(), {.ca_file = "/nonexistent"}, deadline_in(20));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("/nonexistent"));
}

TEST(Client, AServerExecutableThatKnowsFilesOnly) {
  const auto dir = TempDir::make();
  ServerOptions options;
  options.server = dir->file("server");
  // Variables are files; it ends at a command that it does not know, as Futhark's servers do.
  ASSERT_TRUE(write_file(options.server, fmt::format(R"(#!/bin/sh
    cd {}; echo "%%% OK"
    while read command file name type; do
      case $command in
      restore) cp $file $name;;
      store) cp $name $file 2>/dev/null || {{ echo "%%% FAILURE"; echo "Unknown variable: $name"; }};;
      *) exit 1;;
      esac
      echo "%%% OK"
    done)",
                                                     dir->path())));
  ASSERT_EQ(std::system(("chmod +x " + options.server).c_str()), 0);
  auto client = Client::start(options, deadline_in(20));
  ASSERT_TRUE(client) << client.error().text();
  const std::vector<int16_t> xs = {1, -2, 3};
  auto put = client->put_async<int16_t>("xs", xs, {3});
  EXPECT_EQ(client->get<int16_t>("xs").value().values, xs);
  EXPECT_TRUE(put.get());
  EXPECT_EQ(client->get<int32_t>("none").error().message, "Unknown variable: none");
  EXPECT_FALSE(client->get<int32_t>("xs"));
  ASSERT_TRUE(client->put("x", 1));
  EXPECT_EQ(client->get<Roomless>("x").error().kind, ErrorKind::kOutOfMemory);
  EXPECT_TRUE(client->finish());
}

TEST(Client, FuturesOutliveIt) {
  FakeServer server({});
  Client::Future<void> put;
  {
    auto client = reach(server);
    put = client->put_async("x", 1);
  }
  EXPECT_TRUE(put.get());
}

}  // namespace
}  // namespace kenaz::client
