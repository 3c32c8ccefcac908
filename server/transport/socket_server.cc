#include "server/transport/socket_server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "server/transport/connection.h"
#include "server/transport/listen.h"
#include "server/transport/stand_in.h"

namespace kenaz {
namespace {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::milliseconds kAcceptPause{
    100};  // after an error, as with no descriptors left
constexpr std::chrono::milliseconds kCancelAgain{50};  // a job may make several calls
constexpr std::chrono::seconds kLastWait{3};           // for what the device does
constexpr int kTicksPerMetrics = 5;
constexpr int kAsideThreads = 2;
// Without a token, at least; an eighth of --max-connections otherwise.
constexpr size_t kLeastWaiting = 16;
// Host memory of a connection and its session before anything was sent: objects, buffers.
constexpr int64_t kConnectionBytes = int64_t{48} << 10, kTlsConnectionBytes = int64_t{128} << 10;

std::chrono::steady_clock::duration as_duration(double seconds) {
  constexpr double kDecades = 1e9;  // more would not fit
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(std::min(seconds, kDecades)));
}

class Server : public SocketServer {
 public:
  Server(const SocketOptions& options, std::shared_ptr<DevicePool> pool, DeviceQueues& queues)
      : options_(options),
        pool_(std::move(pool)),
        hub_{io_,
             queues,
             aside_,
             options.limits,
             options.token,
             options.session.metrics,
             options.session.memory,
             options.log_calls,
             {},
             [this](const std::string& peer) {
               SessionOptions options = options_.session;
               options.client = peer;
               return std::make_shared<SharedSession>(pool_, std::move(options), hub_.sessions);
             },
             NamedSessions(static_cast<size_t>(options.limits.connections), options.session.memory),
             options.wrong_token_delay,
             [this] { return admit(); },
             [this](Connection& c) { gone(c); }},
        signals_(io_),
        timer_(io_),
        stand_in_([this] { stand_in(); }, [this] { call_back(); }) {}
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
    bool armed = false;  // it accepts, or will
  };

  size_t step(bool wait);
  void stand_in();
  void call_back();
  Status set_up_tls();
  void accept(Listener& listener);
  void accepted(Listener& listener, Socket::Plain socket);
  bool admit();
  void make_way();
  void refuse(Socket::Plain socket, bool encrypted, const std::string& why);
  void gone(Connection& connection);
  void wait_for_signal();
  void arm();
  void tick();
  void ticked();
  void drain();
  void cut_off();
  void abandon();
  void leave_to_signals();
  [[noreturn]] void end_without_device();
  void write_metrics();
  std::vector<std::shared_ptr<Connection>> connections() const {
    return {connections_.begin(), connections_.end()};
  }

