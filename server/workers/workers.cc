#include "server/workers/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "server/workers/process_memory.h"

namespace kenaz {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{50};
constexpr std::chrono::seconds kLastWait{3};  // for processes that the system does not end

std::string system_says(int error) { return std::strerror(error); }

std::string how(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

/// A pair of connected sockets, neither of which has the number of one of a worker's.
bool make_sockets(int (&pair)[2]) {
  int made[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made) != 0) return false;
  constexpr int kLeast = 16;
  for (int i = 0; i < 2; ++i) {
    pair[i] = fcntl(made[i], F_DUPFD_CLOEXEC, kLeast);
    close(made[i]);
  }
  if (pair[0] >= 0 && pair[1] >= 0) return true;
  for (const int fd : pair) {
    if (fd >= 0) close(fd);
  }
  return false;
}

/// Of this process, but that Mesa is to keep its hands off files.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("MESA_SHADER_CACHE_DISABLE=")) all.push_back(*entry);
  }
  all.push_back("MESA_SHADER_CACHE_DISABLE=true");
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

// ---- a process

void WorkerProcess::kill(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (status_) return;  // the number may be somebody else's by now
  if (why_.empty()) why_ = why;
  ::kill(static_cast<pid_t>(pid_), SIGKILL);
}

bool WorkerProcess::has_ended() const {
  const std::lock_guard lock(mutex_);
  return status_.has_value();
}

std::string WorkerProcess::how_it_ended() {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, kLastWait, [this] { return status_.has_value(); })) {
    return why_.empty() ? "it does not answer" : why_;
  }
  return why_.empty() ? how(*status_) : why_;
}

bool WorkerProcess::reap() {
  const std::lock_guard lock(mutex_);
  int status = 0;
  const pid_t ended = waitpid(static_cast<pid_t>(pid_), &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  status_ = status;
  ended_.notify_all();
  return true;
}

void WorkerProcess::log_end() const {
  const std::lock_guard lock(mutex_);
  if (why_.empty()) spdlog::warn("process {} of a loaded program ended: {}", pid_, how(*status_));
}

Worker::~Worker() {
  process_->kill("it is not needed any more");
  close(talk_);
  close(control_);
}

// ---- all

Workers::Workers(What what) : what_(std::move(what)), thread_([this] { run(); }) {}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<std::unique_ptr<Worker>> Workers::start(const std::string& device) {
  int talk[2], control[2];
  if (!make_sockets(talk)) return internal_error("no process: " + system_says(errno));
  if (!make_sockets(control)) {
    const int error = errno;
    for (const int fd : talk) close(fd);
    return internal_error("no process: " + system_says(error));
  }
  Order order{talk[1], control[1], device, std::nullopt};
  {
    std::unique_lock lock(mutex_);
    orders_.push_back(&order);
    changed_.notify_all();
    changed_.wait(lock, [&] { return order.outcome.has_value(); });
  }
  close(talk[1]);
  close(control[1]);
  if (*order.outcome) {
    return std::make_unique<Worker>(std::move(**order.outcome), talk[0], control[0]);
  }
  close(talk[0]);
  close(control[0]);
  return tl::make_unexpected(std::move(*order.outcome).error());
}

void Workers::end_all(const std::string& why) {
  const std::lock_guard lock(mutex_);
  for (const auto& process : processes_) process->kill(why);
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  std::optional<std::chrono::steady_clock::time_point> until;
  while (true) {
    const auto is_wanted = [this] { return stopped_ || !orders_.empty(); };
    if (stopped_) {
      changed_.wait_for(lock, kBetweenChecks);
    } else if (processes_.empty()) {
      changed_.wait(lock, is_wanted);
    } else {
      changed_.wait_for(lock, kBetweenChecks, is_wanted);
    }
    while (!orders_.empty()) {
      Order* order = orders_.front();
      orders_.pop_front();
      order->outcome = stopped_ ? internal_error("the server ends") : spawn(*order);
      if (*order->outcome) processes_.push_back(**order->outcome);
      changed_.notify_all();
    }
    look_after();
    if (!stopped_) continue;
    const auto now = std::chrono::steady_clock::now();
    if (!until) until = now + kLastWait;
    for (const auto& process : processes_) process->kill("the server ends");
    if (processes_.empty() || now > *until) return;
  }
}

/// In a process that is started like this, this thread's end is noticed (see serve_worker).
Result<std::shared_ptr<WorkerProcess>> Workers::spawn(const Order& order) const {
  std::vector<std::string> words{what_.command.empty() ? "kenaz-server" : what_.command[0],
                                 "--worker"};
  for (size_t i = 1; i < what_.command.size(); ++i) words.push_back(what_.command[i]);
  if (!order.device.empty()) words.insert(words.begin() + 2, "--worker-device=" + order.device);
  auto variables = environment();
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, order.talk, kWorkerTalk);
  posix_spawn_file_actions_adddup2(&files, order.control, kWorkerControl);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", &files, &attributes, pointers(words).data(),
                                pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return internal_error("no process: " + system_says(error));
  return std::make_shared<WorkerProcess>(pid);
}

void Workers::look_after() {
  for (auto it = processes_.begin(); it != processes_.end();) {
    const auto process = it++;
    if ((*process)->reap()) {
      (*process)->log_end();
      processes_.erase(process);
    } else if (what_.memory > 0 && process_memory(std::to_string((*process)->pid())).resident >
                                       what_.spare + what_.memory) {
      (*process)->kill(
          fmt::format("it used more than {} bytes of memory (--loaded-memory)", what_.memory));
    }
  }
}

}  // namespace kenaz
