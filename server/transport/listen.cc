#include "server/transport/listen.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <random>

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

/// A name for a socket in the folder of `path` until it listens; `path` itself where such a name
/// would be too long for a socket.
std::string name_beside(const std::string& path) {
  const size_t folder = path.rfind('/') + 1;  // 0 if there is none
  std::string name = fmt::format("{}.{}-{:08x}", path.substr(0, folder), path.substr(folder),
                                 std::random_device()());
  return name.size() > kMaxPath ? path : name;
}

/// Renames a file unless something has the new name already; errno says why not.
bool rename_to_new(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL) return false;
  // A file system that cannot rename so: it is asked in two steps.
  struct stat info {};
  if (lstat(to.c_str(), &info) == 0) {
    errno = EEXIST;
    return false;
  }
  return rename(from.c_str(), to.c_str()) == 0;
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
  // To bind makes the file, but connections are refused until the socket listens: clients that wait
  // for the file must not see it before.
  const std::string first = name_beside(path_);
  const mode_t before = umask(0777 & ~mode);
  auto acceptor =
      bind_and_listen(io, asio::local::stream_protocol::endpoint(first), AF_UNIX, path_);
  umask(before);
  if (!acceptor) return acceptor;
  if (first != path_ && !rename_to_new(first, path_)) {
    const std::error_code error(errno, std::generic_category());
    unlink(first.c_str());
    return bad_request(fmt::format("cannot listen on {}: {}", path_, error.message()));
  }
  if (lstat(path_.c_str(), &info) == 0) opened_ = {info.st_dev, info.st_ino};
  return acceptor;
}

void ListenAddress::remove() const {
  struct stat info {};
  if (!opened_ || lstat(path_.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return;
  if (*opened_ == std::pair(info.st_dev, info.st_ino)) unlink(path_.c_str());
}

}  // namespace kenaz
