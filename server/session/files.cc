#include "server/session/files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kenaz {
namespace {

tl::unexpected<Error> system_error() { return bad_request(std::strerror(errno)); }

Result<File> as_file(int fd, bool write) {
  File file(fdopen(fd, write ? "wb" : "rb"), std::fclose);
  if (file) return file;
  const auto error = system_error();
  close(fd);
  return error;
}

Result<File> open_below(int folder, const std::string& path, bool write) {
  open_how how{};
  // Not blocking: a pipe below the folder must not hold up everybody. A file is emptied only once
  // it is known to be one.
  how.flags = O_CLOEXEC | O_NONBLOCK | (write ? O_WRONLY | O_CREAT : O_RDONLY);
  how.mode = write ? 0644 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const auto fd = static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  if (fd < 0 && errno == EXDEV) {
    return bad_request("The path leads out of the folder that the server may use (--root).");
  }
  if (fd < 0) return system_error();
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return bad_request("Not a regular file");
  }
  if (write && ftruncate(fd, 0) != 0) {
    const auto error = system_error();
    close(fd);
    return error;
  }
  return as_file(fd, write);
}

}  // namespace

FileAccess FileAccess::none() {
  FileAccess access;
  access.policy_ = Policy::kNone;
  return access;
}

Result<FileAccess> FileAccess::below(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return bad_request(folder + ": " + std::strerror(errno));
  FileAccess access;
  access.policy_ = Policy::kBelow;
  access.folder_ = std::shared_ptr<const int>(new int(fd), [](const int* p) {
    close(*p);
    delete p;
  });
  return access;
}

Result<File> FileAccess::open(const std::string& path, bool write) const {
  if (path.find('\0') != std::string::npos) return bad_request("A path has no NUL bytes.");
  switch (policy_) {
    case Policy::kNone:
      return bad_request("This server opens no files for remote clients (see its option --root).");
    case Policy::kBelow: return open_below(*folder_, path, write);
    case Policy::kAny: break;
  }
  const int flags = O_CLOEXEC | (write ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY);
  const int fd = ::open(path.c_str(), flags, 0666);
  if (fd < 0) return system_error();
  return as_file(fd, write);
}

Result<int> FileAccess::open_shared(const std::string& path) const {
  if (policy_ != Policy::kAny) {
    return bad_request("Only a client that started the server itself shares memory with it.");
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error();
  return fd;
}

}  // namespace kenaz
