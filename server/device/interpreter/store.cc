#include "server/device/interpreter/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

namespace kenaz::device::interpreter {
namespace {

class StoredBlock : public Block {
 public:
  StoredBlock(std::shared_ptr<Store> store, uint64_t address, int64_t bytes)
      : store_(std::move(store)), address_(address), bytes_(bytes) {}
  ~StoredBlock() override { store_->release(address_, bytes_); }
  uint64_t address() const override { return address_; }
  int64_t bytes() const override { return bytes_; }

 private:
  const std::shared_ptr<Store> store_;
  const uint64_t address_;
  const int64_t bytes_;
};

/// `count`, unless null, counts it while it lives.
class HostChunk : public Chunk {
 public:
  HostChunk(int64_t bytes, std::shared_ptr<std::atomic<int>> count)
      : bytes_(static_cast<size_t>(bytes)), count_(std::move(count)) {}
  ~HostChunk() override {
    if (count_) --*count_;
  }
  std::span<std::byte> bytes() const override { return bytes_; }

 private:
  mutable std::vector<std::byte> bytes_;
  const std::shared_ptr<std::atomic<int>> count_;
};

constexpr int64_t kSmallChunk = int64_t{256} << 10, kLargeChunk = int64_t{4} << 20;
constexpr int kMostLarge = 24;
/// Memory for shadows of what kernels access comes on top of blocks, so one is not all there is.
constexpr int64_t kLargestBlock = int64_t{1} << 36;

}  // namespace

Result<BlockPtr> Store::allocate(int64_t bytes) {
  if (bytes < 0) return internal_error(fmt::format("block of {} bytes wanted", bytes));
  kir::Memory& memory = this->memory();
  const std::lock_guard lock(mutex_);
  const auto refused = [&] {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of memory: a block of {} bytes is wanted, {} of {} bytes are in "
                            "use",
                            bytes, used_, limit_));
  };
  if (bytes > std::min(limit_ - used_, kLargestBlock)) return refused();
  KENAZ_TRY(allowance_.check(bytes, used_));
  try {
    const uint64_t address = memory.allocate_zeros(static_cast<size_t>(bytes));
    auto block = std::make_shared<StoredBlock>(shared_from_this(), address, bytes);
    if (unread_) unread_->begin(address, bytes);
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return block;
  } catch (const std::bad_alloc&) {
    return refused();
  }
}

void Store::set_allowance(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  allowance_.set(bytes, used_);
}

int64_t Store::allowance() const {
  const std::lock_guard lock(mutex_);
  return allowance_.left(used_);
}

MemoryStats Store::stats() const {
  const std::lock_guard lock(mutex_);
  return {used_, 0, peak_};
}

void Store::forget_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = used_;
}

void Store::release(uint64_t address, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  released_.push_back(address);
  used_ -= bytes;
}

kir::Memory& Store::memory() {
  std::vector<uint64_t> released;
  {
    const std::lock_guard lock(mutex_);
    released.swap(released_);
  }
  for (const uint64_t address : released) {
    if (unread_) unread_->end(address);
    memory_.release(address);
  }
  return memory_;
}

Status check_range(const Block& block, int64_t offset, int64_t bytes) {
  if (bytes >= 0 && offset >= 0 && offset <= block.bytes() && bytes <= block.bytes() - offset) {
    return {};
  }
  return internal_error(
      fmt::format("transfer of {} bytes at {} leaves a block of {}", bytes, offset, block.bytes()));
}

Result<ChunkPtr> ChunkMaker::make(int64_t bytes) {
  if (bytes > kSmallChunk) {
    if (*large_ < kMostLarge) {
      ++*large_;
      return std::make_shared<HostChunk>(kLargeChunk, large_);
    }
  }
  return std::make_shared<HostChunk>(kSmallChunk, nullptr);
}

Result<ChunkPtr> ChunkMaker::make_extra() {
  if (*large_ >= kMostLarge) return ChunkPtr();
  ++*large_;
  return std::make_shared<HostChunk>(kLargeChunk, large_);
}

}  // namespace kenaz::device::interpreter
