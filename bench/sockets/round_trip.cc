// round_trip SERVER [OPTION..] PROG.fut: how long a client waits for the answer to `inputs`, over a
// Unix socket and over TCP, against a server that only sends each line back. The client is the same
// for both, and both are measured in turn, in one run. Prints medians in microseconds, and ratios.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/sockets/server_under_test.h"

namespace kenaz::bench {
namespace {

constexpr int kRounds = 41;
constexpr int kTripsPerRound = 500;

/// One connection's lines, back to where they came from; in a process of its own.
[[noreturn]] void echo(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0) _exit(0);
    text.append(buffer, static_cast<size_t>(n));
    const size_t end = text.rfind('\n');
    if (end == std::string::npos) continue;
    write_all(fd, std::string_view(text).substr(0, end + 1));
    text.erase(0, end + 1);
  }
}

/// The client's end of a connection to a process that echoes.
Fd echo_connection(bool tcp, pid_t& pid) {
  if (!tcp) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) die("no socket pair");
    pid = fork();
    if (pid == 0) {
      close(ends[0]);
      echo(ends[1]);
    }
    close(ends[1]);
    return Fd(ends[0]);
  }
  const Fd listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), generic, size) != 0 || listen(listener.get(), 1) != 0 ||
      getsockname(listener.get(), generic, &size) != 0) {
    die("cannot listen");
  }
  pid = fork();
  if (pid == 0) {
    const int fd = accept(listener.get(), nullptr, nullptr);
    no_delay(fd);
    echo(fd);
  }
  return connect_tcp(ntohs(address.sin_port));
}

/// Microseconds per trip, each timed alone.
std::vector<double> trips(int fd, std::string_view line, std::string_view end) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  std::string text;
  for (int i = 0; i < kTripsPerRound; ++i) {
    text.clear();
    const auto begin = Clock::now();
    write_all(fd, line);
    read_until(fd, text, end);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return times;
}

void compare(const char* name, const Fd& bare, const Fd& server, std::string_view line) {
  std::vector<double> bare_times, server_times;
  for (int round = 0; round < kRounds; ++round) {
    const auto b = trips(bare.get(), line, "\n");
    const auto s = trips(server.get(), line, "%%% OK\n");
    if (round == 0) continue;  // warming up
    bare_times.insert(bare_times.end(), b.begin(), b.end());
    server_times.insert(server_times.end(), s.begin(), s.end());
  }
  const double b = median(bare_times), s = median(server_times);
  std::printf("%s: echo %.1f us  server %.1f us  ratio %.2f\n", name, b, s, s / b);
}

int run(const std::vector<std::string>& command) {
  pid_t echoes[2];
  {
    const Fd bare_unix = echo_connection(false, echoes[0]);
    const Fd bare_tcp = echo_connection(true, echoes[1]);
    const ServerUnderTest server(command);
    std::printf("server on %s, CPUs: %ld\n", server.device().c_str(),
                sysconf(_SC_NPROCESSORS_ONLN));
    const Fd unix_socket = connect_unix(server.path()), tcp = connect_tcp(server.port());
    std::string text;
    for (const Fd* fd : {&unix_socket, &tcp}) {
      text.clear();
      read_until(fd->get(), text, "%%% OK\n");
    }
    write_all(unix_socket.get(), "entry_points\n");
    text.clear();
    read_until(unix_socket.get(), text, "%%% OK\n");
    const std::string line = "inputs " + text.substr(0, text.find('\n')) + "\n";
    compare("Unix socket", bare_unix, unix_socket, line);
    compare("TCP loopback", bare_tcp, tcp, line);
  }
  for (const pid_t pid : echoes) {
    kill(pid, SIGTERM);
    waitpid(pid, nullptr, 0);
  }
  return 0;
}

}  // namespace
}  // namespace kenaz::bench

int main(int argc, char** argv) {
  if (argc < 3) kenaz::bench::die("usage: round_trip SERVER [OPTION..] PROG.fut");
  return kenaz::bench::run({argv + 1, argv + argc});
}
