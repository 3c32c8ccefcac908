// Runs kernels on the CPU: workgroup by workgroup or several at a time, threads interleaved by a
// seed, subgroups of any size. Takes nothing on trust: what a device would silently do wrong is an
// error here, with the statement of the program that the instruction comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kir/kir.h"
#include "protocol/base/result.h"

namespace kenaz::kir {

namespace eval {
class Launches;
}

/// Device memory. Blocks lie far apart, so that an address that leaves one is in none. Every byte
/// is undefined until it is written.
class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// The address of a new block, a multiple of 256; 0 bytes are fine.
  uint64_t allocate(size_t bytes);
  /// A block that holds `data`.
  uint64_t allocate(std::span<const std::byte> data);
  /// A block of zeros, which are undefined nevertheless: for memory that a host may look at.
  uint64_t allocate_zeros(size_t bytes);
  /// The block's bytes; marks none of them as defined.
  std::span<const std::byte> bytes(uint64_t block) const;
  /// Whether all bytes of the range are defined.
  bool defined(uint64_t address, size_t bytes) const;
  void write(uint64_t address, std::span<const std::byte> data);
  /// A range of device memory.
  struct Range {
    uint64_t address = 0;
    size_t bytes = 0;
  };
  /// The block that holds the address.
  Range block_of(uint64_t address) const;
  /// Makes the block undefined but for these ranges in it, which stay as they are.
  void forget(uint64_t block, std::span<const Range> but);
  /// Copies bytes to another place that does not overlap, undefined ones as such.
  void copy(uint64_t to, uint64_t from, size_t bytes);
  void release(uint64_t block);
  /// What runs from now on is ordered behind all that has run (see RunOptions::overlaps).
  void barrier();

 private:
  friend class Machine;
  struct Block;
  /// The block and how far in it the range begins, which must lie inside of it.
  std::pair<Block*, uint64_t> locate(uint64_t address, size_t bytes) const;
  std::map<uint64_t, std::unique_ptr<Block>> blocks_;
  uint64_t next_;
  const std::unique_ptr<eval::Launches> launches_;  // since the last barrier
};

struct RunOptions {
  int subgroup_size = 8;      // 1, 4, 8, 32, 64, ..
  uint64_t seed = 0;          // of the interleaving; 0: each thread runs as far as it can
  int concurrent_groups = 1;  // workgroups that run at the same time
  /// Workgroups start in the order of their numbers; else in one that the seed draws.
  bool starts_in_order = false;
  /// Threads of a workgroup that stand at one operation do it together: one of the orders that a
  /// device may take, and much faster. Else one thread goes on at a time.
  bool lock_step = false;
  std::vector<PrimValue> specs;       // by Kernel::specs; empty: their fallbacks
  int64_t max_steps = 1'000'000'000;  // of all threads; more is an error (endless loops)
  /// After so many steps the host stops the call: a thread stops at its next iteration of a loop
  /// that is not uniform. 0: the call has failed before, all threads have stopped at the start.
  /// Negative: never. After a failure, other threads stop there, too, after some iterations.
  int64_t stop_after = -1;
  /// Looked at every some ten thousand steps: true from when on the host stops the call. May be
  /// null.
  std::function<bool()> stops;
  /// Whether a plain store of what is in memory already is a race with the store that put it there.
  /// A program may well write the same value to one place several times.
  bool equal_stores_race = true;
  /// At most so many workgroups run; 0: all of them. See chosen_groups().
  int64_t most_groups = 0;
  uint64_t groups_seed = 0;
  /// The kernel may run at the same time as those since Memory::barrier(): what it does is not
  /// ordered behind what they did. Else it is.
  bool overlaps = false;
  /// The address of a word of 4 bytes that threads set by atomics and the host may set, and that
  /// plain loads look at meanwhile, without a race: a call's failure record. 0: there is none.
  uint64_t set_once = 0;
};

/// What a thread recorded by IFail, first come.
struct Failed {
  int number = 0;
  std::vector<PrimValue> args;
  ir::ProvId prov;
};

/// What went wrong with the kernel itself.
enum class FaultKind : uint8_t {
  kOutOfBlock,  // an access outside of its block, or of an array
  kUndefined,   // a value that depends on memory or a variable that nobody has written, used
                // in a condition, an address, an index, or stored by an atomic
  kMisaligned,
  kRace,              // two threads, one of them writes, not both atomic, nothing between them
  kDivergentBarrier,  // not all threads of the workgroup reach the same barrier
  kDivergentSubgroup,
  kEndless,  // max_steps, or all threads wait
};

/// What a kernel did wrong, where, and what else is part of it.
struct Fault {
  FaultKind kind = FaultKind::kOutOfBlock;
  std::string text;  // names the instruction, the kernel and the thread
  ir::ProvId prov;
  /// kRace: the other access. kUndefined: what made the value undefined, a load or a declaration,
  /// say. kDivergent..: where other threads wait, or else the branch or loop where threads part.
  ir::ProvId other;
  /// `other` is of another kernel: the one that ran so many kernels before this one.
  int launches_before = 0;
};
/// In a user's words: "a race", "an access outside of a block", ...
std::string_view describe(FaultKind kind);
/// Of Fault::other: what the second place of such a fault is.
std::string_view title_of_other(FaultKind kind);

/// Sees every executed access and branch (observe.h makes figures of them).
class Observer {
 public:
  virtual ~Observer() = default;
  struct Place {
    int64_t group;
    int local;
    /// A hash of the iterations of the loops, and of the calls, that the thread is in: what threads
    /// of a subgroup do in the same turn, a device does together.
    uint64_t turn = 0;
  };
  /// An access of `bytes` at an address of device memory, or an offset in a shared array.
  virtual void on_access(const Inst&, const Place&, bool /*shared*/, bool /*write*/,
                         uint64_t /*address*/, int /*bytes*/) {}
  virtual void on_branch(const Inst&, const Place&, bool /*taken*/) {}
  /// All threads of the workgroup have ended.
  virtual void on_group_end(int64_t /*group*/) {}
};

struct RunResult {
  std::optional<Failed> failure;  // of the program
};

/// The numbers of the workgroups that run: all of them, or RunOptions::most_groups, namely the
/// first, the last and others by chance, the same ones for equal numbers. If the kernel's
/// workgroups wait for each other, all of them. Ascending.
std::vector<int64_t> chosen_groups(const Kernel& kernel, int64_t groups, const RunOptions& options);

/// Runs `groups` workgroups, or those that the options choose of them. `args`: by Kernel::args,
/// blocks by their address as u64. The kernel must be valid. A fault is an error of kind kInternal:
/// its text begins with the FaultKind's name; `fault`, if given, becomes the fault. What cannot be
/// run is an error of another kind.
Result<RunResult> run(const Kernel& kernel, Memory& memory, std::span<const PrimValue> args,
                      int64_t groups, const RunOptions& options = {}, Observer* observer = nullptr,
                      std::optional<Fault>* fault = nullptr);

}  // namespace kenaz::kir
