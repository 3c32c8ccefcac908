#include "client/lib/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace kenaz::client {

Result<std::unique_ptr<SharedMemory>> SharedMemory::make(size_t bytes) {
  const auto failed = [](int fd) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return internal_error(fmt::format("cannot share memory: {}", strerror(error)));
  };
  if (bytes == 0 || bytes > static_cast<size_t>(std::numeric_limits<off_t>::max())) {
    return internal_error("cannot share so much memory");
  }
  // More than a process may write to a file ends it by SIGXFSZ.
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes > limit.rlim_cur) {
    return internal_error("cannot share more memory than a file may have");
  }
  const int fd = ::memfd_create("kenaz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return failed(fd);
  }
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return failed(fd);  // NOLINT: a macro
  return std::unique_ptr<SharedMemory>(new SharedMemory(fd, {static_cast<std::byte*>(at), bytes}));
}

SharedMemory::~SharedMemory() {
  ::munmap(bytes_.data(), bytes_.size());
  ::close(fd_);
}

std::string SharedMemory::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), fd_); }

}  // namespace kenaz::client
