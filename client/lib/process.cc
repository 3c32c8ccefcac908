#include "client/lib/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "client/lib/pipes.h"

namespace kenaz::client {
namespace {

// A reply line longer than this is a server gone wrong.
constexpr size_t kMaxAnswerLine = size_t{256} << 20;

tl::unexpected<Error> system_error(std::string_view what) {
  return internal_error(fmt::format("{}: {}", what, strerror(errno)));
}

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

int poll_timeout(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

/// Waits until one of the events is possible; false at the deadline. A descriptor of -1 is ignored.
Result<bool> wait_for(std::span<pollfd> fds, Deadline deadline) {
  for (;;) {
    const int n = ::poll(fds.data(), fds.size(), poll_timeout(deadline));
    if (n > 0) return true;
    if (n == 0) return false;
    if (errno != EINTR) return system_error("poll");
  }
}

Result<bool> wait_for(int fd, short events, Deadline deadline) {
  pollfd p{fd, events, 0};
  return wait_for({&p, 1}, deadline);
}

struct ChildSetup {
  int in, out, err;  // to become 0, 1, 2; err -1: stays
  int report;        // errno is written here if exec fails
  int64_t memory_limit;
  bool ignores_interrupts;
  pid_t parent;
};

// Between fork and exec only async-signal-safe calls are allowed: other threads may hold locks.
[[noreturn]] void run_child(const ChildSetup& s, char* const* argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != s.parent) ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  // Where SIGINT waits for a thread of ours (remove_temp_dirs_when_killed), which needs a moment,
  // the server should not end before us, as of an error. It is killed when we end.
  sigset_t blocked;
  ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
  if (s.ignores_interrupts || sigismember(&blocked, SIGINT) == 1) ::signal(SIGINT, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigdelset(&blocked, signal);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  if (s.memory_limit > 0) {
    const rlimit limit{static_cast<rlim_t>(s.memory_limit), static_cast<rlim_t>(s.memory_limit)};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (::dup2(s.in, 0) >= 0 && ::dup2(s.out, 1) >= 0 && (s.err < 0 || ::dup2(s.err, 2) >= 0)) {
    ::execvp(argv[0], argv);
  }
  const int error = errno;
  [[maybe_unused]] const auto n = ::write(s.report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

std::string ExitStatus::text() const {
  if (signal != 0) return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  return fmt::format("exited with code {}", code);
}

Result<std::unique_ptr<Process>> Process::spawn(const ProcessOptions& options) {
  // The child's input is a socket, as a write to it can be told not to raise SIGPIPE.
  int input[2] = {-1, -1}, output[2] = {-1, -1}, report[2] = {-1, -1};
  int err = -1;
  auto close_all = [&] {
    for (int* fd : {&input[0], &input[1], &output[0], &output[1], &report[0], &report[1], &err}) {
      close_fd(*fd);
    }
  };
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) < 0 ||
      ::pipe2(output, O_CLOEXEC) < 0 || ::pipe2(report, O_CLOEXEC) < 0) {
    auto error = system_error("cannot make pipes");
    close_all();
    return error;
  }
  if (!options.stderr_path.empty()) {
    err = ::open(options.stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (err < 0) {
      auto error = system_error(options.stderr_path);
      close_all();
      return error;
    }
  }
  widen_pipe(output[0]);
  std::vector<char*> argv;
  for (const auto& a : options.argv) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const ChildSetup setup{
      input[1],  output[1], err, report[1], options.memory_limit, options.ignores_interrupts,
      ::getpid()};
  const pid_t pid = ::fork();
  if (pid == 0) run_child(setup, argv.data());
  if (pid < 0) {
    auto error = system_error("fork");
    close_all();
    return error;
  }
  close_fd(input[1]);
  close_fd(output[1]);
  close_fd(report[1]);
  int child_errno = 0;
  ssize_t got;
  do {
    got = ::read(report[0], &child_errno, sizeof child_errno);  // end of file: exec worked
  } while (got < 0 && errno == EINTR);
  std::unique_ptr<Process> process(new Process(pid, input[0], output[0]));
  input[0] = output[0] = -1;
  close_all();
  if (got == sizeof child_errno) {
    errno = child_errno;
    return system_error(fmt::format("cannot start {}", options.argv[0]));
  }
  ::fcntl(process->in_, F_SETFL, O_NONBLOCK);
  ::fcntl(process->out_, F_SETFL, O_NONBLOCK);
  return process;
}

Process::~Process() {
  close_fd(in_);
  close_fd(out_);
  kill();
}

Status Process::write(std::string_view text, Deadline deadline) {
  while (!text.empty()) {
    if (in_ < 0) return internal_error("its input is closed");
    const auto n = ::send(in_, text.data(), text.size(), MSG_NOSIGNAL);
    if (n > 0) {
      text.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {
      pollfd fds[2] = {{in_, POLLOUT, 0}, {out_, POLLIN, 0}};
      KENAZ_ASSIGN(const bool ready, wait_for(fds, deadline));
      if (!ready) return internal_error("it does not read its input");
      if (fds[1].revents != 0) KENAZ_TRY(take_output());
    } else if (errno != EINTR) {
      return system_error("cannot write to it");
    }
  }
  return {};
}

Result<bool> Process::take_output() {
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = scanned_ = 0;
  }
  char chunk[65536];
  for (;;) {
    const auto n = ::read(out_, chunk, sizeof chunk);
    if (n > 0) {
      buffer_.append(chunk, static_cast<size_t>(n));
      return true;
    }
    if (n == 0) {
      close_fd(out_);
      return true;
    }
    if (errno == EAGAIN) return false;
    if (errno != EINTR) return system_error("cannot read from it");
  }
}

Result<size_t> Process::read_some(std::span<char> out, Deadline deadline) {
  if (begin_ < buffer_.size()) {
    const size_t n = std::min(out.size(), buffer_.size() - begin_);
    std::memcpy(out.data(), buffer_.data() + begin_, n);
    begin_ += n;
    scanned_ = std::max(scanned_, begin_);
    return n;
  }
  for (;;) {
    if (out_ < 0) return size_t{0};
    const auto n = ::read(out_, out.data(), out.size());
    if (n > 0) return static_cast<size_t>(n);
    if (n == 0) {
      close_fd(out_);
    } else if (errno == EAGAIN) {
      KENAZ_ASSIGN(const bool ready, wait_for(out_, POLLIN, deadline));
      if (!ready) return internal_error("it does not answer in time");
    } else if (errno != EINTR) {
      return system_error("cannot read from it");
    }
  }
}

Result<std::optional<std::string>> Process::read_line(Deadline deadline) {
  for (;;) {
    if (const auto at = buffer_.find('\n', scanned_); at != std::string::npos) {
      std::optional<std::string> line = buffer_.substr(begin_, at - begin_);
      begin_ = scanned_ = at + 1;
      return line;
    }
    scanned_ = buffer_.size();
    if (buffer_.size() - begin_ > kMaxAnswerLine)
      return internal_error("it sends a line without an end");
    if (out_ < 0) return std::optional<std::string>();
    KENAZ_ASSIGN(const bool any, take_output());
    if (any) continue;
    KENAZ_ASSIGN(const bool ready, wait_for(out_, POLLIN, deadline));
    if (!ready) return internal_error("it does not answer in time");
  }
}

Result<ExitStatus> Process::finish(Deadline deadline) {
  const auto status = wait(deadline);
  if (!status) return internal_error("it does not end when its input does");
  return *status;
}

std::string Process::ending() {
  const auto status = wait(deadline_in(2));
  return status ? status->text() : "closed its output";
}

void Process::close_input() { close_fd(in_); }

bool Process::reap(int flags) {
  if (status_) return true;
  int raw = 0;
  pid_t got;
  do {
    got = ::waitpid(pid_, &raw, flags);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return false;
  ExitStatus status;
  if (got > 0 && WIFSIGNALED(raw)) status.signal = WTERMSIG(raw);
  if (got > 0 && WIFEXITED(raw)) status.code = WEXITSTATUS(raw);
  status_ = status;
  return true;
}

std::optional<ExitStatus> Process::wait(Deadline deadline) {
  auto pause = std::chrono::microseconds(200);
  while (!reap(WNOHANG)) {
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(10000));
  }
  return status_;
}

ExitStatus Process::kill() {
  if (!reap(WNOHANG)) {
    ::kill(pid_, SIGKILL);
    reap(0);
  }
  return *status_;
}

Result<ExitStatus> run_to_end(const ProcessOptions& options, Deadline deadline) {
  KENAZ_ASSIGN(auto process, Process::spawn(options));
  process->close_input();
  for (;;) {
    KENAZ_ASSIGN(const auto line, process->read_line(deadline));
    if (!line) break;
  }
  if (const auto status = process->wait(deadline)) return *status;
  return internal_error("it does not end in time");
}

}  // namespace kenaz::client
