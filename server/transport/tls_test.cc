// TLS and tokens, with the client library as the client.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "client/lib/client.h"
#include "client/lib/fake_server.h"
#include "server/testdata/echo_engine.h"
#include "server/transport/socket_server.h"

namespace kenaz {
namespace {

using client::deadline_in;

TEST(Tls, ClientsComeInWithTheTokenAndTheRightAuthority) {
  const auto folder = *client::TempDir::make();
  client::make_certificate("IP:127.0.0.1", folder.file("cert"), folder.file("key"));
  client::make_certificate("IP:127.0.0.1", folder.file("other"), folder.file("other_key"));
  SocketOptions options;
  options.listen = {"tcp://127.0.0.1:0"};
  options.tls_cert = folder.file("cert");
  options.tls_key = folder.file("key");
  options.token = "0123456789abcdef";
  options.session.metrics = std::make_shared<Metrics>();
  DeviceQueues queue;
  auto server = SocketServer::create(
      options, only_device(only_program(std::make_shared<EchoEngine>())), queue);
  ASSERT_TRUE(server) << server.error().text();
  const std::string url = (*server)->addresses().at(0);
  EXPECT_TRUE(url.starts_with("tls://127.0.0.1:"));
  std::thread device([&] { queue.run(); }), io([&] { (*server)->run(); });

  client::ConnectOptions who{options.token, "", folder.file("cert")};
  {
    auto c = client::Client::connect(url, who, deadline_in(20));
    ASSERT_TRUE(c) << c.error().text();
    std::vector<int32_t> xs(1'000'000);
    for (size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<int32_t>(i * i);
    ASSERT_TRUE(c->put<int32_t>("xs", xs, {1'000'000}));
    ASSERT_TRUE(c->call("id", "ys", {"xs"}));
    const auto ys = c->get<int32_t>("ys");
    ASSERT_TRUE(ys) << ys.error().text();
    EXPECT_TRUE(ys->values == xs);
  }
  who.ca_file = folder.file("other");
  EXPECT_FALSE(client::Client::connect(url, who, deadline_in(20)));
  who = {"fedcba9876543210", "", folder.file("cert")};
  EXPECT_FALSE(client::Client::connect(url, who, deadline_in(20)));
  // Plain text, where TLS is spoken.
  EXPECT_FALSE(client::Client::connect("tcp" + url.substr(3), {}, deadline_in(1)));
  (*server)->stop();
  io.join();
  queue.stop();
  device.join();
}

}  // namespace
}  // namespace kenaz
