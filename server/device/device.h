// A compute device, as the layers above see it: memory by address, kernels as SPIR-V, one command
// stream. Vulkan implements it (device/vulkan), and an interpreter on the CPU, which takes kernels
// as kernel IR (device/interpreter). It knows no program. One thread at a time may use a Device
// (blocks may be let go by any thread).
#pragma once

#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace kenaz::device {

/// A piece of device memory inside a slab. Freed when the last reference goes, even while recorded
/// commands still use it: the memory stays mapped, but allocate() may hand it out again at once.
/// One barrier() recorded after the last use of the old block makes commands on the new one safe.
class Block {
 public:
  virtual ~Block() = default;
  virtual uint64_t address() const = 0;  // at least 16-byte aligned (256 for large blocks)
  virtual int64_t bytes() const = 0;
};
using BlockPtr = std::shared_ptr<Block>;

/// A piece of pinned host memory that transfers go through, where the host cannot reach device
/// memory itself. May be let go at any time, also while the device works on it, and by any thread.
class Chunk {
 public:
  virtual ~Chunk() = default;
  virtual std::span<std::byte> bytes() const = 0;
};
using ChunkPtr = std::shared_ptr<Chunk>;

class Kernel {
 public:
  virtual ~Kernel() = default;
};
using KernelPtr = std::shared_ptr<Kernel>;

struct KernelSource {
  std::string name;
  std::span<const uint32_t> spirv;
  uint32_t push_bytes = 0;
  std::span<const uint32_t> constants;  // specialisation constants 0, 1, ..
  /// For a device with Info::interprets, instead of all that: kernel IR as text.
  std::string_view kernel_ir;
  /// For messages: where the instructions of kernel IR come from, by their number; of SPIR-V, where
  /// the kernel does.
  std::span<const std::string> places;
  /// A kernel of this device that has the same code: all but name and places is taken from it.
  KernelPtr code_of;
};

struct Info {
  std::string name, driver;
  uint32_t subgroup_size = 0;
  uint32_t max_groups_x = 65535, max_groups_y = 65535;
  /// Workgroups that one dispatch had better have at most, unless they are quick, so that what is
  /// recorded can be stopped soon: a CPU takes some 10 us to find of one that it need not run.
  int64_t groups_at_once = INT64_MAX;
  uint32_t max_push_bytes = 128;
  uint32_t max_group_size = 128;  // invocations
  uint32_t shared_bytes = 16384;  // of one workgroup
  int64_t max_block_bytes = 0;    // largest single allocation
  bool is_cpu = false;
  int max_nesting = INT_MAX;  // of conditions that one thread runs through
  bool cuts_loops = false;    // the driver ends an invocation's loops after some 2^16 turns itself
  /// Threads of a subgroup make one load of those under no condition, at addresses that are made of
  /// push constants, and all others one thread after the other.
  bool joins_loads = false;
  bool float64 = false, float16 = false;
  bool int64_atomics = false, shared_int64_atomics = false;  // on device memory; on a workgroup's
  // Sums of floats by one atomic operation, likewise.
  bool float32_atomic_add = false, shared_float32_atomic_add = false;
  bool float64_atomic_add = false, shared_float64_atomic_add = false;
  bool subgroup_arithmetic = false;  // votes, shuffles, reductions and scans, on every type
  bool fixed_subgroups = false;      // no kernel has subgroups of another size
  bool forward_progress = false;     // workgroups that have started proceed, whatever others do
  bool starts_in_order = false;      // .. and they start in the order of their numbers
  bool interprets = false;           // takes kernels as kernel IR, and no SPIR-V
  bool cuts_launches() const { return groups_at_once != INT64_MAX; }
};

/// One piece of a submit_and_read: data.size() bytes of `src` from `offset` go to `data`.
struct ReadBack {
  BlockPtr src;
  int64_t offset = 0;
  std::span<std::byte> data;
};

