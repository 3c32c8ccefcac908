#include "protocol/base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kenaz {
namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

/// Why a path cannot be opened. A link that leads nowhere is there.
tl::unexpected<Error> not_opened(const std::string& path, int why) {
  if (why != ENOENT && why != ENOTDIR) return bad_request(std::strerror(why));
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) return bad_request("It is a link to no file.");
  return fail(ErrorKind::kNoSuchFile, std::strerror(why));
}

}  // namespace

Result<std::string> read_regular_file(const std::string& path, int64_t max_bytes) {
  // Without waiting for a pipe's other end, or taking a terminal as this process's own.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (file.number < 0) return not_opened(path, errno);
  struct stat info {};
  if (::fstat(file.number, &info) != 0) return bad_request(std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return bad_request("It is a directory.");
  if (!S_ISREG(info.st_mode)) return bad_request("It is not a regular file.");
  const auto too_long = [&] {
    return bad_request("It has more than " + std::to_string(max_bytes) + " bytes.");
  };
  if (info.st_size > max_bytes) return too_long();
  std::string text;
  constexpr int64_t kPiece = 1 << 16;
  // One more than it has, to see the end; some say that they have none.
  int64_t piece = info.st_size + 1;
  while (true) {
    const size_t had = text.size();
    text.resize(had + static_cast<size_t>(piece));
    const ssize_t got = ::read(file.number, text.data() + had, static_cast<size_t>(piece));
    if (got < 0 && errno != EINTR) return bad_request(std::strerror(errno));
    text.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
    if (static_cast<int64_t>(text.size()) > max_bytes) return too_long();
    const auto room = static_cast<int64_t>(text.capacity() - text.size());
    piece = room > 0 ? room : kPiece;
  }
}

}  // namespace kenaz
