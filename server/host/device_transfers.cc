#include "server/host/device_transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server/host/device_leaf.h"

namespace kenaz::host {
namespace {

// One in the host's hands, two in the device's.
constexpr size_t kChunks = 3;

tl::unexpected<Error> too_early(int64_t done, int64_t total) {
  return internal_error(fmt::format("a value of {} bytes ended after {}", total, done));
}

// ---- writers

class ScalarWriter : public LeafWriter {
 public:
  explicit ScalarWriter(PrimType prim) { value_ = {prim, {}, std::vector<std::byte>(size(prim))}; }
  std::span<std::byte> window() override { return std::span(value_.bytes).subspan(done_); }
  void advance(size_t n) override { done_ += n; }
  Status work() override { return {}; }
  Result<LeafPtr> finish() override {
    if (done_ < value_.bytes.size()) {
      return too_early(static_cast<int64_t>(done_), static_cast<int64_t>(value_.bytes.size()));
    }
    return std::make_shared<HostScalar>(value_.at(0));
  }

 private:
  static size_t size(PrimType prim) { return static_cast<size_t>(prim_size(prim)); }
  data::Value value_;
  size_t done_ = 0;
};

class MappedWriter : public LeafWriter {
 public:
  MappedWriter(std::shared_ptr<DeviceArray> array, std::span<std::byte> bytes)
      : array_(std::move(array)), left_(bytes) {}
  std::span<std::byte> window() override { return left_; }
  void advance(size_t n) override { left_ = left_.subspan(n); }
  Status work() override { return {}; }
  Result<LeafPtr> finish() override {
    if (!left_.empty()) {
      const int64_t total = array_->block->bytes();
      return too_early(total - static_cast<int64_t>(left_.size()), total);
    }
    return std::move(array_);
  }

 private:
  std::shared_ptr<DeviceArray> array_;
  std::span<std::byte> left_;
};

class StagedWriter : public LeafWriter {
 public:
  StagedWriter(std::shared_ptr<device::Device> device, std::shared_ptr<DeviceArray> array,
               device::ChunkPtr first)
      : device_(std::move(device)), array_(std::move(array)), total_(array_->block->bytes()) {
    chunks_.push_back(std::move(first));
  }

  std::span<std::byte> window() override {
    if (sent_current_) return {};
    const auto bytes = chunks_[current_]->bytes();
    const int64_t room = std::min(static_cast<int64_t>(bytes.size()), total_ - sent_);
    return bytes.first(static_cast<size_t>(room)).subspan(filled_);
  }
  void advance(size_t n) override { filled_ += n; }
  Status work() override {
    if (filled_ != 0) KENAZ_TRY(send());
    if (sent_current_ && sent_ < total_) {
      KENAZ_TRY(next());
      sent_current_ = false;
    }
    return {};
  }
  Result<LeafPtr> finish() override {
    if (filled_ != 0) KENAZ_TRY(send());
    if (sent_ < total_) return too_early(sent_, total_);
    return std::move(array_);
  }

 private:
  Status send() {
    const auto n = static_cast<int64_t>(filled_);
    KENAZ_TRY(device_->start_upload(array_->block, sent_, chunks_[current_], n));
    sent_ += n;
    filled_ = 0;
    sent_current_ = true;
    return {};
  }
  /// On to a chunk that nothing uses.
  Status next() {
    const auto size = static_cast<int64_t>(chunks_[current_]->bytes().size());
    if (chunks_.size() < kChunks && total_ - sent_ > size * static_cast<int64_t>(chunks_.size())) {
      const auto extra = device_->extra_chunk();
      if (extra && *extra) {
        chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(++current_), *extra);
        return {};
      }
    }
    current_ = (current_ + 1) % chunks_.size();
    return device_->wait(chunks_[current_]);
  }

  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<DeviceArray> array_;
  const int64_t total_;
  std::vector<device::ChunkPtr> chunks_;
  size_t current_ = 0, filled_ = 0;
  int64_t sent_ = 0;
  bool sent_current_ = false;  // the device has it
};

// ---- readers

class ScalarReader : public LeafReader {
 public:
  explicit ScalarReader(PrimValue value) : value_(data::Value::scalar(value)) {}
  std::span<const std::byte> window() override { return std::span(value_.bytes).subspan(done_); }
  void advance(size_t n) override { done_ += n; }
  Status work() override { return {}; }

 private:
  data::Value value_;
  size_t done_ = 0;
};

class MappedReader : public LeafReader {
 public:
  MappedReader(device::BlockPtr block, std::span<const std::byte> bytes)
      : block_(std::move(block)), left_(bytes) {}
  std::span<const std::byte> window() override { return left_; }
  void advance(size_t n) override { left_ = left_.subspan(n); }
  Status work() override { return {}; }