/// What a driver's compiler made of a kernel, as far as it tells.
struct KernelCode {
  std::optional<int64_t> registers;      // of a thread, 32 bits each
  std::optional<int64_t> spilled_bytes;  // of a thread, in memory for want of registers
};
/// What reports say of a kernel.
struct KernelLabel {
  std::string name;
  std::string place;  // where in the program it comes from, as a backtrace; empty if unknown
  KernelCode code;
};
/// Bytes of the blocks that a launch reads, and of those that it writes, each block counted once.
struct LaunchBytes {
  int64_t read = 0, written = 0;
  friend bool operator==(const LaunchBytes&, const LaunchBytes&) = default;
};
/// When something ran on the device, and how long.
struct KernelTime {
  std::shared_ptr<const KernelLabel> kernel;  // null: all that one submission was given
  double begin = 0;                           // microseconds of a clock of the device's
  double microseconds = 0;
  LaunchBytes bytes;  // as describe_launch has told
};

struct MemoryStats {
  int64_t used = 0, cached = 0, peak = 0;
};

/// Looked at while the host waits for the device, so that work can be ended early.
class Watch {
 public:
  virtual ~Watch() = default;
  /// Called by the waiting thread when a wait begins to be long and each time after what it
  /// answered: for how long to wait now. Zero: the device is given up as lost. `progress`: since
  /// the last time it was called, something that the device was given has ended.
  virtual std::chrono::nanoseconds look(bool progress) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Info& info() const = 0;

  /// From now on; null: nobody watches.
  virtual void set_watch(Watch* watch) = 0;

  /// Whether kernels that are recorded from now on are timed. Kernels that overlap are timed each
  /// as if they were alone. A device that has no clock does nothing.
  virtual void set_timing(bool) {}
  virtual bool is_timed() const { return false; }
  /// Describes the dispatch that is recorded next, for its time.
  virtual void describe_launch(const LaunchBytes&) {}
  /// Those of what has ended since the last time, in order. The oldest are lost beyond some 10^5.
  virtual std::vector<KernelTime> take_times() { return {}; }

  /// There will be work within a second: a device that rests had better be awake then. By any
  /// thread.
  virtual void stay_awake() {}

  /// Whose memory blocks are from now on; 0 in the beginning. No byte of one owner reaches another
  /// through a block.
  virtual void set_owner(uint64_t owner) = 0;

  /// From now on all blocks together may have so many bytes more than they have now; what does not
  /// fit is kOutOfMemory. Negative, in the beginning: as many as there are.
  virtual void set_allowance(int64_t bytes) = 0;
  /// What is left of that. Negative: there is no such limit.
  virtual int64_t allowance() const = 0;

  /// Holds zeros and what this owner has left in memory. bytes == 0 gives a valid block with some
  /// address. kOutOfMemory if it cannot be had, after cached memory was returned.
  virtual Result<BlockPtr> allocate(int64_t bytes) = 0;
  /// The same for a block of which every byte is written before anything looks at it. Holds
  /// anybody's bytes till then, and costs nothing to clear.
  virtual Result<BlockPtr> allocate_unseen(int64_t bytes) = 0;
  /// A small block for poke(), to be written before anything looks at it; where the device has no
  /// memory for that, an ordinary one.
  virtual Result<BlockPtr> allocate_shared(int64_t bytes) = 0;
  /// A small block that kernels write and the host is going to read: where it costs the host
  /// little. Otherwise as allocate().
  virtual Result<BlockPtr> allocate_for_host(int64_t bytes) { return allocate(bytes); }
  /// Where the host may look, and store, while kernels run, without a barrier, though nothing says
  /// when it sees what they store: such a block's memory, or nothing.
  virtual std::span<std::byte> watched(const BlockPtr&) { return {}; }
  /// The block holds what outlives the call that computed it: a result or a constant. For devices
  /// that tell what nobody reads.
  virtual void keep(const BlockPtr&) {}
  /// A call has ended before its end: launches that would have read what is there do not come. For
  /// devices that tell what nobody reads.
  virtual void note_broken_off() {}
  /// Sets the block's first word now, while kernels that use it may be running. False if the block
  /// cannot be reached.
  virtual bool poke(const BlockPtr& block, uint32_t word) = 0;

