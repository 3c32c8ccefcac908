#include "server/cache/file_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "protocol/base/read_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kenaz::cache {

namespace fs = std::filesystem;

namespace {

constexpr char kMagic[8] = {'K', 'N', 'Z', 'S', 'T', 'O', 'R', '1'};
constexpr int64_t kMaxFile = int64_t{1} << 30;

struct Header {
  char magic[8];
  uint64_t key_bytes, data_bytes, hash;  // hash of key and data
};

uint64_t hash_of(const std::string& key, std::span<const std::byte> data) {
  return XXH3_64bits_withSeed(data.data(), data.size(), XXH3_64bits(key.data(), key.size()));
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, const void* from, size_t n) {
  const auto* p = static_cast<const char*>(from);
  while (n > 0) {
    const ssize_t put = ::write(fd, p, n);
    if (put <= 0) return false;
    p += put;
    n -= static_cast<size_t>(put);
  }
  return true;
}

}  // namespace

std::string FileStore::companion(const std::string& key) const {
  return folder_.empty() ? "" : stem(key) + companion_;
}

std::string FileStore::stem(const std::string& key) const {
  const XXH128_hash_t h = XXH3_128bits(key.data(), key.size());
  return fmt::format("{}/{:016x}{:016x}", folder_, h.high64, h.low64);
}

std::optional<std::string> FileStore::get(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  auto file = read_regular_file(stem(key) + extension_, kMaxFile);
  Header header{};
  if (!file || file->size() < sizeof header + key.size()) return std::nullopt;
  std::memcpy(&header, file->data(), sizeof header);
  const std::string_view rest = std::string_view(*file).substr(sizeof header);
  const auto data = std::as_bytes(std::span(rest.substr(key.size())));
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.key_bytes != key.size() ||
      header.data_bytes != data.size() || !rest.starts_with(key) ||
      header.hash != hash_of(key, data)) {
    return std::nullopt;
  }
  file->erase(0, sizeof header + key.size());
  return std::move(*file);
}

void FileStore::put(const std::string& key, std::span<const std::byte> data) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  make_room();
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_bytes = key.size();
  header.data_bytes = data.size();
  header.hash = hash_of(key, data);
  const std::string target = stem(key) + extension_;
  static std::atomic<uint64_t> number = 0;  // several threads may put the same key
  const std::string temporary = fmt::format("{}.{}.{}.tmp", target, ::getpid(), number++);
  File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644));
  if (file.fd() < 0) return;
  bool ok = write_all(file.fd(), &header, sizeof header) &&
            write_all(file.fd(), key.data(), key.size()) &&
            write_all(file.fd(), data.data(), data.size()) && ::fsync(file.fd()) == 0;
  ok = file.close() && ok;
  ok = ok && ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!ok) ::unlink(temporary.c_str());
}

void FileStore::make_room() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == extension_) {
      files.emplace_back(it->last_write_time(ignored), it->path());
    }
  }
  if (files.size() < kMaxFiles) return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() / 2);
  for (auto& [time, path] : files) {
    fs::remove(path, error);
    if (!companion_.empty()) fs::remove(path.replace_extension(companion_), error);
  }
}

}  // namespace kenaz::cache
