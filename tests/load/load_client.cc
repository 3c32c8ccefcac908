// load_client PORT SESSIONS CALLS: sessions over TCP on this machine, all at the same time, each of
// which repeats upload, call, download and free, and checks every byte that comes back. A session
// waits for each reply before it goes on. Prints
//
//   exchanges N  seconds S  wait_median MS  wait_most MS  exchange_median US  exchange_most US
//
// where wait is a session's time between commands and their replies, all its exchanges together,
// and exchange is one command's. Exit status 1 if anything was not as it must be.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/data/binary_format.h"

namespace kenaz {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kSteps = 4;  // upload, call, download, free
constexpr std::string_view kOk = "%%% OK\n";

[[noreturn]] void die(const std::string& why) {
  fmt::print(stderr, "load_client: {}\n", why);
  std::exit(1);
}

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string value(const std::vector<int32_t>& elements) {
  const std::array<int64_t, 1> shape{static_cast<int64_t>(elements.size())};
  std::string bytes = data::binary_header(PrimType::kI32, shape);
  const auto* raw = reinterpret_cast<const char*>(elements.data());
  return bytes.append(raw, elements.size() * sizeof(int32_t));
}

/// One client: what it sends, what must come back.
class Session {
 public:
  Session(int number, int calls) : number_(number), calls_(calls) {}

  int fd = -1;
  std::vector<double> exchanges;  // seconds

  void connect(int port) {
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      die(fmt::format("session {}: {}", number_, std::strerror(errno)));
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    expected_ = kOk;  // the greeting
  }

  bool done() const { return call_ == calls_; }
  double waited() const {
    double sum = 0;
    for (const double e : exchanges) sum += e;
    return sum;
  }

  /// Sends the next command. It fits into the socket's buffer, which is empty.
  void send() {
    const std::string text = next_command();
    got_.clear();
    sent_ = Clock::now();
    if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      die(fmt::format("session {}: {}", number_, std::strerror(errno)));
    }
  }

  /// Takes what has come; true if the reply is complete.
  bool receive() {
    std::array<char, 4096> buffer;
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n <= 0) die(fmt::format("session {}: the server closed it", number_));
    got_.append(buffer.data(), static_cast<size_t>(n));
    const bool failed = got_.find("%%% FAILURE") != std::string::npos;  // never within our values
    if ((got_.size() < expected_.size() && !failed) || !got_.ends_with(kOk)) return false;
    check();
    return true;
  }

  /// After a complete reply.
  void advance() {
    exchanges.push_back(since(sent_));
    step_ = (step_ + 1) % kSteps;
    if (step_ == 0) ++call_;
  }

 private:
  std::string next_command() {
    if (step_ == 0) {
      std::vector<int32_t> xs(static_cast<size_t>(1 + (number_ * 7 + call_) % 64)), ys;
      for (size_t i = 0; i < xs.size(); ++i) {
        xs[i] = number_ * 1009 + call_ * 31 + static_cast<int32_t>(i);
        ys.push_back(3 * xs[i] + 7);
      }
      const std::string bytes = value(xs), result = value(ys);
      expected_ = kOk;
      download_ = fmt::format("{}\n{}{}", result.size(), result, kOk);
      return fmt::format("upload {} xs []i32\n{}", bytes.size(), bytes);
    }
    expected_ = step_ == 2 ? download_ : std::string(kOk);
    return step_ == 1 ? "call step ys xs\n" : step_ == 2 ? "download ys\n" : "free xs ys\n";
  }

  void check() {
    std::string_view got = got_;
    if (step_ == 1) {
      if (!got.starts_with("runtime: ")) wrong();
      got.remove_prefix(got.find('\n') + 1);
    }
    if (got != expected_) wrong();
  }
  [[noreturn]] void wrong() {
    die(fmt::format("session {}, call {}, step {}: a reply of {} bytes is wrong: {}", number_,
                    call_, step_, got_.size(), got_.substr(0, 200)));
  }

  const int number_, calls_;
  int call_ = 0, step_ = 0;
  Clock::time_point sent_;
  std::string got_, expected_, download_;
};

void greet(std::vector<Session>& sessions, int port, int poll) {
  for (auto& s : sessions) {
    s.connect(port);
    epoll_event event{EPOLLIN, {.ptr = &s}};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, s.fd, &event) != 0) die("epoll_ctl");
    std::string_view rest = kOk;
    std::array<char, 64> buffer;
    while (!rest.empty()) {
      const ssize_t n = read(s.fd, buffer.data(), rest.size());
      if (n <= 0 || !rest.starts_with(std::string_view(buffer.data(), static_cast<size_t>(n)))) {
        die("no greeting");
      }
      rest.remove_prefix(static_cast<size_t>(n));
    }
  }
}

void converse(std::vector<Session>& sessions, int poll) {
  for (auto& s : sessions) s.send();
  std::array<epoll_event, 256> events;
  for (size_t open = sessions.size(); open > 0;) {
    constexpr int kPatience = 60'000;  // ms without any reply
    const int n = epoll_wait(poll, events.data(), events.size(), kPatience);
    if (n == 0) die(fmt::format("no answer for a minute; {} sessions wait", open));
    for (int i = 0; i < n; ++i) {
      auto& s = *static_cast<Session*>(events[static_cast<size_t>(i)].data.ptr);
      if (!s.receive()) continue;
      s.advance();
      if (s.done()) {
        --open;
      } else {
        s.send();
      }
    }
  }
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void run(int port, int count, int calls) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < static_cast<rlim_t>(count) + 16) die("too few descriptors are allowed");
  std::vector<Session> sessions;
  sessions.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) sessions.emplace_back(i, calls);
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  greet(sessions, port, poll);
  const auto begin = Clock::now();
  converse(sessions, poll);
  const double seconds = since(begin);
  std::vector<double> waits, exchanges;
  for (auto& s : sessions) {
    waits.push_back(s.waited());
    exchanges.insert(exchanges.end(), s.exchanges.begin(), s.exchanges.end());
    close(s.fd);
  }
  fmt::print(
      "exchanges {}  seconds {:.2f}  wait_median {:.1f}  wait_most {:.1f}  exchange_median {:.1f}  "
      "exchange_most {:.1f}\n",
      exchanges.size(), seconds, median(waits) * 1e3,
      *std::max_element(waits.begin(), waits.end()) * 1e3, median(exchanges) * 1e6,
      *std::max_element(exchanges.begin(), exchanges.end()) * 1e6);
}

}  // namespace
}  // namespace kenaz

int main(int argc, char** argv) {
  if (argc != 4) kenaz::die("usage: load_client PORT SESSIONS CALLS");
  kenaz::run(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
  return 0;
}
