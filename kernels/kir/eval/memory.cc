#include <algorithm>

#include "kernels/kir/eval/memory_block.h"
#include "protocol/base/check.h"

namespace kenaz::kir {
namespace {

// Above 32 bits, so that a narrowed address is found out; and far apart.
constexpr uint64_t kFirstAddress = uint64_t{1} << 40;
constexpr uint64_t kDistance = uint64_t{1} << 32;
/// What undefined bytes hold: no small number, no NaN.
constexpr std::byte kPoison{0xa5};

}  // namespace

Memory::Memory() : next_(kFirstAddress), launches_(std::make_unique<eval::Launches>()) {}
Memory::~Memory() = default;

uint64_t Memory::allocate_zeros(size_t bytes) {
  auto block = std::make_unique<Block>(bytes);
  block->address = next_;
  next_ += (bytes / kDistance + 2) * kDistance;
  const uint64_t address = block->address;
  blocks_.emplace(address, std::move(block));
  return address;
}

uint64_t Memory::allocate(size_t bytes) {
  const uint64_t address = allocate_zeros(bytes);
  auto& data = blocks_.at(address)->data;
  std::fill(data.begin(), data.end(), kPoison);
  return address;
}

uint64_t Memory::allocate(std::span<const std::byte> data) {
  const uint64_t address = allocate(data.size());
  write(address, data);
  return address;
}

std::span<const std::byte> Memory::bytes(uint64_t block) const {
  const auto it = blocks_.find(block);
  CHECK(it != blocks_.end());
  return {it->second->data.data(), it->second->data.size()};
}

std::pair<Memory::Block*, uint64_t> Memory::locate(uint64_t address, size_t bytes) const {
  auto it = blocks_.upper_bound(address);
  CHECK(it != blocks_.begin());
  Block* const block = std::prev(it)->second.get();
  const uint64_t offset = address - block->address;
  CHECK(offset <= block->data.size() && bytes <= block->data.size() - offset);
  return {block, offset};
}

bool Memory::defined(uint64_t address, size_t bytes) const {
  const auto [block, offset] = locate(address, bytes);
  const auto first = block->known.begin() + static_cast<int64_t>(offset);
  const auto last = first + static_cast<int64_t>(bytes);
  return std::find(first, last, 0) == last;
}

Memory::Range Memory::block_of(uint64_t address) const {
  const Block& block = *locate(address, 0).first;
  return {block.address, block.data.size()};
}

void Memory::forget(uint64_t address, std::span<const Range> but) {
  Block& block = *locate(address, 0).first;
  Zeros<uint8_t> known(block.known.size());
  for (const Range& r : but) {
    const auto from = static_cast<int64_t>(r.address - block.address);
    std::copy_n(block.known.begin() + from, r.bytes, known.begin() + from);
  }
  block.known = std::move(known);
}

void Memory::write(uint64_t address, std::span<const std::byte> data) {
  const auto [block, offset] = locate(address, data.size());
  std::copy(data.begin(), data.end(), block->data.begin() + static_cast<int64_t>(offset));
  std::fill_n(block->known.begin() + static_cast<int64_t>(offset), data.size(), 0xff);
}

void Memory::copy(uint64_t to, uint64_t from, size_t bytes) {
  const auto [source, source_offset] = locate(from, bytes);
  const auto [target, target_offset] = locate(to, bytes);
  std::copy_n(source->data.begin() + static_cast<int64_t>(source_offset), bytes,
              target->data.begin() + static_cast<int64_t>(target_offset));
  std::copy_n(source->known.begin() + static_cast<int64_t>(source_offset), bytes,
              target->known.begin() + static_cast<int64_t>(target_offset));
}

void Memory::barrier() {
  if (launches_->count() == 0) return;
  for (auto& [address, block] : blocks_) block->shadow.reset();
  launches_->clear();
}

void Memory::release(uint64_t block) {
  const size_t n = blocks_.erase(block);
  CHECK(n == 1);
}

}  // namespace kenaz::kir
