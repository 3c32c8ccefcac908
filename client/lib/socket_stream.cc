#include "client/lib/socket_stream.h"

#include <fmt/format.h>
#include <netdb.h>

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/ssl.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace kenaz::client {
namespace {

using asio::ip::tcp;
using Local = asio::local::stream_protocol;
using TlsSocket = asio::ssl::stream<tcp::socket>;

constexpr size_t kReadAhead = 65536;

/// Runs what has been started until `done`; false at the deadline.
bool run_until(asio::io_context& io, const bool& done, Deadline deadline) {
  io.restart();
  while (!done) {
    if (io.run_one_until(deadline) == 0 && !done) return false;
  }
  return true;
}

/// An operation's outcome, filled in by its handler.
struct Outcome {
  bool done = false;
  asio::error_code error;
  size_t bytes = 0;
  auto handler() {
    return [this](const asio::error_code& e, auto... n) {
      done = true;
      error = e;
      ((bytes = static_cast<size_t>(n)), ...);
    };
  }
};

template <class Socket>
auto& lowest(Socket& socket) {
  return socket.lowest_layer();
}

/// What a socket needs and its stream shares: the context outlives the socket.
template <class Socket>
class SocketStream : public Stream {
 public:
  SocketStream(std::unique_ptr<asio::io_context> io, Socket socket)
      : io_(std::move(io)), socket_(std::move(socket)), chunk_(kReadAhead) {}
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;
  ~SocketStream() override { abandon(); }

  Status write(std::string_view bytes, Deadline deadline) override {
    if (!lowest(socket_).is_open()) return internal_error("the connection is closed");
    // After a failure Asio would wait for the socket to become writable, which it never does.
    if (write_error_) return cannot_write(*write_error_);
    Outcome written;
    asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()), written.handler());
    io_->restart();
    io_->poll();
    while (!written.done) {
      read_ahead();
      if (end_) {  // who sends nothing more reads nothing more
        abandon();
        return internal_error("it has closed the connection");
      }
      // What was read ahead wakes this up too, and the next chunk is asked for.
      io_->restart();
      if (io_->run_one_until(deadline) == 0 && !written.done) {
        abandon();
        return internal_error("it does not read its input");
      }
    }
    if (!written.error) return {};
    write_error_ = written.error;
    return cannot_write(written.error);
  }

  Result<size_t> read_some(std::span<char> out, Deadline deadline) override {
    if (taken_ == inbox_.size() && ahead_ && !run_until(*io_, ahead_->done, deadline)) {
      return too_late();
    }
    take_ahead();
    if (taken_ < inbox_.size()) {
      const size_t n = std::min(out.size(), inbox_.size() - taken_);
      std::memcpy(out.data(), inbox_.data() + taken_, n);
      taken_ += n;
      if (taken_ == inbox_.size()) {
        inbox_.clear();
        taken_ = 0;
      }
      return n;
    }
    if (end_) return ended(*end_);
    if (!lowest(socket_).is_open()) return size_t{0};
    Outcome read;
    socket_.async_read_some(asio::buffer(out.data(), out.size()), read.handler());
    if (!run_until(*io_, read.done, deadline)) return too_late();
    if (read.error) {
      end_ = read.error;
      return ended(read.error);
    }
    return read.bytes;
  }

  void close_input() override {
    asio::error_code ignored;
    if constexpr (std::is_same_v<Socket, TlsSocket>) {
      // Says so to the other side; its own answer to that need not be waited for.
      Outcome closed;
      socket_.async_shutdown(closed.handler());
      run_until(*io_, closed.done, deadline_in(0.2));
      if (!closed.done) abandon();
    }
    lowest(socket_).shutdown(asio::socket_base::shutdown_send, ignored);
  }

  Result<ExitStatus> finish(Deadline deadline) override {
    char rest[4096];
    for (;;) {
      const auto n = read_some(rest, deadline);
      if (n && *n > 0) continue;
      if (!n && Clock::now() >= deadline) return tl::make_unexpected(n.error());
      return ExitStatus{};
    }
  }

  std::string ending() override { return "closed the connection"; }

  void abandon() override {
    asio::error_code ignored;
    lowest(socket_).close(ignored);
    io_->restart();
    io_->poll();  // handlers hear that they are cancelled
  }

 private:
  tl::unexpected<Error> too_late() {
    abandon();
    return internal_error("it does not answer in time");
  }

  static tl::unexpected<Error> cannot_write(const asio::error_code& error) {
    return internal_error("cannot write to it: " + error.message());
  }

  static Result<size_t> ended(const asio::error_code& error) {
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated ||
        error == asio::error::connection_reset || error == asio::error::operation_aborted) {
      return size_t{0};
    }
    return internal_error("cannot read from it: " + error.message());
  }

  void read_ahead() {
    take_ahead();
    if (ahead_ || end_ || !lowest(socket_).is_open()) return;
    ahead_ = std::make_unique<Outcome>();
    socket_.async_read_some(asio::buffer(chunk_), ahead_->handler());
  }

  void take_ahead() {
    if (!ahead_ || !ahead_->done) return;
    inbox_.append(chunk_.data(), ahead_->bytes);
    if (ahead_->error) end_ = ahead_->error;
    ahead_.reset();
  }

  std::unique_ptr<asio::io_context> io_;
  Socket socket_;
  std::vector<char> chunk_;         // where reading ahead puts bytes
  std::unique_ptr<Outcome> ahead_;  // null: not reading ahead
  std::string inbox_;               // read ahead, and of that so much is taken already
  size_t taken_ = 0;
  std::optional<asio::error_code> end_;          // of what the peer sends
  std::optional<asio::error_code> write_error_;  // the first
};

