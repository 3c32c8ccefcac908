#include "server/device/vulkan/wake_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "server/device/vulkan/context.h"

extern char** environ;

namespace kenaz::device::vulkan {

void WakeProcess::wake() {
  if (pid_ != 0) {
    if (ask()) return;
    end();
    --starts_left_;
  }
  if (starts_left_ > 0 && start()) ask();
}

void WakeProcess::end() {
  if (pid_ == 0) return;
  close(requests_);
  kill(pid_, SIGKILL);  // it may be making a device
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

bool WakeProcess::ask() const {
  const char one = 0;
  return send(requests_, &one, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || errno == EAGAIN;
}

bool WakeProcess::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  std::vector<char*> words;
  for (auto& word : command_) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawn(&pid_, words[0], &files, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  requests_ = ends[0];
  if (error == 0) return true;
  close(requests_);
  pid_ = 0;
  return false;
}

}  // namespace kenaz::device::vulkan

namespace kenaz::device {

Status answer_waker(const VulkanOptions& options, int requests) {
  // The instance stays: calls of other processes do wait for one that is being made.
  KENAZ_ASSIGN(const std::shared_ptr<vulkan::Instance> instance,
               vulkan::Instance::create(options.validation, options.faults));
  while (true) {
    char one = 0;
    const ssize_t got = read(requests, &one, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    KENAZ_TRY(vulkan::Context::create(options, instance));
  }
}

}  // namespace kenaz::device