  /// By any thread, while another uses the device.
  virtual Result<KernelPtr> make_kernel(const KernelSource& source) = 0;

  // ---- recording; nothing runs before submit_and_wait (or earlier at the device's choice)
  /// x*y workgroups, of which the first is that at the beginning of row `first_row`, which is 0
  /// unless the device cuts launches; `push` is copied.
  virtual Status dispatch(const KernelPtr& kernel, uint32_t x, uint32_t y,
                          std::span<const std::byte> push, uint32_t first_row = 0) = 0;
  /// Everything recorded before is visible to everything after.
  virtual Status barrier() = 0;
  /// Writes host bytes (copied now) into a block, in order with dispatches; for small data.
  virtual Status write(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) = 0;
  /// Sets all bytes of a block to zero, in order with dispatches like one of them.
  virtual Status clear(const BlockPtr& dst) = 0;
  /// Copies between blocks (not overlapping), in order with dispatches like one of them. Simple,
  /// not fast: kernels copy several times quicker.
  virtual Status copy(const BlockPtr& dst, int64_t dst_offset, const BlockPtr& src,
                      int64_t src_offset, int64_t bytes) = 0;
  /// Copies host bytes (argument lists, at most 64 KiB) to where the dispatch recorded next, right
  /// after this call, can read them; gives their address (16-byte aligned). Needs no barrier.
  virtual Result<uint64_t> stash(std::span<const std::byte> data) = 0;
  /// Sets the device to work on what is recorded, so that it can no longer get lost with a later
  /// submission that fails.
  virtual Status submit() = 0;
  virtual Status submit_and_wait() = 0;
  /// Submits, and reads a few small pieces (4 KiB in all) in the same submission. Then all that was
  /// recorded before has ended and is visible to what is recorded later, but of what the host can
  /// reach only the pieces are to it.
  virtual Status submit_and_read(std::span<const ReadBack> pieces) = 0;
  /// Submits, and waits until `seen`, which looks at watched() memory, is true or all has ended.
  /// Whether it was; then what was submitted may still run, and barrier() is needed behind it.
  virtual Result<bool> submit_and_watch(const std::function<bool()>& seen) {
    KENAZ_TRY(submit_and_wait());
    return seen();
  }

  // ---- transfers, in order with what is recorded, before and after, without barriers of the
  // caller's; upload may return before the data is there, download submits and waits
  virtual Status upload(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) = 0;
  virtual Status download(const BlockPtr& src, int64_t offset, std::span<std::byte> data) = 0;

  // ---- transfers in pieces. The bytes (mapped, or a chunk's) may be filled and read by any
  // thread; the functions are for the device's own
  /// The block's memory where the host reaches it at full speed, else empty. Nothing recorded or
  /// running may use it meanwhile, which goes for new blocks too (see Block): submit_and_wait().
  virtual std::span<std::byte> mapped(const BlockPtr& block) = 0;
  /// A chunk for a transfer of `bytes`. Never waits for one to come back, so transfers that stand
  /// still hold up nobody: when many chunks are out, what it gives is small.
  virtual Result<ChunkPtr> chunk(int64_t bytes) = 0;
  /// One more, full-sized, for the same transfer; null if few are left.
  virtual Result<ChunkPtr> extra_chunk() = 0;
  /// Copies the chunk's first `bytes` to a block, or the reverse, in order with what is recorded,
  /// as upload and download are, but only sets it going. The chunk is busy until wait().
  virtual Status start_upload(const BlockPtr& dst, int64_t offset, const ChunkPtr& chunk,
                              int64_t bytes) = 0;
  virtual Status start_download(const BlockPtr& src, int64_t offset, const ChunkPtr& chunk,
                                int64_t bytes) = 0;
  /// Until the last copy from or to the chunk has ended.
  virtual Status wait(const ChunkPtr& chunk) = 0;

  virtual MemoryStats memory() const = 0;
  /// Returns cached memory to the driver (the protocol's `clear`).
  virtual void trim() = 0;
  /// memory().peak is what is used now.
  virtual void forget_peak() = 0;
};

}  // namespace kenaz::device
