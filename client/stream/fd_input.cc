#include "client/stream/fd_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace kenaz::stream {

FdInput::FdInput(int fd, std::string name)
    : fd_(fd), wake_(::eventfd(0, EFD_CLOEXEC)), name_(std::move(name)) {}

FdInput::~FdInput() {
  if (wake_ >= 0) ::close(wake_);
}

void FdInput::stop() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(wake_, &one, sizeof one);
}

Result<size_t> FdInput::read_some(std::span<std::byte> out) {
  while (!ended_ && !out.empty()) {
    pollfd fds[2] = {{fd_, POLLIN, 0}, {wake_, POLLIN, 0}};
    ssize_t n = ::poll(fds, 2, -1);
    if (n > 0 && fds[1].revents != 0) {
      ended_ = true;
      break;
    }
    if (n > 0) n = ::read(fd_, out.data(), out.size());
    if (n > 0) return static_cast<size_t>(n);
    if (n == 0) {
      ended_ = true;
    } else if (errno != EINTR && errno != EAGAIN) {
      return internal_error(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
    }
  }
  return size_t{0};
}

Status FdInput::read_fully(std::span<std::byte> out, size_t& have) {
  have = 0;
  while (have < out.size()) {
    KENAZ_ASSIGN(const size_t n, read_some(out.subspan(have)));
    if (n == 0) break;
    have += n;
  }
  return {};
}

}  // namespace kenaz::stream
