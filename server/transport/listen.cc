#include "server/transport/listen.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

namespace kenaz {

namespace {

using Protocol = asio::generic::stream_protocol;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
constexpr size_t kMaxPath = 107;  // bytes, as in sockaddr_un

Result<Acceptor> bind_and_listen(asio::io_context& io, const Protocol::endpoint& endpoint,
                                 int family, const std::string& name) {
  Acceptor acceptor(io);
  std::error_code error;
  acceptor.open(Protocol(family, 0), error);
  if (!error && family != AF_UNIX) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return bad_request(fmt::format("cannot listen on {}: {}", name, error.message()));
  return acceptor;
}

}  // namespace

Result<ListenAddress> ListenAddress::parse(const std::string& url) {
  constexpr std::string_view kTcp = "tcp://", kUnix = "unix://";
  ListenAddress address;
  if (url.starts_with(kUnix)) {
    address.path_ = url.substr(kUnix.size());
    if (address.path_.empty() || address.path_.size() > kMaxPath) {
      return bad_request(fmt::format("{}: a path of 1 to {} bytes is expected", url, kMaxPath));
    }
    return address;
  }
  const size_t colon = url.rfind(':');
  if (!url.starts_with(kTcp) || colon < kTcp.size()) {
    return bad_request(fmt::format("{}: tcp://HOST:PORT or unix://PATH is expected", url));
  }
  std::string host = url.substr(kTcp.size(), colon - kTcp.size());
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  uint16_t port = 0;
  const char* end = url.data() + url.size();
  const auto [rest, wrong] = std::from_chars(url.data() + colon + 1, end, port);
  if (wrong != std::errc() || rest != end) {
    return bad_request(fmt::format("{}: a port from 0 to 65535 is expected", url));
  }
  asio::io_context io;
  std::error_code error;
  asio::ip::tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, url.substr(colon + 1),
                                      asio::ip::resolver_base::numeric_service, error);
  if (error || found.empty() || host.empty()) {
    return bad_request(fmt::format("{}: {}", url, error ? error.message() : "no such address"));
  }
  address.tcp_ = found.begin()->endpoint();
  return address;
}

bool ListenAddress::is_local() const { return is_unix() || tcp_.address().is_loopback(); }

Result<Acceptor> ListenAddress::open(asio::io_context& io, uint32_t mode) {
  if (!is_unix()) {
    return bind_and_listen(io, tcp_, tcp_.protocol().family(), "this address");
  }
  const asio::local::stream_protocol::endpoint endpoint(path_);
  struct stat info {};
  if (lstat(path_.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) {
    asio::local::stream_protocol::socket probe(io);
    std::error_code error;
    probe.connect(endpoint, error);
    if (!error) return bad_request(fmt::format("{}: a server listens there already", path_));
    if (error != asio::error::connection_refused) {
      return bad_request(
          fmt::format("{}: whether a server listens there: {}", path_, error.message()));
    }
    unlink(path_.c_str());
  }
  const mode_t before = umask(0777 & ~mode);
  auto acceptor = bind_and_listen(io, endpoint, AF_UNIX, path_);
  umask(before);
  if (acceptor && lstat(path_.c_str(), &info) == 0) opened_ = {info.st_dev, info.st_ino};
  return acceptor;
}

void ListenAddress::remove() const {
  struct stat info {};
  if (!opened_ || lstat(path_.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  if (*opened_ == std::pair(info.st_dev, info.st_ino)) unlink(path_.c_str());
}

}  // namespace kenaz
