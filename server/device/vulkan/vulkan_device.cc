#include "server/device/vulkan/vulkan_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "server/device/vulkan/kernels.h"
#include "server/device/vulkan/quiet_processors.h"
#include "server/device/vulkan/stash.h"
#include "server/device/vulkan/teller.h"
#include "server/device/vulkan/transfers.h"
#include "server/device/vulkan/wake_process.h"
#include "server/device/vulkan/waker.h"

namespace kenaz::device {
namespace vulkan {
namespace {

// Recorded dispatches after which the device is set to work while the host goes on recording: few
// if it has nothing to do, and twice as many each time, since a submission takes the host as long
// as some ten of them.
constexpr int kFirstSubmit = 4;
constexpr int kDispatchesPerSubmit = 256;

// Read through a window, the processor gets 8 bytes at a time, and waits for each.
constexpr int64_t kWindowBytes = 128;

/// Bytes that blocks may take by default.
int64_t default_limit(const PhysicalDevice& device) {
  if (device.type == VK_PHYSICAL_DEVICE_TYPE_CPU) {  // its heaps' sizes are made up
    return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 4 * 3;
  }
  VkDeviceSize local = 0;
  for (uint32_t i = 0; i < device.memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = device.memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) local = std::max(local, heap.size);
  }
  return static_cast<int64_t>(local);
}

using ContextMaker = std::function<Result<std::shared_ptr<Context>>()>;

/// `another`: makes one more Context of the same device.
std::unique_ptr<Waker> make_waker(const VulkanOptions& options, const ContextMaker& another) {
  if (options.wake_command.empty()) {
    return std::make_unique<Waker>(Waker::Calls{[another] { (void)another(); }});
  }
  const auto process = std::make_shared<WakeProcess>(options.wake_command);
  return std::make_unique<Waker>(
      Waker::Calls{[process] { process->wake(); }, [process] { process->end(); }});
}

class VulkanDevice : public Device {
 public:
  /// `another`: makes one more Context of the same device.
  VulkanDevice(const std::shared_ptr<Context>& context, const VulkanOptions& options,
               const ContextMaker& another)
      : context_(context),
        another_(options.compile_apart ? another : nullptr),
        heap_(std::make_shared<Heap>(context, options.memory_limit > 0
                                                  ? options.memory_limit
                                                  : default_limit(context->physical()))),
        kernels_(context, options.pipeline_cache),
        stash_(context),
        transfers_(context, commands_),
        teller_(context, kernels_, commands_),
        commands_(context) {
    if (options.wake && context->physical().vendor_id == kNvidia) {
      waker_ = make_waker(options, another);
    }
  }
  ~VulkanDevice() override { kernels_.save(); }

  const Info& info() const override { return context_->physical().info; }
  void set_watch(Watch* watch) override { commands_.set_watch(watch); }
  void stay_awake() override {
    if (waker_) waker_->work_ahead();
  }
  void set_timing(bool on) override { commands_.set_timing(on); }
  bool is_timed() const override { return commands_.is_timed(); }
  void describe_launch(const LaunchBytes& bytes) override { next_launch_ = bytes; }
  std::vector<KernelTime> take_times() override { return commands_.take_times(); }
  void set_owner(uint64_t owner) override { heap_->set_owner(owner); }
  void set_allowance(int64_t bytes) override { heap_->set_allowance(bytes); }
  int64_t allowance() const override { return heap_->allowance(); }
  Result<BlockPtr> allocate(int64_t bytes) override { return allocate(bytes, false); }
  Result<BlockPtr> allocate_unseen(int64_t bytes) override { return allocate(bytes, true); }
  Result<BlockPtr> allocate_shared(int64_t bytes) override;
  Result<BlockPtr> allocate_for_host(int64_t bytes) override;
  std::span<std::byte> watched(const BlockPtr& block) override;
  bool poke(const BlockPtr& block, uint32_t word) override;
  Result<KernelPtr> make_kernel(const KernelSource& source) override;
  Status dispatch(const KernelPtr& kernel, uint32_t x, uint32_t y, std::span<const std::byte> push,
                  uint32_t first_row) override;
  Status barrier() override;
  Status write(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) override;
  Status clear(const BlockPtr& dst) override;
  Status copy(const BlockPtr& dst, int64_t dst_offset, const BlockPtr& src, int64_t src_offset,
              int64_t bytes) override;
  Result<uint64_t> stash(std::span<const std::byte> data) override;
  Status submit() override;
  Status submit_and_wait() override { return submit_and_read({}); }
  Status submit_and_read(std::span<const ReadBack> pieces) override;
  Result<bool> submit_and_watch(const std::function<bool()>& seen) override;
  Status upload(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) override;
  Status download(const BlockPtr& src, int64_t offset, std::span<std::byte> data) override;
  std::span<std::byte> mapped(const BlockPtr& block) override;
  Result<ChunkPtr> chunk(int64_t bytes) override;
  Result<ChunkPtr> extra_chunk() override;
  Status start_upload(const BlockPtr& dst, int64_t offset, const ChunkPtr& chunk,
                      int64_t bytes) override;
  Status start_download(const BlockPtr& src, int64_t offset, const ChunkPtr& chunk,
                        int64_t bytes) override;
  Status wait(const ChunkPtr& chunk) override;
  MemoryStats memory() const override { return heap_->stats(); }
  void trim() override;
  void forget_peak() override { heap_->forget_peak(); }

