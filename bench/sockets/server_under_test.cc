#include "bench/sockets/server_under_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kenaz::bench {

void die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Fd connect_unix(const std::string& path) {
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) die(path + ": too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    die(path + ": " + std::strerror(errno));
  }
  return fd;
}

void no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Fd connect_tcp(int port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    die("port " + std::to_string(port) + ": " + std::strerror(errno));
  }
  no_delay(fd.get());
  return fd;
}

void write_all(int fd, const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) die(std::string("write: ") + std::strerror(errno));
    at += n;
    bytes -= static_cast<size_t>(n);
  }
}

void write_all(int fd, std::string_view text) { write_all(fd, text.data(), text.size()); }

namespace {

size_t read_some(int fd, void* data, size_t bytes) {
  while (true) {
    const ssize_t n = read(fd, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) die(n == 0 ? "the other side has ended" : std::strerror(errno));
    return static_cast<size_t>(n);
  }
}

}  // namespace

void read_all(int fd, void* data, size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const size_t n = read_some(fd, at, bytes);
    at += n;
    bytes -= n;
  }
}

void read_until(int fd, std::string& text, std::string_view end) {
  char buffer[4096];
  while (!std::string_view(text).ends_with(end)) {
    text.append(buffer, read_some(fd, buffer, sizeof buffer));
  }
}

ServerUnderTest::ServerUnderTest(const std::vector<std::string>& command) {
  folder_ = "/tmp/kenaz_bench_XXXXXX";
  if (mkdtemp(folder_.data()) == nullptr) die(folder_ + ": " + std::strerror(errno));
  path_ = folder_ + "/socket";
  std::vector<std::string> words = command;
  for (const auto& w : {std::string("--listen"), "unix://" + path_, std::string("--listen"),
                        std::string("tcp://127.0.0.1:0")}) {
    words.push_back(w);
  }
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  int log[2];
  if (pipe(log) != 0) die("no pipe");
  pid_ = fork();
  if (pid_ == 0) {
    dup2(log[1], STDERR_FILENO);
    close(log[0]);
    close(log[1]);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(log[1]);
  log_ = Fd(log[0]);
  read_log();
}

/// "running on DEVICE", "listening on tcp://127.0.0.1:PORT"
void ServerUnderTest::read_log() {
  const auto after = [](const std::string& line, std::string_view what) {
    const size_t at = line.find(what);
    return at == std::string::npos ? std::string() : line.substr(at + what.size());
  };
  std::string line;
  for (char c = 0; port_ == 0;) {
    if (read(log_.get(), &c, 1) != 1) die(line + "the server did not start");
    if (c != '\n') {
      line += c;
      continue;
    }
    if (const auto name = after(line, "running on "); !name.empty()) device_ = name;
    if (const auto port = after(line, "tcp://127.0.0.1:"); !port.empty()) port_ = std::stoi(port);
    line.clear();
  }
}

ServerUnderTest::~ServerUnderTest() {
  kill(pid_, SIGTERM);
  int status = 0;
  waitpid(pid_, &status, 0);
  rmdir(folder_.c_str());
  if (status != 0) std::fprintf(stderr, "the server ended with status %d\n", status);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace kenaz::bench
