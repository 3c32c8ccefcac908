// A folder of small files, one per key, that survive crashes and each other's writers: each carries
// its key and a checksum, and appears whole or not at all. What is damaged, or another key's, is as
// good as absent. Never fails: a cache that cannot be kept is none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kenaz::cache {

class FileStore {
 public:
  /// `folder` is made when something is first put. Empty: nothing is kept. Files of the same name
  /// with the extension `companion` (empty: none) may be put there by others; they go when the
  /// key's file goes.
  FileStore(std::string folder, std::string extension, std::string companion)
      : folder_(std::move(folder)),
        extension_(std::move(extension)),
        companion_(std::move(companion)) {}

  std::optional<std::string> get(const std::string& key) const;
  void put(const std::string& key, std::span<const std::byte> data) const;
  /// Where the key's companion is, or would be; empty if nothing is kept.
  std::string companion(const std::string& key) const;

  /// Beyond so many files the oldest half goes.
  static constexpr size_t kMaxFiles = 4096;

 private:
  std::string stem(const std::string& key) const;
  void make_room() const;

  std::string folder_, extension_, companion_;
};

}  // namespace kenaz::cache
