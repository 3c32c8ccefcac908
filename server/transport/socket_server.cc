#include "server/transport/socket_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdlib>
#include <set>

#include "server/transport/connection.h"
#include "server/transport/listen.h"

namespace kenaz {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::milliseconds kAcceptPause{
    100};  // after an error, as with no descriptors left
constexpr std::chrono::milliseconds kCancelAgain{50};  // a job may make several calls
constexpr std::chrono::seconds kLastWait{3};           // for what the device does
constexpr int kTicksPerMetrics = 5;

std::chrono::steady_clock::duration as_duration(double seconds) {
  constexpr double kDecades = 1e9;  // more would not fit
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(std::min(seconds, kDecades)));
}

class Server : public SocketServer {
 public:
  Server(const SocketOptions& options, const std::shared_ptr<host::Engine>& engine,
         DeviceQueue& device)
      : options_(options),
        engine_(engine),
        hub_{io_,
             device,
             options.limits,
             options.token,
             options.session.metrics,
             [this] { return std::make_shared<SharedSession>(engine_, options_.session); },
             NamedSessions(static_cast<size_t>(options.limits.connections)),
             [this](Connection& c) { gone(c); }},
        signals_(io_),
        timer_(io_) {}
  ~Server() override {
    connections_.clear();
    for (const auto& l : listeners_) l.address.remove();
  }

  Status open();
  std::vector<std::string> addresses() const override;
  void run() override;
  void stop() override {
    asio::post(io_, [this] { drain(); });
  }

 private:
  struct Listener {
    ListenAddress address;
    Acceptor acceptor;
    std::string url;
    std::unique_ptr<asio::steady_timer> pause;
  };

  Status set_up_tls();
  void accept(Listener& listener);
  void accepted(Listener& listener, Socket::Plain socket);
  void refuse(Socket::Plain socket);
  void gone(Connection& connection);
  void wait_for_signal();
  void tick();
  void drain();
  void cut_off();
  void abandon();
  [[noreturn]] void end_without_device();
  void write_metrics();
  std::vector<std::shared_ptr<Connection>> connections() const {
    return {connections_.begin(), connections_.end()};
  }

  const SocketOptions options_;
  const std::shared_ptr<host::Engine> engine_;
  std::optional<asio::ssl::context> tls_;
  Hub hub_;
  asio::io_context io_{1};  // goes before the hub: what it still holds uses that
  asio::signal_set signals_;
  asio::steady_timer timer_;
  std::vector<Listener> listeners_;
  std::set<std::shared_ptr<Connection>> connections_;
  uint64_t accepted_ = 0;
  int ticks_ = 0;
  bool draining_ = false;
  SteadyTime drain_until_;
};

Status Server::set_up_tls() {
  if (options_.tls_cert.empty() != options_.tls_key.empty()) {
    return bad_request("--tls-cert and --tls-key belong together");
  }
  if (options_.tls_cert.empty()) return {};
  tls_.emplace(asio::ssl::context::tls_server);
  std::error_code error;
  tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv3 |
                        asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
                    error);
  if (!error) tls_->use_certificate_chain_file(options_.tls_cert, error);
  if (error) return bad_request(fmt::format("{}: {}", options_.tls_cert, error.message()));
  tls_->use_private_key_file(options_.tls_key, asio::ssl::context::pem, error);
  if (error) return bad_request(fmt::format("{}: {}", options_.tls_key, error.message()));
  return {};
}

Status Server::open() {
  KENAZ_TRY(set_up_tls());
  for (const auto& url : options_.listen) {
    KENAZ_ASSIGN(ListenAddress address, ListenAddress::parse(url));
    if (!address.is_local() && (!tls_ || options_.token.empty())) {
      return bad_request(fmt::format(
          "{}: other machines reach this address, so --tls-cert, --tls-key and --token-file are "
          "needed",
          url));
    }
    auto acceptor = address.open(io_, options_.socket_mode);
    if (!acceptor) {
      acceptor.error().context.push_back("while opening " + url);
      return tl::make_unexpected(std::move(acceptor).error());
    }
    listeners_.push_back(
        {std::move(address), std::move(*acceptor), url, std::make_unique<asio::steady_timer>(io_)});
  }
  std::error_code error;
  signals_.add(SIGTERM, error);
  if (!error) signals_.add(SIGINT, error);
  if (error) return internal_error("signals: " + error.message());
  return {};
}

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> urls;
  for (const auto& l : listeners_) {
    if (l.address.is_unix()) {
      urls.push_back(l.url);
      continue;
    }
    std::error_code error;
    const auto endpoint = l.acceptor.local_endpoint(error);
    asio::ip::tcp::endpoint tcp;
    tcp.resize(endpoint.size());
    std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
    const auto host =
        tcp.address().is_v6() ? "[" + tcp.address().to_string() + "]" : tcp.address().to_string();
    urls.push_back(fmt::format("{}://{}:{}", tls_ ? "tls" : "tcp", host, tcp.port()));
  }
  return urls;
}

