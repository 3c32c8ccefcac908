// A kenaz-server in a process of its own, and plain blocking sockets to talk to it. What goes wrong
// is printed and ends the process: a benchmark without its server has nothing to say.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kenaz::bench {

[[noreturn]] void die(const std::string& why);

/// A descriptor, closed at the end.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }

 private:
  int fd_;
};

Fd connect_unix(const std::string& path);
/// To this machine, without delay for small packets.
Fd connect_tcp(int port);
void no_delay(int fd);

void write_all(int fd, const void* data, size_t bytes);
void write_all(int fd, std::string_view text);
void read_all(int fd, void* data, size_t bytes);
/// Into `text`, which is what came before, until it ends with `end`.
void read_until(int fd, std::string& text, std::string_view end);

/// Listens on a Unix socket and on TCP; ends with SIGTERM, and must exit 0 then.
class ServerUnderTest {
 public:
  /// SERVER OPTION.. PROG.fut
  explicit ServerUnderTest(const std::vector<std::string>& command);
  ~ServerUnderTest();
  ServerUnderTest(const ServerUnderTest&) = delete;
  ServerUnderTest& operator=(const ServerUnderTest&) = delete;

  const std::string& path() const { return path_; }
  int port() const { return port_; }
  const std::string& device() const { return device_; }

 private:
  void read_log();

  std::string folder_, path_, device_;
  int port_ = 0;
  pid_t pid_ = -1;
  Fd log_;
};

double median(std::vector<double> values);

}  // namespace kenaz::bench
