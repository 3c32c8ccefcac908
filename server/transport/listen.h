// Where a server listens: tcp://HOST:PORT (port 0: any free one) or unix://PATH.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "protocol/base/result.h"
#include "server/transport/asio.h"

namespace kenaz {

class ListenAddress {
 public:
  /// Looks the host's name up; its first address is taken.
  static Result<ListenAddress> parse(const std::string& url);

  bool is_unix() const { return !path_.empty(); }
  /// Whether only programs of this machine can connect.
  bool is_local() const;
  /// Binds and listens. A Unix socket has this mode; one that a dead server left is replaced.
  Result<asio::basic_socket_acceptor<asio::generic::stream_protocol>> open(asio::io_context& io,
                                                                           uint32_t mode);
  /// Takes the Unix socket's file away, if it still is the one that open() made: whoever has put
  /// something else there wants to keep it.
  void remove() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<std::pair<dev_t, ino_t>> opened_;  // the file that open() made
  asio::ip::tcp::endpoint tcp_;
};

}  // namespace kenaz
