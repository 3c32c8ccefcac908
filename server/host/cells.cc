#include "server/host/cells.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace kenaz::host {

namespace {

using Word = uint64_t;
constexpr size_t kWords = program::kCellBytes / sizeof(Word);

/// Kernels may be storing to them.
std::span<Word> words(device::Device& device, const BlockPart& cells) {
  const std::span<std::byte> bytes = device.watched(cells.block);
  return {reinterpret_cast<Word*>(bytes.data()), bytes.size() / sizeof(Word)};
}

}  // namespace

Cells::Given* Cells::find(const BlockPart& cells) {
  const auto at = std::ranges::find(given_, cells.address(), &Given::address);
  return at == given_.end() ? nullptr : &*at;
}

const Cells::Given* Cells::find(const BlockPart& cells) const {
  const auto at = std::ranges::find(given_, cells.address(), &Given::address);
  return at == given_.end() ? nullptr : &*at;
}

void Cells::note_told(const BlockPart& cells) {
  const std::span<Word> all = words(device_, cells);
  if (all.empty()) return;
  if (find(cells) != nullptr) return note_used(cells, true);
  for (Word& word : all) std::atomic_ref(word).store(0, std::memory_order_relaxed);
  given_.push_back({cells.address(), true, false});
}

void Cells::note_used(const BlockPart& cells, bool stores) {
  if (words(device_, cells).empty()) return;
  Given* given = find(cells);
  if (given == nullptr) given = &given_.emplace_back(Given{cells.address()});
  given->busy = true;
  given->awaited = given->awaited && !stores;
}

bool Cells::are_awaited(const BlockPart& cells) const {
  const Given* given = find(cells);
  return given != nullptr && given->awaited;
}

bool Cells::are_there(const BlockPart& cells) const {
  const std::span<Word> all = words(device_, cells);
  for (size_t n = 0; n + kWords <= all.size(); n += kWords) {
    const Word scalar = std::atomic_ref(all[n]).load(std::memory_order_relaxed);
    const Word mark = std::atomic_ref(all[n + 1]).load(std::memory_order_relaxed);
    if ((scalar ^ mark) != program::kCellMark) return false;
  }
  return true;
}

void Cells::note_seen(const BlockPart& cells) {
  Given* given = find(cells);
  if (given == nullptr) return;
  given->awaited = false;
  if (given->busy) return;
  *given = given_.back();
  given_.pop_back();
}

uint64_t Cells::at(const BlockPart& cells, int64_t offset, PrimType type) const {
  const std::span<Word> all = words(device_, cells);
  const Word word = all[static_cast<size_t>(offset) / sizeof(Word)];
  const int bits = prim_bits(type);
  return bits == 64 ? word : word & ((Word{1} << bits) - 1);
}

}  // namespace kenaz::host
