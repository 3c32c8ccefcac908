// transfer SERVER [OPTION..] PROG.fut: how fast a value of 1 GiB is uploaded and downloaded over a
// Unix socket, against plain copies of as many bytes from one process's memory over a Unix socket
// into fresh memory of another. Measured in turn, in one run. Prints medians in GB/s, and ratios.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/sockets/server_under_test.h"
#include "protocol/data/binary_format.h"

namespace kenaz::bench {
namespace {

constexpr size_t kBytes = size_t{1} << 30;
constexpr int kRounds = 7;
using Clock = std::chrono::steady_clock;

double rate_since(Clock::time_point begin) {
  return static_cast<double>(kBytes) / 1e9 /
         std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Memory that nobody has touched yet.
class Fresh {
 public:
  explicit Fresh(size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) die("no memory");
  }
  ~Fresh() { munmap(data_, bytes_); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;
  void* data() const { return data_; }

 private:
  size_t bytes_;
  void* data_;
};

/// Another process, at the other end of a Unix socket.
template <class Body>
Fd in_child(pid_t& pid, Body body) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) die("no socket pair");
  pid = fork();
  if (pid == 0) {
    close(ends[0]);
    body(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return Fd(ends[0]);
}

double plain_upload(const void* data) {
  pid_t pid = 0;
  const Fd fd = in_child(pid, [](int end) {
    const Fresh memory(kBytes);
    read_all(end, memory.data(), kBytes);
    write_all(end, "!");
  });
  const auto begin = Clock::now();
  write_all(fd.get(), data, kBytes);
  char answer = 0;
  read_all(fd.get(), &answer, 1);
  const double rate = rate_since(begin);
  waitpid(pid, nullptr, 0);
  return rate;
}

double plain_download(const void* data) {
  pid_t pid = 0;
  const Fd fd = in_child(pid, [data](int end) {
    char question = 0;
    read_all(end, &question, 1);
    write_all(end, data, kBytes);
  });
  const Fresh memory(kBytes);
  const auto begin = Clock::now();
  write_all(fd.get(), "?");
  read_all(fd.get(), memory.data(), kBytes);
  const double rate = rate_since(begin);
  waitpid(pid, nullptr, 0);
  return rate;
}

void expect_ok(int fd) {
  std::string reply;
  read_until(fd, reply, "%%% OK\n");
  if (reply != "%%% OK\n") die("the server says " + reply);
}

double server_upload(int fd, const void* data, const std::string& header) {
  const auto begin = Clock::now();
  write_all(fd, "upload " + std::to_string(header.size() + kBytes) + " v []i32\n" + header);
  write_all(fd, data, kBytes);
  expect_ok(fd);
  return rate_since(begin);
}

double server_download(int fd, const void* data, const std::string& header) {
  const Fresh memory(kBytes);
  std::string start = std::to_string(header.size() + kBytes) + "\n" + header;
  const std::string wanted = start;
  const auto begin = Clock::now();
  write_all(fd, "download v\n");
  read_all(fd, start.data(), start.size());
  read_all(fd, memory.data(), kBytes);
  expect_ok(fd);
  const double rate = rate_since(begin);
  if (start != wanted || std::memcmp(memory.data(), data, kBytes) != 0) {
    die("what was downloaded is not what was uploaded");
  }
  return rate;
}

struct Rates {
  std::vector<double> plain, server;
  void print(const char* what) const {
    const double p = median(plain), s = median(server);
    std::printf("%s: plain %.2f GB/s  server %.2f GB/s  ratio %.2f\n", what, p, s, s / p);
  }
};

int run(const std::vector<std::string>& command) {
  const ServerUnderTest server(command);
  std::printf("1 GiB of i32, server on %s, CPUs: %ld\n", server.device().c_str(),
              sysconf(_SC_NPROCESSORS_ONLN));
  std::vector<uint32_t> values(kBytes / sizeof(uint32_t));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint32_t>(i) * 2654435761U;
  const std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
  const std::string header = data::binary_header(PrimType::kI32, shape);
  const Fd fd = connect_unix(server.path());
  expect_ok(fd.get());
  Rates up, down;
  for (int round = 0; round < kRounds; ++round) {
    up.plain.push_back(plain_upload(values.data()));
    up.server.push_back(server_upload(fd.get(), values.data(), header));
    down.plain.push_back(plain_download(values.data()));
    down.server.push_back(server_download(fd.get(), values.data(), header));
    write_all(fd.get(), "clear\n");  // so that the server's next memory is as fresh
    expect_ok(fd.get());
  }
  up.print("upload");
  down.print("download");
  return 0;
}

}  // namespace
}  // namespace kenaz::bench

int main(int argc, char** argv) {
  if (argc < 3) kenaz::bench::die("usage: transfer SERVER [OPTION..] PROG.fut");
  return kenaz::bench::run({argv + 1, argv + argc});
}
