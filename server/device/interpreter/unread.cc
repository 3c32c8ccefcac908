#include "server/device/interpreter/unread.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kenaz::device::interpreter {

void Unread::begin(uint64_t address, int64_t bytes) {
  blocks_[address].writers.assign(static_cast<size_t>(bytes), 0);
}

void Unread::end(uint64_t address) {
  const auto it = blocks_.find(address);
  if (it == blocks_.end()) return;
  for (Writer& w : it->second.writers) lose(w);
  blocks_.erase(it);
}

void Unread::keep(uint64_t address) {
  const auto it = blocks_.find(address);
  if (it == blocks_.end()) return;
  it->second.kept = true;
  std::ranges::fill(it->second.writers, 0);
}

void Unread::stored(uint64_t address, int64_t bytes, Writer by) {
  if (by >= bytes_.size()) bytes_.resize(size_t{by} + 1);
  if (by != 0) bytes_[by].stored += bytes;
  size_t offset = 0;
  Block* const block = find(address, bytes, offset);
  if (block == nullptr || block->kept) return;
  for (size_t k = offset; k < offset + static_cast<size_t>(bytes); ++k) {
    lose(block->writers[k]);
    block->writers[k] = by;
  }
}

void Unread::read(uint64_t address, int64_t bytes) {
  size_t offset = 0;
  Block* const block = find(address, bytes, offset);
  if (block != nullptr)
    std::fill_n(block->writers.begin() + static_cast<int64_t>(offset), bytes, 0);
}

Unread::Block* Unread::find(uint64_t address, int64_t bytes, size_t& offset) {
  const auto behind = blocks_.upper_bound(address);
  if (behind == blocks_.begin()) return nullptr;
  auto& [start, block] = *std::prev(behind);
  offset = address - start;
  const bool fits = offset + static_cast<uint64_t>(bytes) <= block.writers.size();
  return fits ? &block : nullptr;
}

void Unread::lose(Writer& writer) {
  if (writer != 0) ++bytes_[writer].lost;
  writer = 0;
}

}  // namespace kenaz::device::interpreter