struct Addresses {
  int error = 0;
  std::vector<tcp::endpoint> endpoints;
};

Addresses look_up(const std::string& host, const std::string& port) {
  Addresses found;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  found.error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &all);
  if (found.error != 0) return found;
  for (const addrinfo* a = all; a != nullptr; a = a->ai_next) {
    tcp::endpoint endpoint;
    if (a->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), a->ai_addr, a->ai_addrlen);
    endpoint.resize(a->ai_addrlen);
    found.endpoints.push_back(endpoint);
  }
  ::freeaddrinfo(all);
  return found;
}

/// The system's resolver cannot be told when to give up, so it works on a thread of its own, which
/// is left behind if it is too slow.
Result<std::vector<tcp::endpoint>> resolve(const Url& url, Deadline deadline) {
  std::packaged_task<Addresses()> task([url] { return look_up(url.host, url.port); });
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  const auto soon = std::min(deadline, Clock::now() + std::chrono::hours(1));
  if (result.wait_until(soon) != std::future_status::ready) {
    return internal_error(fmt::format("the address of {} is not found in time", url.host));
  }
  Addresses found = result.get();
  if (found.error != 0) {
    return internal_error(
        fmt::format("cannot find {}:{}: {}", url.host, url.port, ::gai_strerror(found.error)));
  }
  return std::move(found.endpoints);
}

template <class Socket, class Endpoint>
Status connect_to(asio::io_context& io, Socket& socket, const std::vector<Endpoint>& endpoints,
                  const std::string& name, Deadline deadline) {
  asio::error_code error = asio::error::host_not_found;
  for (const auto& endpoint : endpoints) {
    Outcome connected;
    asio::error_code ignored;
    socket.close(ignored);
    socket.async_connect(endpoint, connected.handler());
    if (!run_until(io, connected.done, deadline)) {
      socket.close(ignored);
      io.restart();
      io.poll();
      return internal_error(fmt::format("cannot connect to {} in time", name));
    }
    error = connected.error;
    if (!error) return {};
  }
  return internal_error(fmt::format("cannot connect to {}: {}", name, error.message()));
}

