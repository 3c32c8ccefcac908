// startup BARE SERVER [SERVER-OPTIONS...] PROG.fut: how long the server takes from its start to the
// first "%%% OK", against a bare Vulkan program that says the same. Both are timed in turn, in one
// run; prints medians in milliseconds and their ratio.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Starts `argv`; its standard output comes out of the file descriptor. -1: could not.
int start(char* const* argv, pid_t& pid, int& to_child) {
  int out[2], in[2];
  if (pipe(out) != 0 || pipe(in) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  for (int fd : {out[0], out[1], in[0], in[1]}) posix_spawn_file_actions_addclose(&actions, fd);
  const int failed = posix_spawn(&pid, argv[0], &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(in[0]);
  to_child = in[1];
  return failed != 0 ? -1 : out[0];
}

/// Milliseconds until the child says that it is ready. Negative if it did not.
double time_to_ready(char* const* argv) {
  const auto begin = Clock::now();
  pid_t pid = 0;
  int to_child = -1;
  const int out = start(argv, pid, to_child);
  if (out < 0) return -1;
  std::string said;
  char buffer[4096];
  double ms = -1;
  while (true) {
    const ssize_t n = read(out, buffer, sizeof buffer);
    if (n <= 0) break;
    said.append(buffer, static_cast<size_t>(n));
    if (ms < 0 && said.find("%%% OK\n") != std::string::npos) {
      ms = ms_since(begin);
      close(std::exchange(to_child, -1));  // the end of its input ends it
    }
  }
  if (to_child >= 0) close(to_child);
  close(out);
  waitpid(pid, nullptr, 0);
  return ms;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kRounds = 21;
  if (argc < 4) {
    std::fprintf(stderr, "usage: startup BARE SERVER [SERVER-OPTIONS...] PROG.fut\n");
    return 1;
  }
  char* const bare_argv[] = {argv[1], nullptr};
  std::vector<double> bare, server;
  const double cold = time_to_ready(argv + 2);
  for (int i = 0; i < kRounds; ++i) {
    bare.push_back(time_to_ready(bare_argv));
    server.push_back(time_to_ready(argv + 2));
    if (bare.back() < 0 || server.back() < 0) {
      std::fprintf(stderr, "%s did not get ready\n", bare.back() < 0 ? argv[1] : argv[2]);
      return 1;
    }
  }
  std::printf("bare %.2f ms  server %.2f ms (first time %.2f)  ratio %.2f\n", median(bare),
              median(server), cold, median(server) / median(bare));
  return 0;
}