void Server::run() {
  for (auto& l : listeners_) accept(l);
  wait_for_signal();
  tick();
  io_.run();
  abandon();
  write_metrics();
}

/// What still runs may never end by itself, and nobody waits for it any more.
void Server::abandon() {
  for (const auto& c : connections()) c->drop_waiting();
  hub_.named.drop_waiting();
  std::error_code ignored;
  signals_.clear(ignored);  // one more signal ends the process, should a driver not come back
  const auto until = std::chrono::steady_clock::now() + kLastWait;
  while (!hub_.device.abandon(kCancelAgain)) {
    engine_->cancel();
    if (std::chrono::steady_clock::now() >= until) end_without_device();
  }
}

/// A kernel cannot be interrupted where the device does not see to it itself, and this process was
/// told to end.
void Server::end_without_device() {
  spdlog::warn("the device goes on working; ending without it");
  write_metrics();
  for (const auto& l : listeners_) l.address.remove();
  std::_Exit(0);
}

void Server::cut_off() {
  spdlog::warn("{} connections did not end in time", connections_.size());
  io_.stop();
}

// ---- connections

void Server::accept(Listener& listener) {
  listener.acceptor.async_accept([this, &listener](std::error_code error, Socket::Plain socket) {
    if (error == asio::error::operation_aborted || draining_) return;
    if (!error) {
      accepted(listener, std::move(socket));
      return accept(listener);
    }
    spdlog::warn("{}: accept: {}", listener.url, error.message());
    listener.pause->expires_after(kAcceptPause);
    listener.pause->async_wait([this, &listener](std::error_code e) {
      if (!e) accept(listener);
    });
  });
}

void Server::accepted(Listener& listener, Socket::Plain socket) {
  if (connections_.size() >= static_cast<size_t>(options_.limits.connections)) {
    return refuse(std::move(socket));
  }
  const bool is_unix = listener.address.is_unix();
  std::error_code ignored;
  if (!is_unix) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  auto wrapped = tls_ && !is_unix ? make_tls_socket(std::move(socket), *tls_)
                                  : make_plain_socket(std::move(socket));
  auto connection = std::make_shared<Connection>(hub_, std::move(wrapped),
                                                 fmt::format("connection {}", ++accepted_));
  spdlog::debug("connection {}: from {}", accepted_, listener.url);
  connections_.insert(connection);
  hub_.metrics->connected(1);
  connection->start();
}

void Server::refuse(Socket::Plain socket) {
  hub_.metrics->refused();
  const std::string text =
      protocol::render({{},
                        fmt::format("The server has {} connections; more are not allowed.",
                                    options_.limits.connections)});
  std::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
}

void Server::gone(Connection& connection) {
  hub_.metrics->connected(-1);
  connections_.erase(connection.shared_from_this());
  if (draining_ && connections_.empty()) io_.stop();
}

// ---- time and signals

void Server::wait_for_signal() {
  signals_.async_wait([this](std::error_code error, int) {
    if (error) return;
    if (draining_) return cut_off();  // asked for twice
    drain();
    wait_for_signal();
  });
}

void Server::tick() {
  timer_.expires_after(kTick);
  timer_.async_wait([this](std::error_code error) {
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    for (const auto& c : connections()) c->check_time(now);
    hub_.named.expire(now - as_duration(options_.limits.session_seconds));
    if (++ticks_ % kTicksPerMetrics == 0) write_metrics();
    if (draining_ && now >= drain_until_) return cut_off();
    tick();
  });
}

void Server::drain() {
  if (draining_) return;
  draining_ = true;
  drain_until_ = std::chrono::steady_clock::now() + as_duration(options_.limits.drain_seconds);
  spdlog::info("ending: {} connections", connections_.size());
  std::error_code ignored;
  for (auto& l : listeners_) l.acceptor.close(ignored);
  for (const auto& c : connections()) c->drain();
  if (connections_.empty()) io_.stop();
}

void Server::write_metrics() {
  if (options_.metrics_file.empty()) return;
  const auto written =
      replace_file(options_.metrics_file, hub_.metrics->prometheus(engine_->memory()));
  if (!written) spdlog::warn("{}", written.error().text());
}

}  // namespace

Result<std::unique_ptr<SocketServer>> SocketServer::create(const SocketOptions& options,
                                                           std::shared_ptr<host::Engine> engine,
                                                           DeviceQueue& device) {
  auto server = std::make_unique<Server>(options, engine, device);
  KENAZ_TRY(server->open());
  return server;
}

}  // namespace kenaz
