#include "server/programs/sources.h"

#include <sys/stat.h>

#include "server/cache/program_cache.h"

namespace kenaz {

namespace {

/// File systems tell times apart by some milliseconds; so old, a file shows that it has changed.
constexpr std::chrono::seconds kOldEnough{2};

/// Of what the files hold, in the order of their paths.
class Total {
 public:
  void add(const std::string& path, uint64_t hash) {
    text_ += path + '\n' + std::to_string(hash) + '\n';
  }
  uint64_t value() const { return text_.empty() ? 0 : cache::hash_text(text_); }

 private:
  std::string text_;
};

}  // namespace

Sources::Stamp Sources::stamp_of(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return {};
  return {
      std::chrono::seconds(file.st_ctim.tv_sec) + std::chrono::nanoseconds(file.st_ctim.tv_nsec),
      file.st_dev, file.st_ino, file.st_size};
}

Result<std::string> Sources::read(const std::string& path) {
  const Stamp before = stamp_of(path);
  auto text = read_(path);
  const uint64_t hash = cache::hash_of(text);
  files_.emplace(path, File{before, hash, hash});
  return text;
}

uint64_t Sources::noted() const {
  Total total;
  for (const auto& [path, file] : files_) total.add(path, file.hash);
  return total.value();
}

uint64_t Sources::now(bool all) {
  const auto young = std::chrono::system_clock::now().time_since_epoch() - kOldEnough;
  Total total;
  for (auto& [path, file] : files_) {
    const Stamp stamp = stamp_of(path);
    if (all || file.seen <= cache::kUnreadable || stamp != file.stamp || stamp.changed > young) {
      file.stamp = stamp;
      file.seen = cache::hash_of(read_(path));
    }
    total.add(path, file.seen);
  }
  return total.value();
}

}  // namespace kenaz
