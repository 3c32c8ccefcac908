#include "server/transport/socket.h"

namespace kenaz {
namespace {

asio::mutable_buffer buffer(std::span<std::byte> s) { return asio::buffer(s.data(), s.size()); }
asio::const_buffer buffer(std::span<const std::byte> s) {
  return asio::const_buffer(s.data(), s.size());
}

class PlainSocket : public Socket {
 public:
  explicit PlainSocket(Plain socket) : socket_(std::move(socket)) {
    std::error_code ignored;
    socket_.non_blocking(true, ignored);
  }
  void prepare(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }
  void read_some(std::span<std::byte> to, Done done) override {
    socket_.async_read_some(buffer(to), std::move(done));
  }
  void write_some(std::span<const std::byte> from, Done done) override {
    socket_.async_write_some(buffer(from), std::move(done));
  }
  size_t try_write(std::span<const std::byte> from) override {
    std::error_code error;  // would_block, or one that the next write will see as well
    return socket_.write_some(buffer(from), error);
  }
  void close() override {
    std::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_both, ignored);
    socket_.close(ignored);
  }

 private:
  Plain socket_;
};

class TlsSocket : public Socket {
 public:
  TlsSocket(Plain socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}
  void prepare(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](std::error_code e) { done(e, 0); });
  }
  void read_some(std::span<std::byte> to, Done done) override {
    stream_.async_read_some(buffer(to), std::move(done));
  }
  void write_some(std::span<const std::byte> from, Done done) override {
    stream_.async_write_some(buffer(from), std::move(done));
  }
  size_t try_write(std::span<const std::byte>) override { return 0; }
  void close() override {
    // Replies tell the client where they end, so nothing is lost without TLS's own goodbye, which
    // would have to be waited for.
    std::error_code ignored;
    stream_.lowest_layer().shutdown(asio::socket_base::shutdown_both, ignored);
    stream_.lowest_layer().close(ignored);
  }

 private:
  asio::ssl::stream<Plain> stream_;
};

}  // namespace

std::unique_ptr<Socket> make_plain_socket(Socket::Plain socket) {
  return std::make_unique<PlainSocket>(std::move(socket));
}

std::unique_ptr<Socket> make_tls_socket(Socket::Plain socket, asio::ssl::context& context) {
  return std::make_unique<TlsSocket>(std::move(socket), context);
}

}  // namespace kenaz
