#include "client/lib/file_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace kenaz::client {

namespace {

constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE |
                             IN_MODIFY | IN_DELETE_SELF | IN_ONLYDIR;
constexpr double kLongest = 2;  // seconds of changes that are taken together

std::string joined(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).lexically_normal().string();
}

}  // namespace

Result<FileWatch> FileWatch::create() {
  const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return internal_error(std::string("cannot watch files: ") + std::strerror(errno));
  return FileWatch(fd);
}

FileWatch::~FileWatch() {
  if (fd_ >= 0) ::close(fd_);
}

FileWatch::FileWatch(FileWatch&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), folders_(std::move(other.folders_)) {}

void FileWatch::watch(const std::set<std::string>& folders) {
  std::map<int, std::string> now;
  for (const std::string& folder : folders) {
    const int id = inotify_add_watch(fd_, folder.c_str(), kEvents);
    if (id >= 0) now.emplace(id, folder);
  }
  for (const auto& [id, folder] : folders_) {
    if (now.count(id) == 0) inotify_rm_watch(fd_, id);
  }
  folders_ = std::move(now);
}

void FileWatch::take(std::set<std::string>& changed) {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (ssize_t n; (n = ::read(fd_, buffer.data(), buffer.size())) > 0;) {
    for (ssize_t at = 0; at < n;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      const auto folder = folders_.find(event.wd);
      if ((event.mask & IN_Q_OVERFLOW) != 0) changed.insert("");
      if (folder == folders_.end() || event.len == 0) continue;
      changed.insert(joined(folder->second, name));
    }
  }
}

Result<std::set<std::string>> FileWatch::wait(int stop, double quiet) {
  std::set<std::string> changed;
  const Deadline last = deadline_in(kLongest);
  for (;;) {
    std::array<pollfd, 2> fds = {{{fd_, POLLIN, 0}, {stop, POLLIN, 0}}};
    const int timeout = changed.empty() ? -1 : static_cast<int>(quiet * 1000);
    const int ready = ::poll(fds.data(), fds.size(), timeout);
    if (ready < 0 && errno != EINTR) {
      return internal_error(std::string("cannot wait for files: ") + std::strerror(errno));
    }
    if (ready > 0 && fds[1].revents != 0) return std::set<std::string>();
    if (ready == 0) return changed;
    if (ready > 0 && fds[0].revents != 0) take(changed);
    if (!changed.empty() && Clock::now() > last) return changed;
  }
}

}  // namespace kenaz::client
