// Compiled pipelines, kept in a file between runs. The file starts with our own header (who made
// it: driver, device, versions; and checksums): drivers have crashed on damaged or foreign data, so
// none reaches them. A file that does not fit is ignored and later written anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/device/vulkan/context.h"

namespace kenaz::device::vulkan {

/// The file's bytes for `payload`, and the reverse: nothing if it is damaged or another device's.
std::vector<char> wrap_cache(const PhysicalDevice& device, const std::vector<char>& payload);
std::optional<std::vector<char>> unwrap_cache(const PhysicalDevice& device,
                                              const std::vector<char>& file);

class PipelineCache {
 public:
  /// `path` empty: a cache in memory only.
  PipelineCache(ContextPtr context, std::string path)
      : context_(std::move(context)), path_(std::move(path)) {}

  /// Made (and the file read) when first asked for. May be null; then pipelines are not cached.
  VkPipelineCache get();
  void note_new_pipeline() { changed_ = true; }
  /// Writes the file if there are new pipelines, with what other processes put there meanwhile.
  void save();

 private:
  OwnedPipelineCache make(const std::vector<char>& payload) const;
  std::optional<std::vector<char>> load() const;

  const ContextPtr context_;
  const std::string path_;
  OwnedPipelineCache cache_;
  bool tried_ = false, changed_ = false;
  uint64_t file_hash_ = 0;  // of the payload last read or written
};

}  // namespace kenaz::device::vulkan