 private:
  device::BlockPtr block_;  // held, so that no call updates it in place
  std::span<const std::byte> left_;
};

class StagedReader : public LeafReader {
 public:
  StagedReader(std::shared_ptr<device::Device> device, device::BlockPtr block, int64_t total,
               device::ChunkPtr first)
      : device_(std::move(device)), block_(std::move(block)), total_(total) {
    chunks_.push_back({std::move(first), 0});
  }

  std::span<const std::byte> window() override {
    if (!arrived_) return {};
    const Piece& piece = chunks_[current_];
    return piece.chunk->bytes().first(static_cast<size_t>(piece.bytes)).subspan(taken_);
  }
  void advance(size_t n) override {
    taken_ += n;
    if (static_cast<int64_t>(taken_) < chunks_[current_].bytes) return;
    chunks_[current_].bytes = 0;
    taken_ = 0;
    arrived_ = false;
    current_ = (current_ + 1) % chunks_.size();
  }
  Status work() override {
    if (arrived_) return {};
    KENAZ_TRY(request());
    if (chunks_[current_].bytes == 0) return {};  // there is no more
    KENAZ_TRY(device_->wait(chunks_[current_].chunk));
    arrived_ = true;
    return {};
  }

 private:
  struct Piece {
    device::ChunkPtr chunk;
    int64_t bytes = 0;  // on their way or there; 0: free
  };
  /// Sets the device to fill every free chunk, in turn; more of them the second time round, when
  /// there is more to come than the first held.
  Status request() {
    const bool first_time = requested_ == 0;
    for (size_t i = 0; i < chunks_.size(); ++i) {
      KENAZ_TRY(request(chunks_[(current_ + i) % chunks_.size()]));
    }
    while (first_time && requested_ < total_ && chunks_.size() < kChunks) {
      const auto extra = device_->extra_chunk();
      if (!extra || !*extra) return {};
      chunks_.push_back({*extra, 0});
      KENAZ_TRY(request(chunks_.back()));
    }
    return {};
  }
  Status request(Piece& piece) {
    if (piece.bytes != 0 || requested_ == total_) return {};
    const int64_t n =
        std::min(total_ - requested_, static_cast<int64_t>(piece.chunk->bytes().size()));
    KENAZ_TRY(device_->start_download(block_, requested_, piece.chunk, n));
    piece.bytes = n;
    requested_ += n;
    return {};
  }

  const std::shared_ptr<device::Device> device_;
  const device::BlockPtr block_;  // held, so that no call updates it in place
  const int64_t total_;
  std::vector<Piece> chunks_;  // in the order in which they are asked for, round and round
  size_t current_ = 0, taken_ = 0;
  int64_t requested_ = 0;
  bool arrived_ = false;  // the current one
};

}  // namespace

Result<std::unique_ptr<LeafWriter>> make_device_writer(std::shared_ptr<device::Device> device,
                                                       PrimType prim, std::vector<int64_t> shape) {
  if (shape.empty()) return std::make_unique<ScalarWriter>(prim);
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(prim, shape));
  KENAZ_ASSIGN(auto block, device->allocate_unseen(bytes));
  auto array = std::make_shared<DeviceArray>(prim, std::move(shape), std::move(block));
  if (bytes == 0) return std::make_unique<MappedWriter>(std::move(array), std::span<std::byte>());
  const auto mapped = device->mapped(array->block);
  if (!mapped.empty()) {
    KENAZ_TRY(device->submit_and_wait());  // commands may still use what lay here before
    return std::make_unique<MappedWriter>(std::move(array), mapped);
  }
  KENAZ_ASSIGN(auto chunk, device->chunk(bytes));
  return std::make_unique<StagedWriter>(std::move(device), std::move(array), std::move(chunk));
}

Result<std::unique_ptr<LeafReader>> make_device_reader(std::shared_ptr<device::Device> device,
                                                       const LeafPtr& leaf) {
  if (const auto* scalar = dynamic_cast<const HostScalar*>(leaf.get())) {
    return std::make_unique<ScalarReader>(scalar->value);
  }
  const auto* array = dynamic_cast<const DeviceArray*>(leaf.get());
  if (array == nullptr) return internal_error("a value of another engine");
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(leaf->prim, leaf->shape));
  if (bytes > array->block->bytes()) return internal_error("a value larger than its block");
  const auto mapped = device->mapped(array->block);
  if (!mapped.empty() || bytes == 0) {
    KENAZ_TRY(device->submit_and_wait());
    return std::make_unique<MappedReader>(array->block, mapped.first(static_cast<size_t>(bytes)));
  }
  KENAZ_ASSIGN(auto chunk, device->chunk(bytes));
  return std::make_unique<StagedReader>(std::move(device), array->block, bytes, std::move(chunk));
}

}  // namespace kenaz::host
