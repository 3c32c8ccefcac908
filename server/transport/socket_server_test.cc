#include "server/transport/socket_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "protocol/data/binary_format.h"
#include "server/testdata/echo_engine.h"
#include "server/transport/listen.h"

namespace kenaz {
namespace {

using std::chrono::milliseconds;

sockaddr_un unix_address(std::string_view path) {
  sockaddr_un address{AF_UNIX, {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// A client that blocks, but not for ever.
class Client {
 public:
  explicit Client(const std::string& url) {
    if (url.starts_with("unix://")) {
      const sockaddr_un address = unix_address(std::string_view(url).substr(7));
      connect_to(AF_UNIX, &address, sizeof address);
    } else {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
      connect_to(AF_INET, &address, sizeof address);
    }
  }
  ~Client() { end(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void end() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  void end_output() { shutdown(fd_, SHUT_WR); }
  void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  bool more() {
    char chunk[65536];
    const ssize_t n = recv(fd_, chunk, sizeof chunk, 0);
    if (n > 0) received_.append(chunk, static_cast<size_t>(n));
    return n > 0;
  }
  /// "" when the connection has ended (or nothing came for a long time).
  std::string line() {
    size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      if (!more()) return "";
    }
    std::string line = received_.substr(0, end + 1);
    received_.erase(0, end + 1);
    return line;
  }
  /// The lines of a reply, "|" for their ends, without run times; "END" if there is none.
  std::string reply() {
    std::string all;
    while (true) {
      const std::string l = line();
      if (l.empty()) return all + "END";
      if (l == "%%% OK\n") return all;
      all += (l.starts_with("runtime: ") ? "runtime" : l.substr(0, l.size() - 1)) + "|";
    }
  }
  std::string ask(const std::string& command) {
    send(command + "\n");
    return reply();
  }
  std::string bytes(size_t n) {
    while (received_.size() < n) {
      if (!more()) return "END";
    }
    std::string all = received_.substr(0, n);
    received_.erase(0, n);
    return all;
  }

 private:
  void connect_to(int family, const void* address, socklen_t size) {
    fd_ = socket(family, SOCK_STREAM, 0);
    const timeval patience{20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(connect(fd_, static_cast<const sockaddr*>(address), size), 0);
  }
  int fd_ = -1;
  std::string received_;
};

std::string ints(int64_t n) {
  data::Value value{PrimType::kI32, {n}, {}};
  value.bytes.resize(static_cast<size_t>(4 * n));
  for (size_t i = 0; i < value.bytes.size(); ++i) value.bytes[i] = static_cast<std::byte>(i * 7);
  std::string out;
  data::append_binary(value, out);
  return out;
}

/// In this order, which + does not promise.
std::string in_turn(std::initializer_list<std::string> replies) {
  std::string all;
  for (const auto& r : replies) all += r;
  return all;
}

std::string one(int32_t n) {
  std::string out;
  data::append_binary(data::Value::scalar(PrimValue::of_int(PrimType::kI32, n)), out);
  return out;
}

std::string upload(const std::string& name, const std::string& type, const std::string& data) {
  return fmt::format("upload {} {} {}\n{}", data.size(), name, type, data);
}

class SocketServerTest : public ::testing::Test {
 protected:
  SocketServerTest() {
    path_ = fmt::format("{}kenaz_socket_{}", ::testing::TempDir(), getpid());
    options_.listen = {"unix://" + path_, "tcp://127.0.0.1:0"};
    options_.session.metrics = metrics_;
    options_.session.files = FileAccess::none();
    options_.limits.drain_seconds = 10;
  }
  ~SocketServerTest() override { stop(); }

  void start() {
    auto server = SocketServer::create(options_, only_device(only_program(engine_)), queue_);
    ASSERT_TRUE(server) << server.error().text();
    server_ = std::move(*server);
    device_ = std::thread([&] { queue_.run(); });
    io_ = std::thread([&] {
      server_->run();
      ended_ = true;
    });
    unix_ = server_->addresses().at(0);
    tcp_ = server_->addresses().at(1);
  }
  void stop() {
    if (!server_) return;
    server_->stop();
    io_.join();
    queue_.stop();
    device_.join();
    server_.reset();
  }
  /// Waits for something that other threads bring about.
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }
  std::string refusal() {
    const auto server = SocketServer::create(options_, only_device(only_program(engine_)), queue_);
    return server ? "" : server.error().text();
  }

  std::string path_, unix_, tcp_;
  SocketOptions options_;
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  std::shared_ptr<EchoEngine> engine_ = std::make_shared<EchoEngine>();
  DeviceQueues queue_;
  std::unique_ptr<SocketServer> server_;
  std::thread device_, io_;
  std::atomic<bool> ended_{false};
};

TEST_F(SocketServerTest, AnswersPipelinedCommandsInOrder) {
  start();
  for (const auto& url : {unix_, tcp_}) {
    Client client(url);
    EXPECT_EQ(client.reply(), "");
    std::string all;
    for (int i = 0; i < 200; ++i) {
      all += upload(fmt::format("v{}", i), "i32", one(i)) + "inputs id\n" +
             fmt::format("call sleep w{0} v{0}\ntype w{0}\nnosuch\ndownload w{0}\n", i % 2);
      all += fmt::format("free w{}\n", i % 2);
    }
    std::thread sender([&] { client.send(all); });
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(client.reply(), "");
      EXPECT_EQ(client.reply(), "[]i32|");
      EXPECT_EQ(client.reply(), "runtime|");
      EXPECT_EQ(client.reply(), "i32|");
      EXPECT_TRUE(client.reply().starts_with("%%% FAILURE|Unknown command: nosuch|"));
      EXPECT_EQ(client.line(), "11\n");
      EXPECT_EQ(client.bytes(11), one(i % 2));
      EXPECT_EQ(client.reply(), "");
      EXPECT_EQ(client.reply(), "");
    }
    sender.join();
  }
}

// Another thread would have to be woken first, and this one by it.
TEST_F(SocketServerTest, ShortCallsRunOnTheThreadThatReadsThem) {
  options_.limits.drain_seconds = 0;
  start();
  Client client(unix_);
  client.reply();
  EXPECT_EQ(client.ask(upload("ms", "i32", one(0)) + "call sleep out ms"), "");
  EXPECT_EQ(client.reply(), "runtime|");
  const auto is_short = [&] {
    EXPECT_EQ(in_turn({client.ask("free out"), client.ask("call sleep out ms")}), "runtime|");
    return engine_->caller.load() == io_.get_id();
  };
  EXPECT_TRUE(eventually(is_short));
  // One that lasts keeps nobody from being answered, nor from ending the server.
  EXPECT_EQ(client.ask(upload("long", "i32", one(1'000'000))), "");
  const int before = engine_->calls;
  client.send("call sleep late long\n");
  EXPECT_TRUE(eventually([&] { return engine_->calls > before; }));
  Client other(tcp_);
  EXPECT_EQ(in_turn({other.reply(), other.ask("inputs id")}), "[]i32|");
}

TEST_F(SocketServerTest, CallsAreCancelledByTheirSessionsToken) {
  start();
  Client first(unix_), second(tcp_), other(unix_);
  const auto token = [](const std::string& sessions, const std::string& entry) {
    const size_t end = sessions.find(" " + entry + " ");
    if (end == std::string::npos) return std::string();
    const size_t line = sessions.rfind('|', end) + 1;
    return sessions.substr(sessions.find(' ', line) + 1, 32);
  };
  other.reply();
  for (Client* c : {&first, &second}) {
    c->reply();
    EXPECT_EQ(c->ask(upload("ms", "i32", one(1'000'000))), "");
    EXPECT_EQ(c->reply(), "%%% FAILURE|Empty line|");  // after the data
  }
  first.send("call sleep out ms\n");
  EXPECT_TRUE(eventually([&] { return engine_->calls == 1; }));
  second.send("call sleep late ms\n");  // waits
  std::string second_token, first_token;
  EXPECT_TRUE(eventually([&] {
    const std::string sessions = other.ask("sessions");
    first_token = token(sessions, "sleep");
    second_token = token(sessions.substr(sessions.find('|') + 1), "sleep");
    return !first_token.empty() && !second_token.empty();
  }));
  for (const auto& t : {second_token, first_token}) EXPECT_EQ(other.ask("cancel " + t), "");
  EXPECT_EQ(first.reply(), "runtime|%%% FAILURE|cancelled|");
  EXPECT_TRUE(second.reply().starts_with("%%% FAILURE|Error: the call was cancelled.|"));
  EXPECT_EQ(engine_->calls, 1);
  EXPECT_TRUE(other.ask("cancel " + first_token).ends_with("The session runs no call.|"));
  EXPECT_TRUE(other.ask("cancel 1").ends_with("No session has this token.|"));
}

// Tokens and names are keys: only the server's own user, who may do anything, sees those of others.
TEST_F(SocketServerTest, SessionsOfOthersAreForOperatorsOnly) {
  start();
  Client remote(tcp_), local(unix_);
  EXPECT_EQ(in_turn({remote.reply(), local.reply(), local.ask("attach \"a b\"")}), "");
  const std::string own = remote.ask("sessions"), all = local.ask("sessions");
  EXPECT_EQ(std::count(own.begin(), own.end(), '|'), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), '|'), 2);
  EXPECT_EQ(own.find("a b"), std::string::npos);
  EXPECT_NE(all.find(" \"a b\" \"connection "), std::string::npos) << all;
}

TEST_F(SocketServerTest, CarriesLargeValues) {
  start();
  const std::string data = ints(3'000'000);
  for (const auto& url : {unix_, tcp_}) {
    Client client(url);
    client.reply();
    client.send(upload("xs", "[]i32", data) + "call id ys xs\nfree xs\ndownload ys\n");
    EXPECT_EQ(in_turn({client.reply(), client.reply(), client.reply()}), "runtime|");
    EXPECT_EQ(client.line(), fmt::format("{}\n", data.size()));
    EXPECT_TRUE(client.bytes(data.size()) == data);
    EXPECT_EQ(client.reply(), "");
  }
  EXPECT_TRUE(eventually([&] { return engine_->living == 0; }));
}

TEST_F(SocketServerTest, FreesWhatAVanishedClientHeld) {
  start();
  const std::string data = ints(1'000'000);
  for (const size_t part : {size_t{3}, data.size() / 2, data.size()}) {
    Client client(tcp_);
    client.reply();
    client.send(upload("a", "i32", one(1)) + fmt::format("upload {} xs []i32\n", data.size()));
    client.send(data.substr(0, part));
    EXPECT_EQ(client.reply(), "");
    client.end();
    EXPECT_TRUE(eventually([&] { return engine_->living == 0; }));
  }
  Client reader(unix_);  // asks for much and reads nothing
  reader.reply();
  reader.send(upload("xs", "[]i32", data) + "download xs xs xs xs\n");
  reader.reply();
  reader.line();
  reader.end();
  EXPECT_TRUE(eventually([&] { return engine_->living == 0; }));
  Client next(unix_);
  EXPECT_EQ(in_turn({next.reply(), next.ask("inputs id")}), "[]i32|");
}

TEST_F(SocketServerTest, ALongCallOrASlowClientDelaysNobodysBookkeeping) {
  start();
  Client slow(unix_), other(tcp_);
  slow.reply();
  slow.send(upload("ms", "i32", one(1'000'000)) + "call sleep out ms\n");
  slow.reply();
  Client stuck(unix_);
  stuck.send("upload 1000000 v []i32\nb");
  other.reply();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.ask("inputs id"), "[]i32|");
  EXPECT_TRUE(eventually([&] { return engine_->calls > 0; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.ask("inputs id"), "[]i32|");
  engine_->cancel();
  EXPECT_EQ(slow.reply(), "runtime|%%% FAILURE|cancelled|");
}

TEST_F(SocketServerTest, NamedSessionsAreSharedAndOutliveConnections) {
  options_.limits.session_seconds = 1;
  start();
  {
    Client a(unix_), b(tcp_);
    a.reply();
    b.reply();
    EXPECT_EQ(a.ask("attach room"), "");
    EXPECT_EQ(b.ask("attach room"), "");
    a.send(upload("x", "i32", one(7)));
    EXPECT_EQ(in_turn({a.reply(), b.ask("type x")}), "i32|");
    EXPECT_EQ(in_turn({b.ask("attach elsewhere"), b.ask("type x")}),
              "%%% FAILURE|Unknown variable: x|");
    // Both at once: one command at a time, none lost.
    b.ask("attach room");
    std::string many;
    for (int i = 0; i < 100; ++i) many += "call sleep y x\nfree y\n";
    a.send(many);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(b.ask("type x"), "i32|");
    for (int i = 0; i < 100; ++i) EXPECT_EQ(in_turn({a.reply(), a.reply()}), "runtime|");
  }
  Client again(unix_);
  again.reply();
  EXPECT_EQ(in_turn({again.ask("attach room"), again.ask("type x")}), "i32|");
  again.end();
  EXPECT_TRUE(eventually([&] { return engine_->living == 0; }));  // it expired
}

TEST_F(SocketServerTest, AsksForItsToken) {
  options_.token = "0123456789abcdef";
  options_.wrong_token_delay = milliseconds(10);
  start();
  Client client(tcp_);
  client.reply();
  EXPECT_EQ(client.ask("types"), "%%% FAILURE|This server asks for a token first: auth TOKEN|");
  EXPECT_EQ(client.ask("auth 0123456789abcdeX"), "%%% FAILURE|Wrong token|");
  EXPECT_EQ(in_turn({client.ask("auth 0123456789abcdef"), client.ask("inputs id")}), "[]i32|");
  EXPECT_EQ(client.ask("auth nonsense"), "%%% FAILURE|Wrong token|");
  EXPECT_EQ(client.ask("inputs id"), "[]i32|");
  Client guesser(unix_);
  guesser.reply();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(guesser.ask("auth guess"), "%%% FAILURE|Wrong token|");
  EXPECT_EQ(guesser.reply(), "END");
  Client talker(unix_);
  talker.reply();
  EXPECT_EQ(talker.ask(std::string(100'000, 'x')).substr(0, 26), "%%% FAILURE|Line too long:");
}

TEST_F(SocketServerTest, KeepsItsLimits) {
  options_.limits.connections = 2;
  options_.limits.line_bytes = 100;
  options_.limits.idle_seconds = 1;
  options_.session.max_upload = 1000;
  start();
  Client a(unix_), b(tcp_);
  a.reply();
  b.reply();
  Client c(unix_);
  EXPECT_EQ(c.reply(), "%%% FAILURE|The server has 2 connections; more are not allowed.|");
  EXPECT_EQ(c.reply(), "END");
  EXPECT_EQ(a.ask(std::string(101, 'x')), "%%% FAILURE|Line too long: more than 100 bytes.|");
  EXPECT_EQ(a.ask(std::string(500'000, 'x')), "%%% FAILURE|Line too long: more than 100 bytes.|");
  EXPECT_EQ(a.ask("inputs id"), "[]i32|");
  EXPECT_EQ(a.ask("restore /etc/passwd x i32").substr(0, 50),
            "%%% FAILURE|Failed to open /etc/passwd: This serve");
  // Nobody knows where the next command starts, so there is none.
  EXPECT_EQ(a.ask("upload 1001 x i32"), "%%% FAILURE|An upload of 1001 bytes; 1000 are allowed.|");
  EXPECT_EQ(a.reply(), "END");
  EXPECT_EQ(b.reply(), "%%% FAILURE|Nothing came for more than 1 seconds (--idle-timeout).|");
  EXPECT_EQ(b.reply(), "END");
}

TEST_F(SocketServerTest, FinishesWhatIsBegunBeforeItEnds) {
  start();
  Client client(unix_), idle(tcp_), half(tcp_);
  client.reply();
  idle.reply();
  client.send(upload("ms", "i32", one(300)) + "call sleep out ms\n");
  client.reply();
  half.reply();
  half.send(upload("x", "i32", one(1)) + "inputs id\ntype x\nfree x");  // half a command is none
  half.end_output();
  EXPECT_EQ(in_turn({half.reply(), half.reply(), half.reply()}), "[]i32|i32|");
  EXPECT_TRUE(eventually([&] { return engine_->calls > 0; }));
  server_->stop();
  EXPECT_EQ(client.reply(), "runtime|");
  EXPECT_EQ(in_turn({client.reply(), idle.reply()}), "ENDEND");
  EXPECT_TRUE(eventually([&] { return ended_.load(); }));
  stop();
  struct stat info {};
  EXPECT_NE(stat(path_.c_str(), &info), 0);
}

TEST_F(SocketServerTest, TheResultOfTheLastCallCanBeFetched) {
  start();
  Client client(unix_);
  client.reply();
  client.send(upload("ms", "i32", one(300)) + "call sleep out ms\n");
  EXPECT_EQ(client.reply(), "");
  EXPECT_TRUE(eventually([&] { return engine_->calls > 0; }));
  server_->stop();
  EXPECT_EQ(client.reply(), "runtime|");
  client.send("download out\ncall sleep more ms\n");
  EXPECT_EQ(client.line(), "11\n");
  EXPECT_EQ(client.bytes(11), one(300));
  EXPECT_EQ(in_turn({client.reply(), client.reply()}),
            "%%% FAILURE|The server ends; no more calls are begun.|");
  EXPECT_EQ(client.reply(), "END");
  EXPECT_TRUE(eventually([&] { return ended_.load(); }));
}

TEST_F(SocketServerTest, GivesBackAllHostMemory) {
  options_.session.memory = std::make_shared<ClientMemory>(int64_t{8} << 20);
  options_.session.profile = true;
  start();
  {
    Client named(unix_), other(tcp_), half(tcp_);
    named.reply();
    other.reply();
    EXPECT_EQ(named.ask("attach room"), "");
    named.send(upload("xs", "[]i32", ints(200'000)) + "call id ys xs\nhelp\n");
    half.send("type " + std::string(900'000, 'x'));
    for (int i = 0; i < 3; ++i) named.reply();
    EXPECT_EQ(other.ask(std::string("free ") + std::string(1'000'000, 'y')).substr(0, 30),
              "%%% FAILURE|Unknown variable: ");
    EXPECT_TRUE(other.ask("report").starts_with("{\"events\":[]"));
    EXPECT_GT(options_.session.memory->used(), 900'000);
    named.ask("clear");
  }
  EXPECT_TRUE(eventually([&] { return options_.session.memory->used() == 0; }));
}

TEST_F(SocketServerTest, AnswersThoseWhoReadLate) {
  start();
  std::string all;
  constexpr int kMany = 3000;  // replies of some megabytes
  for (int i = 0; i < kMany; ++i) all += "help\n";
  for (const bool half_closed : {false, true}) {
    for (const auto& url : {unix_, tcp_}) {
      Client client(url);
      client.send(all);
      if (half_closed) client.end_output();
      std::this_thread::sleep_for(milliseconds(300));
      for (int i = 0; i <= kMany; ++i) {
        const std::string reply = client.reply();
        ASSERT_FALSE(reply.ends_with("END")) << url << " " << i;
      }
    }
  }
}

TEST_F(SocketServerTest, CallsOfClientsThatHaveGoneDoNotKeepItFromEnding) {
  start();
  {
    Client client(unix_);
    client.reply();
    client.send(upload("ms", "i32", one(1'000'000)));
    EXPECT_EQ(client.reply(), "");
    std::string all;
    // More replies than sockets hold, so that it notices; fewer than keep commands waiting.
    for (int i = 0; i < 110; ++i) all += "help\n";
    client.send(all + "call sleep out ms\n");
    EXPECT_TRUE(eventually([&] { return engine_->calls > 0; }));
  }
  stop();
  EXPECT_EQ(engine_->living, 0);
}

TEST_F(SocketServerTest, WhoWaitsForATurnAtTheEndLeavesNothingBehind) {
  options_.limits.drain_seconds = 0;
  start();
  Client first(unix_), second(tcp_);
  for (Client* c : {&first, &second}) {
    c->reply();
    EXPECT_EQ(c->ask("attach shared"), "");
  }
  first.send(upload("ms", "i32", one(1'000'000)) + "call sleep out ms\n");
  EXPECT_EQ(first.reply(), "");
  EXPECT_TRUE(eventually([&] { return engine_->calls > 0; }));
  second.send("call sleep late ms\ntype ms\n");
  stop();
  EXPECT_EQ(engine_->calls, 1);
  EXPECT_EQ(engine_->living, 0);
}

TEST_F(SocketServerTest, EmptyNamedSessionsTakeNobodysPlace) {
  options_.limits.connections = 2;
  start();
  Client client(unix_);
  client.reply();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(client.ask(fmt::format("attach s{}", i)), "");
}

TEST_F(SocketServerTest, EndsWhatDoesNotEndInTime) {
  options_.limits.drain_seconds = 0.1;
  start();
  Client client(unix_), next(tcp_);
  client.reply();
  next.reply();
  for (Client* c : {&client, &next}) {
    c->send(upload("ms", "i32", one(1'000'000)));
    EXPECT_EQ(c->reply(), "");
  }
  for (Client* c : {&client, &next}) c->send("call sleep out ms\n");
  EXPECT_TRUE(eventually([&] { return engine_->calls > 0; }));
  server_->stop();
  EXPECT_TRUE(eventually([&] { return ended_.load(); }));
  stop();
  EXPECT_EQ(engine_->living, 0);
}

TEST_F(SocketServerTest, RefusesUnsafeAddresses) {
  options_.listen = {"tcp://0.0.0.0:0"};
  EXPECT_NE(refusal().find("--token-file"), std::string::npos);
  options_.token = "0123456789abcdef";
  EXPECT_NE(refusal().find("--tls-cert"), std::string::npos);
  options_.listen = {"http://x"};
  EXPECT_NE(refusal().find("tcp://HOST:PORT"), std::string::npos);
  options_.listen = {"tcp://127.0.0.1:0"};
  options_.tls_cert = "/nonexistent";
  EXPECT_NE(refusal().find("belong together"), std::string::npos);
  options_.tls_key = "/nonexistent";
  EXPECT_NE(refusal().find("/nonexistent: "), std::string::npos);
}

TEST_F(SocketServerTest, UnixSocketsArePrivateAndReplaced) {
  options_.listen = {"unix://" + path_, "tcp://127.0.0.1:0"};
  start();
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_NE(refusal().find("listens there already"), std::string::npos);
  stop();
  const int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = unix_address(path_);
  ASSERT_EQ(bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(dead);
  EXPECT_EQ(refusal(), "");
  std::ofstream(path_) << "a file";
  EXPECT_NE(refusal().find("cannot listen"), std::string::npos);
  unlink(path_.c_str());
}

/// Scripts wait for a server by looking for its socket.
TEST_F(SocketServerTest, AUnixSocketThatCanBeSeenTakesConnections) {
  const sockaddr_un seen = unix_address(path_);
  asio::io_context io;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::atomic<bool> looking = false, failed = false;
    std::thread client([&] {
      const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      looking = true;
      while (connect(fd, reinterpret_cast<const sockaddr*>(&seen), sizeof seen) != 0) {
        if (errno != ENOENT) ++refused;
        if (failed) break;
      }
      close(fd);
    });
    while (!looking) std::this_thread::yield();
    auto address = ListenAddress::parse("unix://" + path_);
    const auto acceptor = address->open(io, 0600);
    failed = !acceptor;
    client.join();
    ASSERT_TRUE(acceptor) << acceptor.error().message;
    address->remove();
  }
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace kenaz