  const SocketOptions options_;
  const std::shared_ptr<DevicePool> pool_;
  std::optional<asio::ssl::context> tls_;
  JobQueue aside_{kAsideThreads};
  Hub hub_;
  asio::io_context io_{1};  // goes before the hub: what it still holds uses that
  asio::signal_set signals_;
  bool left_to_signals_ = false;
  asio::steady_timer timer_;
  StandIn stand_in_;
  std::vector<Listener> listeners_;
  std::set<std::shared_ptr<Connection>> connections_;
  uint64_t accepted_ = 0;
  int admitted_ = 0;  // of the connections, those that need show no token any more
  int ticks_ = 0;
  bool ticking_ = false, awaiting_signal_ = false;
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
  KENAZ_TRY(load_openssl());
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
  struct sigaction hangup {};
  const bool ignored = sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
  if (!error && (options_.on_hangup || !ignored)) signals_.add(SIGHUP, error);
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

/// What must always be waited for, as far as it is not.
void Server::arm() {
  for (auto& l : listeners_) {
    if (!l.armed && !draining_) accept(l);
  }
  if (!awaiting_signal_) wait_for_signal();
  if (!ticking_) tick();
}

/// Runs a handler, if one is ready or it is to wait for one; gives how many. Connections keep what
/// they throw to themselves; after anything else the server goes on.
size_t Server::step(bool wait) {
  try {
    arm();
    return wait ? io_.run_one() : io_.poll_one();
  } catch (const std::exception& e) {
    spdlog::error("the server goes on after: {}", e.what());
    std::this_thread::sleep_for(kAcceptPause);
    return 1;
  }
}

void Server::run() {
  std::vector<std::thread> others;
  for (int i = 0; i < kAsideThreads; ++i) others.emplace_back([&] { aside_.run(); });
  others.emplace_back([&] { stand_in_.watch(); });
  while (!io_.stopped()) {
    step(true);
    if (!hub_.devices.has_offered()) continue;
    // What else is ready would have to wait.
    if (step(false) == 0) {
      stand_in_.run([&] { hub_.devices.take_offered(); });
    } else {
      hub_.devices.hand_on();
    }
  }
  abandon();
  aside_.stop();
  stand_in_.stop();
  for (auto& thread : others) thread.join();
  write_metrics();
}

/// In place of run(), whose thread does the device's work. If the server ends meanwhile, that work
/// must end as well.
void Server::stand_in() {
  while (!io_.stopped() && !stand_in_.is_wanted_back()) {
    step(true);
    hub_.devices.hand_on();
  }
  if (io_.stopped()) abandon();
}

void Server::call_back() {
  try {
    asio::post(io_, [] {});
  } catch (const std::bad_alloc&) {  // the next tick does as well
  }
}

/// What still runs may never end by itself, and nobody waits for it any more.
void Server::abandon() {
  for (const auto& c : connections()) c->abandon();
  hub_.named.drop_waiting();
  const auto until = std::chrono::steady_clock::now() + kLastWait;
  while (!hub_.devices.abandon(kCancelAgain)) {
    leave_to_signals();
    pool_->cancel();
    if (options_.session.clients) options_.session.clients->end_all();
    if (std::chrono::steady_clock::now() >= until) end_without_device();
  }
  while (!aside_.abandon(kCancelAgain)) {
  }
}

/// One more signal ends the process: the driver may not come back. Not before, since a server that
/// is asked to end twice in a row has to end well.
void Server::leave_to_signals() {
  if (std::exchange(left_to_signals_, true)) return;
  write_metrics();
  for (const auto& l : listeners_) l.address.remove();
  std::error_code ignored;
  signals_.clear(ignored);
}

/// A kernel cannot be interrupted where the device does not see to it itself, and this process was
/// told to end.
void Server::end_without_device() {
  spdlog::warn("a device goes on working; ending without it");
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
    listener.armed = false;
    if (error == asio::error::operation_aborted || draining_) return;
    if (!error) {
      try {
        accepted(listener, std::move(socket));
      } catch (const std::exception& e) {  // no memory for one more
        spdlog::error("{}: a connection is closed: {}", listener.url, e.what());
      }
      return accept(listener);
    }
    spdlog::warn("{}: accept: {}", listener.url, error.message());
    listener.pause->expires_after(kAcceptPause);
    listener.pause->async_wait([this, &listener](std::error_code e) {
      listener.armed = false;
      if (!e) accept(listener);
    });
    listener.armed = true;
  });
  listener.armed = true;
}

Peer peer_of(Socket::Plain& socket, bool is_unix, uint64_t number) {
  std::string from = "somebody", key = "?";
  bool is_operator = false;
  ucred who{};
  socklen_t size = sizeof who;
  std::error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  asio::ip::tcp::endpoint tcp;
  if (is_unix) {
    if (getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
      key = fmt::format("user {}", who.uid);
      from = fmt::format("process {} of {}", who.pid, key);
      is_operator = who.uid == geteuid() || who.uid == 0;
    }
  } else if (!error && endpoint.size() <= tcp.capacity()) {
    tcp.resize(endpoint.size());
    std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
    key = tcp.address().to_string();
    from = fmt::format("{}:{}", tcp.address().is_v6() ? "[" + key + "]" : key, tcp.port());
  }
  return {fmt::format("connection {} from {}", number, from), key, is_operator};
}

void Server::accepted(Listener& listener, Socket::Plain socket) {
  const bool is_unix = listener.address.is_unix();
  const bool asks = !options_.token.empty();
  const bool encrypted = tls_ && !is_unix;
  if (!asks && admitted_ >= options_.limits.connections) {
    return refuse(std::move(socket), encrypted, too_many_connections(options_.limits));
  }
  if (asks) make_way();
  MemoryShare share(options_.session.memory, ClientMemory::Use::kConnection);
  if (!share.set(encrypted ? kTlsConnectionBytes : kConnectionBytes)) {
    return refuse(std::move(socket), encrypted, no_client_memory().value().text());
  }
  std::error_code ignored;
  if (!is_unix) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  auto peer = peer_of(socket, is_unix, ++accepted_);
  spdlog::debug("{}: opened on {}", peer.name, listener.url);
  auto wrapped =
      encrypted ? make_tls_socket(std::move(socket), *tls_) : make_plain_socket(std::move(socket));
  auto connection =
      std::make_shared<Connection>(hub_, std::move(wrapped), std::move(peer), std::move(share));
  connections_.insert(connection);
  if (!asks) ++admitted_;
  hub_.metrics->connected(1);
  connection->start();
}

