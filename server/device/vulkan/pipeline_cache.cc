#include "server/device/vulkan/pipeline_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "protocol/base/read_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kenaz::device::vulkan {

namespace {

constexpr char kMagic[8] = {'K', 'N', 'Z', 'P', 'I', 'P', 'E', '1'};
constexpr int64_t kMaxFile = int64_t{1} << 30;

/// Compared and hashed bytewise: no padding.
struct Header {
  char magic[8];
  uint32_t vendor, device, driver_version, zero;
  uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE], cache_uuid[VK_UUID_SIZE];
  uint64_t payload_bytes, payload_hash, header_hash;
};
static_assert(sizeof(Header) == 8 + 16 + 48 + 24);

Header make_header(const PhysicalDevice& device, const std::vector<char>& payload) {
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.vendor = device.vendor_id;
  h.device = device.device_id;
  h.driver_version = device.driver_version;
  std::memcpy(h.device_uuid, device.device_uuid, VK_UUID_SIZE);
  std::memcpy(h.driver_uuid, device.driver_uuid, VK_UUID_SIZE);
  std::memcpy(h.cache_uuid, device.cache_uuid, VK_UUID_SIZE);
  h.payload_bytes = payload.size();
  h.payload_hash = XXH3_64bits(payload.data(), payload.size());
  h.header_hash = XXH3_64bits(&h, offsetof(Header, header_hash));
  return h;
}

/// An open file descriptor, closed with the object.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool close() {
    if (fd_ < 0) return true;
    return ::close(std::exchange(fd_, -1)) == 0;
  }

 private:
  int fd_;
};

std::optional<std::vector<char>> read_file(const std::string& path) {
  const auto bytes = read_regular_file(path, kMaxFile);
  if (!bytes) return {};
  return std::vector(bytes->begin(), bytes->end());
}

bool write_file(const std::string& path, const std::vector<char>& bytes) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0644));
  if (file.fd() < 0) return false;
  size_t put = 0;
  bool ok = true;
  while (ok && put < bytes.size()) {
    const ssize_t n = ::write(file.fd(), bytes.data() + put, bytes.size() - put);
    ok = n > 0;
    if (ok) put += static_cast<size_t>(n);
  }
  ok = ok && ::fsync(file.fd()) == 0;
  ok = file.close() && ok;
  ok = ok && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!ok) ::unlink(temporary.c_str());
  return ok;
}

}  // namespace

std::vector<char> wrap_cache(const PhysicalDevice& device, const std::vector<char>& payload) {
  const Header header = make_header(device, payload);
  std::vector<char> file(sizeof header + payload.size());
  std::memcpy(file.data(), &header, sizeof header);
  if (!payload.empty()) std::memcpy(file.data() + sizeof header, payload.data(), payload.size());
  return file;
}

std::optional<std::vector<char>> unwrap_cache(const PhysicalDevice& device,
                                              const std::vector<char>& file) {
  if (file.size() < sizeof(Header)) return std::nullopt;
  std::vector<char> payload(file.begin() + sizeof(Header), file.end());
  const Header expected = make_header(device, payload);
  if (std::memcmp(file.data(), &expected, sizeof expected) != 0) return std::nullopt;
  return payload;
}

std::optional<std::vector<char>> PipelineCache::load() const {
  if (path_.empty()) return std::nullopt;
  const auto file = read_file(path_);
  if (!file) return std::nullopt;
  return unwrap_cache(context_->physical(), *file);
}

OwnedPipelineCache PipelineCache::make(const std::vector<char>& payload) const {
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = payload.size();
  info.pInitialData = payload.data();
  VkPipelineCache cache = VK_NULL_HANDLE;
  if (context_->vk().vkCreatePipelineCache(context_->device(), &info, nullptr, &cache) !=
      VK_SUCCESS) {
    return {};
  }
  return {context_, cache};
}

VkPipelineCache PipelineCache::get() {
  if (!tried_) {
    tried_ = true;
    if (const auto payload = load()) {
      cache_ = make(*payload);
      file_hash_ = XXH3_64bits(payload->data(), payload->size());
    }
    if (!cache_) cache_ = make({});
  }
  return cache_.get();
}

void PipelineCache::save() {
  if (path_.empty() || !changed_ || !cache_) return;
  changed_ = false;
  const Functions& vk = context_->vk();
  const VkDevice device = context_->device();
  if (const auto others = load();
      others && XXH3_64bits(others->data(), others->size()) != file_hash_) {
    if (const OwnedPipelineCache other = make(*others)) {
      const VkPipelineCache source = other.get();
      (void)vk.vkMergePipelineCaches(device, cache_.get(), 1, &source);
    }
  }
  size_t size = 0;
  if (vk.vkGetPipelineCacheData(device, cache_.get(), &size, nullptr) != VK_SUCCESS) return;
  std::vector<char> payload(size);
  if (vk.vkGetPipelineCacheData(device, cache_.get(), &size, payload.data()) != VK_SUCCESS) return;
  payload.resize(size);
  const uint64_t hash = XXH3_64bits(payload.data(), payload.size());
  if (hash == file_hash_) return;
  if (write_file(path_, wrap_cache(context_->physical(), payload))) file_hash_ = hash;
}

}  // namespace kenaz::device::vulkan
