// A connected stream, encrypted or not. Used by the I/O thread only. A socket may be dropped only
// when no operation is outstanding: close() ends them with an error.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "server/transport/asio.h"

namespace kenaz {

class Socket {
 public:
  using Plain = asio::generic::stream_protocol::socket;
  /// What happened, and how many bytes were moved.
  using Done = std::function<void(std::error_code, size_t)>;

  virtual ~Socket() = default;
  /// What must happen before the first byte (TLS); Done's count means nothing.
  virtual void prepare(Done done) = 0;
  virtual void read_some(std::span<std::byte> to, Done done) = 0;
  virtual void write_some(std::span<const std::byte> from, Done done) = 0;
  /// Bytes that could be written without waiting, perhaps none.
  virtual size_t try_write(std::span<const std::byte> from) = 0;
  virtual void close() = 0;
};

std::unique_ptr<Socket> make_plain_socket(Socket::Plain socket);
/// `context` must outlive the socket.
std::unique_ptr<Socket> make_tls_socket(Socket::Plain socket, asio::ssl::context& context);

}  // namespace kenaz
