// A device whose memory is full of rubbish when it is handed out, so that whoever reads what nobody
// wrote does not find the zeros, or the right values of the call before, that hide it.
#pragma once

#include <memory>

#include "server/device/device.h"

namespace kenaz::fuzz {

class PoisonedDevice : public device::Device {
 public:
  explicit PoisonedDevice(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}
  /// Off: memory is handed out as it is, and fewer barriers are recorded.
  void set_poison(bool on) { poison_ = on; }

  Result<device::BlockPtr> allocate(int64_t bytes) override {
    return poisoned(device_->allocate(bytes), bytes);
  }
  Result<device::BlockPtr> allocate_unseen(int64_t bytes) override {
    return poisoned(device_->allocate_unseen(bytes), bytes);
  }
  Result<device::BlockPtr> allocate_for_host(int64_t bytes) override {
    return poisoned(device_->allocate_for_host(bytes), bytes);
  }
  std::span<std::byte> watched(const device::BlockPtr& block) override {
    return device_->watched(block);
  }
  Result<bool> submit_and_watch(const std::function<bool()>& seen) override {
    return device_->submit_and_watch(seen);
  }
  void set_owner(uint64_t owner) override { device_->set_owner(owner); }
  void set_allowance(int64_t bytes) override { device_->set_allowance(bytes); }
  int64_t allowance() const override { return device_->allowance(); }

  const device::Info& info() const override { return device_->info(); }
  void set_watch(device::Watch* watch) override { device_->set_watch(watch); }
  Result<device::BlockPtr> allocate_shared(int64_t bytes) override {
    return device_->allocate_shared(bytes);
  }
  bool poke(const device::BlockPtr& block, uint32_t word) override {
    return device_->poke(block, word);
  }
  Result<device::KernelPtr> make_kernel(const device::KernelSource& source) override {
    return device_->make_kernel(source);
  }
  Status dispatch(const device::KernelPtr& kernel, uint32_t x, uint32_t y,
                  std::span<const std::byte> push, uint32_t first_row) override {
    return device_->dispatch(kernel, x, y, push, first_row);
  }
  Status barrier() override { return device_->barrier(); }
  Status write(const device::BlockPtr& dst, int64_t offset,
               std::span<const std::byte> data) override {
    return device_->write(dst, offset, data);
  }
  Status clear(const device::BlockPtr& dst) override { return device_->clear(dst); }
  Status copy(const device::BlockPtr& dst, int64_t dst_offset, const device::BlockPtr& src,
              int64_t src_offset, int64_t bytes) override {
    return device_->copy(dst, dst_offset, src, src_offset, bytes);
  }
  Result<uint64_t> stash(std::span<const std::byte> data) override { return device_->stash(data); }
  Status submit() override { return device_->submit(); }
  Status submit_and_wait() override { return device_->submit_and_wait(); }
  Status submit_and_read(std::span<const device::ReadBack> pieces) override {
    return device_->submit_and_read(pieces);
  }
  Status upload(const device::BlockPtr& dst, int64_t offset,
                std::span<const std::byte> data) override {
    return device_->upload(dst, offset, data);
  }
  Status download(const device::BlockPtr& src, int64_t offset, std::span<std::byte> data) override {
    return device_->download(src, offset, data);
  }
  std::span<std::byte> mapped(const device::BlockPtr& block) override {
    return device_->mapped(block);
  }
  Result<device::ChunkPtr> chunk(int64_t bytes) override { return device_->chunk(bytes); }
  Result<device::ChunkPtr> extra_chunk() override { return device_->extra_chunk(); }
  Status start_upload(const device::BlockPtr& dst, int64_t offset, const device::ChunkPtr& chunk,
                      int64_t bytes) override {
    return device_->start_upload(dst, offset, chunk, bytes);
  }
  Status start_download(const device::BlockPtr& src, int64_t offset, const device::ChunkPtr& chunk,
                        int64_t bytes) override {
    return device_->start_download(src, offset, chunk, bytes);
  }
  Status wait(const device::ChunkPtr& chunk) override { return device_->wait(chunk); }
  device::MemoryStats memory() const override { return device_->memory(); }
  void trim() override { device_->trim(); }
  void forget_peak() override { device_->forget_peak(); }

 private:
  Result<device::BlockPtr> poisoned(Result<device::BlockPtr> block, int64_t bytes);

  std::shared_ptr<device::Device> device_;
  bool poison_ = true;
};

}  // namespace kenaz::fuzz