bool Server::admit() {
  if (admitted_ >= options_.limits.connections) return false;
  ++admitted_;
  return true;
}

/// Those that have not shown the token have a share of their own. When that is full the oldest of
/// whoever has most of it goes: a client with a token shows it at once, and so gets through.
void Server::make_way() {
  std::map<std::string, std::vector<std::shared_ptr<Connection>>> waiting;
  size_t count = 0;
  for (const auto& c : connections_) {
    if (c->authenticated() || c->closed()) continue;
    waiting[c->peer().key].push_back(c);
    ++count;
  }
  if (count < std::max(kLeastWaiting, static_cast<size_t>(options_.limits.connections) / 8)) return;
  const auto& most = std::max_element(waiting.begin(), waiting.end(), [](auto& a, auto& b) {
                       return a.second.size() < b.second.size();
                     })->second;
  const auto oldest = *std::min_element(most.begin(), most.end(),
                                        [](auto& a, auto& b) { return a->begun() < b->begun(); });
  hub_.metrics->refused();
  oldest->close("too many others have not shown a token either");
}

/// Who expects TLS would not understand the reply.
void Server::refuse(Socket::Plain socket, bool encrypted, const std::string& why) {
  hub_.metrics->refused();
  if (encrypted) return;
  const std::string text = protocol::render({{}, why});
  std::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(text), ignored);
}

void Server::gone(Connection& connection) {
  hub_.metrics->connected(-1);
  if (connection.authenticated()) --admitted_;
  connections_.erase(connection.shared_from_this());
  if (draining_ && connections_.empty()) io_.stop();
}

// ---- time and signals

void Server::wait_for_signal() {
  signals_.async_wait([this](std::error_code error, int signal) {
    awaiting_signal_ = false;
    if (error) return;
    if (signal == SIGHUP && options_.on_hangup) {
      options_.on_hangup();
      return wait_for_signal();
    }
    if (draining_) return cut_off();  // asked for twice
    drain();
    wait_for_signal();
  });
  awaiting_signal_ = true;
}

void Server::tick() {
  timer_.expires_after(kTick);
  timer_.async_wait([this](std::error_code error) {
    ticking_ = false;
    if (error) return;
    ticked();
    tick();
  });
  ticking_ = true;
}

void Server::ticked() {
  const auto now = std::chrono::steady_clock::now();
  if (draining_ && now >= drain_until_) return cut_off();
  for (const auto& c : connections()) c->check_time(now);
  for (SharedSession* session : hub_.sessions.all()) session->cancel_again();
  pool_->look_after(hub_.devices.post());
  hub_.named.expire(now - as_duration(options_.limits.session_seconds));
  if (++ticks_ % kTicksPerMetrics == 0) write_metrics();
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
  const auto& clients = options_.session.clients;
  const auto loaded = clients ? clients->figures() : std::vector<LoadedFigures>();
  const auto written =
      write_figures(options_.metrics_file, hub_.metrics->prometheus(pool_->figures(), loaded));
  if (!written) spdlog::warn("{}", written.error().text());
}

}  // namespace

Result<std::unique_ptr<SocketServer>> SocketServer::create(const SocketOptions& options,
                                                           std::shared_ptr<DevicePool> pool,
                                                           DeviceQueues& queues) {
  auto server = std::make_unique<Server>(options, std::move(pool), queues);
  KENAZ_TRY(server->open());
  return server;
}

void heed_no_signals() {
  struct Waiting {
    asio::io_context io;
    asio::signal_set signals{io, SIGTERM, SIGINT};
  };
  try {
    // Never destroyed: Asio gives a signal back to the system with the last set that waits for it.
    [[maybe_unused]] static auto& waiting = *new Waiting;
  } catch (const std::exception&) {  // it cannot be had: they end the process
  }
}

}  // namespace kenaz
