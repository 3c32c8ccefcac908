// Which bytes that kernels store are never read: by no kernel, no copy and no host, before they are
// stored to again or their block is released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kenaz::device::interpreter {

/// Follows every byte of device memory. Not for several threads at a time.
class Unread {
 public:
  /// Numbers of those that store, from 1 on.
  using Writer = uint32_t;
  struct Bytes {
    int64_t stored = 0, lost = 0;  // lost: never read
  };

  void begin(uint64_t address, int64_t bytes);
  /// The block's bytes are not there any more.
  void end(uint64_t address);
  /// What the block holds, now and later, is somebody's result: as good as read.
  void keep(uint64_t address);

  void stored(uint64_t address, int64_t bytes, Writer by);
  void read(uint64_t address, int64_t bytes);
  /// By the host.
  void overwritten(uint64_t address, int64_t bytes) { stored(address, bytes, 0); }

  /// By writer; those of blocks that are not released count as read.
  const std::vector<Bytes>& bytes() const { return bytes_; }

 private:
  struct Block {
    std::vector<Writer> writers;  // by byte: whose store nobody has read; 0: none
    bool kept = false;
  };
  /// The block and the place in it; null if the range is in none.
  Block* find(uint64_t address, int64_t bytes, std::size_t& offset);
  void lose(Writer& writer);

  std::map<uint64_t, Block> blocks_;
  std::vector<Bytes> bytes_;
};

}  // namespace kenaz::device::interpreter