/// The name check and the name that a server with several certificates is told.
Status expect_name(TlsSocket& socket, const std::string& host) {
  SSL* ssl = socket.native_handle();
  asio::error_code not_an_address;
  asio::ip::make_address(host, not_an_address);
  const bool ok = not_an_address
                      ? SSL_set1_host(ssl, host.c_str()) == 1 &&
                            SSL_set_tlsext_host_name(ssl, host.c_str()) == 1  // NOLINT: a macro
                      : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  if (!ok) return internal_error(fmt::format("{} cannot be the name of a server", host));
  return {};
}

Status shake_hands(asio::io_context& io, TlsSocket& socket, const std::string& name,
                   Deadline deadline) {
  Outcome shaken;
  socket.async_handshake(asio::ssl::stream_base::client, shaken.handler());
  if (!run_until(io, shaken.done, deadline)) {
    asio::error_code ignored;
    lowest(socket).close(ignored);
    io.restart();
    io.poll();
    return internal_error(fmt::format("{} does not answer in time", name));
  }
  if (!shaken.error) return {};
  const long verdict = SSL_get_verify_result(socket.native_handle());
  if (verdict != X509_V_OK) {
    return internal_error(fmt::format("the certificate of {} is not accepted: {}", name,
                                      X509_verify_cert_error_string(verdict)));
  }
  return internal_error(fmt::format("no TLS with {}: {}", name, shaken.error.message()));
}

/// Takes `io` if all is well. Otherwise the caller's sockets, from which this one was moved, still
/// need it when they go.
Result<std::unique_ptr<Stream>> connect_tls(std::unique_ptr<asio::io_context>& io,
                                            tcp::socket socket, const Url& url,
                                            const std::string& ca_file, Deadline deadline) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);  // NOLINT: a macro
  context.set_verify_mode(asio::ssl::verify_peer);
  asio::error_code error;
  if (ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(ca_file, error);
  }
  if (error) {
    return bad_request(fmt::format("cannot read the certificates {}: {}",
                                   ca_file.empty() ? "of the system" : ca_file, error.message()));
  }
  TlsSocket tls(std::move(socket), context);
  KENAZ_TRY(expect_name(tls, url.host));
  KENAZ_TRY(shake_hands(*io, tls, fmt::format("{}:{}", url.host, url.port), deadline));
  return std::make_unique<SocketStream<TlsSocket>>(std::move(io), std::move(tls));
}

Result<std::unique_ptr<Stream>> connect_any(const Url& url, const std::string& ca_file,
                                            Deadline deadline) {
  auto io = std::make_unique<asio::io_context>(1);
  if (url.scheme == Url::Scheme::kUnix) {
    if (url.path.size() > sizeof(sockaddr_un::sun_path) - 1) {
      return bad_request(fmt::format("{}: too long for the path of a socket", url.path));
    }
    Local::socket socket(*io);
    const std::vector<Local::endpoint> endpoints = {Local::endpoint(url.path)};
    KENAZ_TRY(connect_to(*io, socket, endpoints, url.path, deadline));
    return std::make_unique<SocketStream<Local::socket>>(std::move(io), std::move(socket));
  }
  KENAZ_ASSIGN(const auto endpoints, resolve(url, deadline));
  tcp::socket socket(*io);
  KENAZ_TRY(connect_to(*io, socket, endpoints, fmt::format("{}:{}", url.host, url.port), deadline));
  asio::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (url.scheme == Url::Scheme::kTls) {
    return connect_tls(io, std::move(socket), url, ca_file, deadline);
  }
  return std::make_unique<SocketStream<tcp::socket>>(std::move(io), std::move(socket));
}

}  // namespace

Result<std::unique_ptr<Stream>> connect_stream(const Url& url, const std::string& ca_file,
                                               Deadline deadline) {
  try {
    return connect_any(url, ca_file, deadline);
  } catch (const std::exception& e) {  // Asio's constructors, where the system has no more to give
    return internal_error(e.what());
  }
}

}  // namespace kenaz::client
