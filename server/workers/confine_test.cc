#include "server/workers/confine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "protocol/base/sanitizers.h"

namespace kenaz {
namespace {

/// What `body` says, in a process of its own that has been confined; -1: it could not be.
int in_confinement(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const bool good = confine({int64_t{1} << 30, false}).has_value();
    _exit(good ? body() : 255);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? static_cast<int8_t>(WEXITSTATUS(status)) : 1000 + WTERMSIG(status);
}

/// The error with which it fails.
int error_of(long result) { return result < 0 ? errno : 0; }

// Sanitizers look about when a thread begins, and reserve terabytes.
#if !KENAZ_IS_SANITIZED
TEST(Confine, LeavesMemoryThreadsAndOpenFiles) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(in_confinement([&] {
              int sum = 0;
              std::thread([&] { sum = 40; }).join();
              char byte = 2;
              if (write(pipe_ends[1], &byte, 1) != 1 || read(pipe_ends[0], &byte, 1) != 1) return 1;
              return sum + byte;
            }),
            42);
  for (const int fd : pipe_ends) close(fd);
}

TEST(Confine, HasSoMuchMemory) {
  EXPECT_EQ(in_confinement([] {
              constexpr size_t kMuch = size_t{4} << 30;
              volatile auto* const p = static_cast<char*>(std::malloc(kMuch));
              return p == nullptr ? 1 : 2;
            }),
            1);
}
#endif

TEST(Confine, OpensNoFile) {
  EXPECT_EQ(in_confinement([] { return error_of(open("/etc/passwd", O_RDONLY)); }), EPERM);
  EXPECT_EQ(in_confinement([] { return error_of(open("/tmp/kenaz", O_CREAT | O_RDWR, 0600)); }),
            EPERM);
  EXPECT_EQ(in_confinement([] { return error_of(unlink("/tmp/kenaz")); }), EPERM);
  EXPECT_EQ(in_confinement([] { return error_of(chdir("/")); }), EPERM);
}

TEST(Confine, HasNoNetwork) {
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) {
    EXPECT_EQ(in_confinement([=] { return error_of(socket(family, SOCK_STREAM, 0)); }), EPERM);
  }
}

TEST(Confine, StartsNoProcess) {
  EXPECT_EQ(in_confinement([] {
              const pid_t child = fork();
              if (child == 0) _exit(0);
              return error_of(child);
            }),
            EPERM);
  EXPECT_EQ(in_confinement([] { return error_of(execl("/bin/true", "true", nullptr)); }), EPERM);
}

TEST(Confine, DoesNothingToOtherProcesses) {
  const pid_t parent = getpid();
  EXPECT_EQ(in_confinement([=] { return error_of(kill(parent, 0)); }), EPERM);
  EXPECT_EQ(in_confinement([=] { return error_of(syscall(SYS_tgkill, parent, parent, 0)); }),
            EPERM);
  EXPECT_EQ(in_confinement([=] { return error_of(ptrace(PTRACE_ATTACH, parent, 0, 0)); }), EPERM);
  EXPECT_EQ(in_confinement([=] { return error_of(syscall(SYS_pidfd_open, parent, 0)); }), EPERM);
}

TEST(Confine, MayEndItself) {
  EXPECT_EQ(in_confinement([]() -> int { std::abort(); }), 1000 + SIGABRT);
}

}  // namespace
}  // namespace kenaz
