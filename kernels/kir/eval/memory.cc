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

Memory::Memory() : next_(kFirstAddress) {}
Memory::~Memory() = default;

uint64_t Memory::allocate(size_t bytes) {
  auto block = std::make_unique<Block>();
  block->address = next_;
  block->data.assign(bytes, kPoison);
  block->known.assign(bytes, 0);
  next_ += (bytes / kDistance + 2) * kDistance;
  const uint64_t address = block->address;
  blocks_.emplace(address, std::move(block));
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
  return it->second->data;
}

bool Memory::defined(uint64_t address, size_t bytes) const {
  auto it = blocks_.upper_bound(address);
  CHECK(it != blocks_.begin());
  const Block& b = *std::prev(it)->second;
  CHECK(address - b.address <= b.data.size() && bytes <= b.data.size() - (address - b.address));
  const auto first = b.known.begin() + static_cast<int64_t>(address - b.address);
  return std::find(first, first + static_cast<int64_t>(bytes), 0) ==
         first + static_cast<int64_t>(bytes);
}

void Memory::write(uint64_t address, std::span<const std::byte> data) {
  auto it = blocks_.upper_bound(address);
  CHECK(it != blocks_.begin());
  Block& b = *std::prev(it)->second;
  const uint64_t offset = address - b.address;
  CHECK(offset <= b.data.size() && data.size() <= b.data.size() - offset);
  std::copy(data.begin(), data.end(), b.data.begin() + static_cast<int64_t>(offset));
  std::fill_n(b.known.begin() + static_cast<int64_t>(offset), data.size(), 0xff);
}

void Memory::release(uint64_t block) {
  const size_t n = blocks_.erase(block);
  CHECK(n == 1);
}

}  // namespace kenaz::kir