 private:
  Result<BlockPtr> allocate(int64_t bytes, bool unseen);
  Result<VkCommandBuffer> recording();
  void note_beginning();
  void leave_interrupted_processors();
  Result<bool> read_told(std::span<const ReadBack> pieces);
  Status read_through_copy(std::span<const ReadBack> pieces);
  void compile_apart(const KernelSource& source) const;

  const std::shared_ptr<Context> context_;
  const bool mapped_ = device_memory_is_mapped(context_->physical());
  const ContextMaker another_;  // to compile on; may be null
  const std::shared_ptr<Heap> heap_;
  Kernels kernels_;
  Stash stash_;
  Transfers transfers_;
  Teller teller_;
  Commands commands_;             // waits when it goes, so it goes first
  int dispatches_ = 0;            // in the command buffer being recorded
  int most_dispatches_ = 0;       // there
  LaunchBytes next_launch_;       // of the dispatch recorded next, if it is timed
  QuietProcessors quiet_;         // for GPUs
  std::unique_ptr<Waker> waker_;  // may be null
};

const VulkanBlock& as_vulkan(const BlockPtr& block) {
  return static_cast<const VulkanBlock&>(*block);
}

Status check_range(const Block& block, int64_t offset, size_t bytes) {
  if (offset >= 0 && offset <= block.bytes() &&
      static_cast<int64_t>(bytes) <= block.bytes() - offset) {
    return {};
  }
  return internal_error(
      fmt::format("transfer of {} bytes at {} leaves a block of {}", bytes, offset, block.bytes()));
}

Result<BlockPtr> VulkanDevice::allocate(int64_t bytes, bool unseen) {
  if (bytes < 0) return internal_error(fmt::format("block of {} bytes wanted", bytes));
  KENAZ_TRY(heap_->check_allowance(bytes));
  auto block = heap_->allocate(bytes, unseen);
  if (!block && block.error().kind == ErrorKind::kOutOfMemory && bytes <= info().max_block_bytes) {
    trim();
    block = heap_->allocate(bytes, unseen);
  } else if (heap_->hoards()) {
    trim();
  }
  commands_.fill(heap_->take_fills());
  return block;
}

/// What goes wrong here does so again where it matters.
void VulkanDevice::compile_apart(const KernelSource& source) const {
  const auto context = another_();
  if (!context) return;
  Kernels kernels(*context, "");
  const auto kernel = kernels.make(source);
  if (kernel) (void)finish_compiling(*context, *kernel);
}

Result<KernelPtr> VulkanDevice::make_kernel(const KernelSource& source) {
  if (source.code_of) return kernels_.make(source);
  if (info().is_cpu && another_) compile_apart(source);
  auto kernel = kernels_.make(source);
  if (kernel && info().is_cpu) KENAZ_TRY(finish_compiling(context_, *kernel));
  return kernel;
}

Result<BlockPtr> VulkanDevice::allocate_shared(int64_t bytes) {
  auto block = heap_->allocate_shared(bytes);
  commands_.fill(heap_->take_fills());
  return block;
}

Result<BlockPtr> VulkanDevice::allocate_for_host(int64_t bytes) {
  if (bytes > kWindowBytes) return allocate(bytes);
  return heap_->allocate_for_host(bytes);
}

std::span<std::byte> VulkanDevice::watched(const BlockPtr& block) {
  const VulkanBlock& b = as_vulkan(block);
  if (!b.is_for_host()) return {};
  return {b.mapped(), static_cast<size_t>(b.bytes())};
}

Result<bool> VulkanDevice::submit_and_watch(const std::function<bool()>& seen) {
  KENAZ_ASSIGN(const bool is_seen, commands_.watch(seen));
  most_dispatches_ = kFirstSubmit / 2;  // soon it has nothing to do
  return is_seen;
}

bool VulkanDevice::poke(const BlockPtr& block, uint32_t word) {
  std::byte* mapped = as_vulkan(block).mapped();
  if (mapped == nullptr || block->bytes() < int64_t{sizeof word}) return false;
  std::atomic_ref(*reinterpret_cast<uint32_t*>(mapped)).store(word);
  return true;
}

void VulkanDevice::trim() {
  if (auto done = commands_.finish(); !done) return;  // memory may still be in use
  heap_->trim();
  commands_.forget();
  transfers_.pool().trim();
}

/// Before anything is recorded. What fails here does so again where it matters.
void VulkanDevice::leave_interrupted_processors() {
  const auto now = QuietProcessors::Clock::now();
  if (info().is_cpu || commands_.is_running() || !quiet_.is_due(now)) return;
  const auto buffer = transfers_.small();
  if (!buffer) return;
  quiet_.look(now, [&] {
    const auto commands = commands_.recording();
    if (!commands) return false;
    context_->vk().vkCmdFillBuffer(*commands, (*buffer)->buffer.get(), 0, sizeof(uint32_t), 0);
    return commands_.finish().has_value();
  });
}

/// Before anything is recorded.
void VulkanDevice::note_beginning() {
  if (commands_.is_recording()) return;
  stay_awake();
  leave_interrupted_processors();
  dispatches_ = 0;
  commands_.poll();
  most_dispatches_ =
      commands_.is_running() ? std::min(2 * most_dispatches_, kDispatchesPerSubmit) : kFirstSubmit;
}

Result<VkCommandBuffer> VulkanDevice::recording() {
  note_beginning();
  return commands_.recording();
}

Status VulkanDevice::dispatch(const KernelPtr& kernel, uint32_t x, uint32_t y,
                              std::span<const std::byte> push, uint32_t first_row) {
  auto k = std::static_pointer_cast<const VulkanKernel>(kernel);
  if (x > info().max_groups_x || y > info().max_groups_y || first_row > info().max_groups_y - y ||
      (first_row != 0 && !info().cuts_launches())) {
    return internal_error(fmt::format("dispatch of {} x {} groups from row {}", x, y, first_row));
  }
  if (push.size() != k->push_bytes()) {
    return internal_error(
        fmt::format("{} bytes of push constants given, {} expected", push.size(), k->push_bytes()));
  }
  if (x == 0 || y == 0) return {};
  note_beginning();
  KENAZ_TRY(commands_.dispatch(std::move(k), {x, y, first_row}, push, next_launch_));
  // After, not before: a stash made for this dispatch is good until the next submit only.
  if (++dispatches_ >= most_dispatches_) KENAZ_TRY(commands_.submit());
  return {};
}

Status VulkanDevice::barrier() {
  if (!commands_.idle()) commands_.barrier();
  return {};
}

Status VulkanDevice::submit() {
  KENAZ_TRY(commands_.submit());
  return {};
}

Status VulkanDevice::write(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) {
  KENAZ_TRY(check_range(*dst, offset, data.size()));
  const VulkanBlock& block = as_vulkan(dst);
  while (!data.empty()) {
    const size_t n = std::min<size_t>(data.size(), Stash::kMax);
    KENAZ_ASSIGN(VkCommandBuffer commands, recording());
    KENAZ_ASSIGN(const Stash::Place from, stash_.put(commands_, data.first(n)));
    record_copy(*context_, commands, from.buffer, from.offset, block.buffer(),
                block.offset() + offset, static_cast<int64_t>(n));
    offset += static_cast<int64_t>(n);
    data = data.subspan(n);
  }
  return {};
}

Status VulkanDevice::clear(const BlockPtr& dst) {
  if (dst->bytes() == 0) return {};
  KENAZ_ASSIGN(VkCommandBuffer commands, recording());
  const VulkanBlock& block = as_vulkan(dst);
  constexpr int64_t kWord = 4;  // blocks have room for whole ones
  context_->vk().vkCmdFillBuffer(
      commands, block.buffer(), static_cast<VkDeviceSize>(block.offset()),
      static_cast<VkDeviceSize>((block.bytes() + kWord - 1) / kWord * kWord), 0);
  return {};
}

Status VulkanDevice::copy(const BlockPtr& dst, int64_t dst_offset, const BlockPtr& src,
                          int64_t src_offset, int64_t bytes) {
  if (bytes < 0) return internal_error(fmt::format("copy of {} bytes", bytes));
  KENAZ_TRY(check_range(*dst, dst_offset, static_cast<size_t>(bytes)));
  KENAZ_TRY(check_range(*src, src_offset, static_cast<size_t>(bytes)));
  if (bytes == 0) return {};
  KENAZ_ASSIGN(VkCommandBuffer commands, recording());
  const VulkanBlock& to = as_vulkan(dst);
  const VulkanBlock& from = as_vulkan(src);
  record_copy(*context_, commands, from.buffer(), from.offset() + src_offset, to.buffer(),
              to.offset() + dst_offset, bytes);
  return {};
}

Result<uint64_t> VulkanDevice::stash(std::span<const std::byte> data) {
  if (static_cast<int64_t>(data.size()) > Stash::kMax) {
    return internal_error(fmt::format("argument list of {} bytes", data.size()));
  }
  note_beginning();  // which may submit: before, since a stash is good until the next submit only
  KENAZ_ASSIGN(const Stash::Place place, stash_.put(commands_, data));
  return place.address;
}

Status VulkanDevice::submit_and_read(std::span<const ReadBack> pieces) {
  bool mapped = true;
  size_t total = 0;
  for (const ReadBack& piece : pieces) {
    KENAZ_TRY(check_range(*piece.src, piece.offset, piece.data.size()));
    mapped = mapped && as_vulkan(piece.src).mapped() != nullptr;
    total += piece.data.size();
  }
  mapped = mapped && (total <= kWindowBytes || mapped_);
  if (total > 0 && (!mapped || !commands_.idle())) {
    KENAZ_ASSIGN(const bool told, read_told(pieces));
    if (told) return {};
  }
  if (!mapped) return read_through_copy(pieces);
  // Behind a window the host sees what is read here and nothing else; the barrier takes the device
  // a microsecond.
  const bool host_reads = mapped_ || total > 0;
  if (host_reads && commands_.hides_from_host()) KENAZ_TRY(commands_.barrier_to_host());
  if (!commands_.idle()) {
    if (!host_reads) commands_.barrier();
    KENAZ_TRY(commands_.finish());
  }
  for (const ReadBack& piece : pieces) {
    if (piece.data.empty()) continue;
    std::memcpy(piece.data.data(), as_vulkan(piece.src).mapped() + piece.offset, piece.data.size());
  }
  return {};
}

/// Where device memory is mapped, a look is all that it takes.
Result<bool> VulkanDevice::read_told(std::span<const ReadBack> pieces) {
  if (mapped_ || commands_.is_timed() || pieces.size() > Teller::kMost) return false;
  std::array<Teller::Scalar, Teller::kMost> scalars;
  size_t count = 0;
  for (const ReadBack& piece : pieces) {
    const uint64_t address = piece.src->address() + static_cast<uint64_t>(piece.offset);
    if (!piece.data.empty()) scalars[count++] = {address, piece.data};
  }
  const auto all = std::span(scalars).first(count);
  if (!Teller::can_tell(all)) return false;
  note_beginning();
  KENAZ_ASSIGN(const bool told, teller_.read(all));
  if (told) most_dispatches_ = kFirstSubmit / 2;  // there is nothing else to do
  return told;
}

Status VulkanDevice::read_through_copy(std::span<const ReadBack> pieces) {
  size_t total = 0;
  for (const ReadBack& piece : pieces) total += piece.data.size();
  if (static_cast<int64_t>(total) > Transfers::kSmall) {
    return internal_error(fmt::format("{} bytes read back at a time", total));
  }
  KENAZ_ASSIGN(Buffer * buffer, transfers_.small());
  commands_.barrier();
  KENAZ_ASSIGN(VkCommandBuffer commands, recording());
  int64_t at = 0;
  for (const ReadBack& piece : pieces) {
    if (piece.data.empty()) continue;
    const VulkanBlock& block = as_vulkan(piece.src);
    const int64_t bytes = static_cast<int64_t>(piece.data.size());
    record_copy(*context_, commands, block.buffer(), block.offset() + piece.offset,
                buffer->buffer.get(), at, bytes);
    at += bytes;
  }
  KENAZ_TRY(commands_.barrier_to_host());
  KENAZ_TRY(commands_.finish());
  KENAZ_TRY(buffer->invalidate(*context_));
  at = 0;
  for (const ReadBack& piece : pieces) {
    if (piece.data.empty()) continue;
    std::memcpy(piece.data.data(), buffer->mapped + at, piece.data.size());
    at += static_cast<int64_t>(piece.data.size());
  }
  return {};
}

Status VulkanDevice::upload(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) {
  KENAZ_TRY(check_range(*dst, offset, data.size()));
  if (data.empty()) return {};
  const VulkanBlock& block = as_vulkan(dst);
  if (block.mapped() == nullptr) {
    if (static_cast<int64_t>(data.size()) > Stash::kMax) {
      return transfers_.upload(block, offset, data);
    }
    KENAZ_TRY(barrier());
    KENAZ_TRY(write(dst, offset, data));
    KENAZ_TRY(barrier());
    return submit();
  }
  KENAZ_TRY(submit_and_wait());
  std::memcpy(block.mapped() + offset, data.data(), data.size());
  return {};
}

Status VulkanDevice::download(const BlockPtr& src, int64_t offset, std::span<std::byte> data) {
  KENAZ_TRY(check_range(*src, offset, data.size()));
  if (data.empty()) return {};
  const VulkanBlock& block = as_vulkan(src);
  const bool mapped = block.mapped() != nullptr && mapped_;
  if (mapped || static_cast<int64_t>(data.size()) <= Transfers::kSmall) {
    const ReadBack piece{src, offset, data};
    return submit_and_read({&piece, 1});
  }
  return transfers_.download(block, offset, data);
}

// ---- transfers in pieces

VulkanChunkPtr as_vulkan(const ChunkPtr& chunk) {
  return std::static_pointer_cast<VulkanChunk>(chunk);
}

Status check_chunk(const Block& block, int64_t offset, const Chunk& chunk, int64_t bytes) {
  if (bytes < 0 || bytes > static_cast<int64_t>(chunk.bytes().size())) {
    return internal_error(fmt::format("{} bytes of a chunk of {}", bytes, chunk.bytes().size()));
  }
  return check_range(block, offset, static_cast<size_t>(bytes));
}

std::span<std::byte> VulkanDevice::mapped(const BlockPtr& block) {
  const VulkanBlock& b = as_vulkan(block);
  if (b.mapped() == nullptr || !mapped_) return {};
  return {b.mapped(), static_cast<size_t>(b.bytes())};
}

Result<ChunkPtr> VulkanDevice::chunk(int64_t bytes) {
  commands_.poll();  // some may come back
  return transfers_.pool().take(bytes);
}

Result<ChunkPtr> VulkanDevice::extra_chunk() { return transfers_.pool().take_extra(); }

Status VulkanDevice::start_upload(const BlockPtr& dst, int64_t offset, const ChunkPtr& chunk,
                                  int64_t bytes) {
  KENAZ_TRY(check_chunk(*dst, offset, *chunk, bytes));
  if (bytes == 0) return {};
  return transfers_.start_upload(as_vulkan(dst), offset, as_vulkan(chunk), bytes, true);
}

Status VulkanDevice::start_download(const BlockPtr& src, int64_t offset, const ChunkPtr& chunk,
                                    int64_t bytes) {
  KENAZ_TRY(check_chunk(*src, offset, *chunk, bytes));
  if (bytes == 0) return {};
  return transfers_.start_download(as_vulkan(src), offset, as_vulkan(chunk), bytes, true);
}

Status VulkanDevice::wait(const ChunkPtr& chunk) { return transfers_.wait(*as_vulkan(chunk)); }

}  // namespace
}  // namespace vulkan

std::function<Result<std::shared_ptr<Device>>()> vulkan_device_maker(const VulkanOptions& options) {
  return [options,
          instance =
              std::shared_ptr<vulkan::Instance>()]() mutable -> Result<std::shared_ptr<Device>> {
    if (!instance) {
      KENAZ_ASSIGN(instance, vulkan::Instance::create(options.validation, options.faults));
    }
    KENAZ_ASSIGN(auto context, vulkan::Context::create(options, instance));
    const auto another = [options, instance] { return vulkan::Context::create(options, instance); };
    return std::make_shared<vulkan::VulkanDevice>(std::move(context), options, another);
  };
}

Result<std::shared_ptr<Device>> make_vulkan_device(const VulkanOptions& options) {
  return vulkan_device_maker(options)();
}

}  // namespace kenaz::device
