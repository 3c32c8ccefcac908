#include "server/session/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kenaz {

namespace {
constexpr size_t kCopiedAtOnce = size_t{8} << 20;  // bytes, before others get a turn
}  // namespace

Result<std::shared_ptr<const SharedMemory>> SharedMemory::map(int fd) {
  const auto mapped = [fd]() -> Result<std::shared_ptr<const SharedMemory>> {
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
      return bad_request("Not a file of memfd_create that cannot become smaller (F_SEAL_SHRINK)");
    }
    struct stat info {};
    if (fstat(fd, &info) != 0) return bad_request(std::strerror(errno));
    const auto bytes = static_cast<size_t>(info.st_size);
    if (bytes == 0) return std::shared_ptr<const SharedMemory>(new SharedMemory({}));
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return bad_request(std::strerror(errno));  // NOLINT: a macro
    return std::shared_ptr<const SharedMemory>(
        new SharedMemory({static_cast<std::byte*>(at), bytes}));
  }();
  close(fd);
  return mapped;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

Result<std::span<std::byte>> SharedMemory::part(int64_t offset, int64_t bytes) const {
  const auto size = static_cast<int64_t>(bytes_.size());
  if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset) {
    return bad_request(fmt::format("The shared memory has {} bytes.", size));
  }
  return bytes_.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
}

// ---- to the server

Stream::Want SharedUpload::want() const {
  const Want want = Upload::want();
  if (want != Want::kInput) return want;
  return has_failed() ? Want::kDone : Want::kAside;
}

void SharedUpload::aside() {
  auto copied = without_exceptions([this] { return copy(); });
  if (!copied) give_up(std::move(copied).error());
}

/// What the client changes meanwhile is looked at only where it has been copied to.
Status SharedUpload::copy() {
  size_t most = kCopiedAtOnce;
  while (most > 0 && want() == Want::kAside) {
    const auto to = input();
    const size_t n = std::min({to.size(), most, left_.size()});
    if (n == 0) return internal_error("an upload of more bytes than there are");
    std::memcpy(to.data(), left_.data(), n);
    advance(n);
    left_ = left_.subspan(n);
    most -= n;
  }
  return {};
}

// ---- from the server

SharedDownload::SharedDownload(const SharedMemoryPtr& memory, std::span<std::byte> to,
                               std::shared_ptr<host::Engine> engine,
                               std::vector<host::LeafPtr> leaves, std::shared_ptr<void> loan)
    : Store(std::move(engine),
            {"the shared memory",
             [memory, to](std::span<const std::byte> bytes) mutable -> Status {
               if (bytes.size() > to.size()) return internal_error("no room in shared memory");
               if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), bytes.size());
               to = to.subspan(bytes.size());
               return {};
             },
             [] { return Status(); }},
            std::move(leaves), std::move(loan)),
      count_(fmt::format("{}\n", bytes())) {}

Stream::Want SharedDownload::want() const {
  const Want want = Store::want();
  if (want != Want::kDone || has_failed()) return want;
  return given_ < count_.size() ? Want::kOutput : Want::kDone;
}

std::span<const std::byte> SharedDownload::output() {
  return std::as_bytes(std::span(count_)).subspan(given_);
}

}  // namespace kenaz
