// Launches of which only some workgroups run, so that large programs can be observed: what the
// others would have computed is undefined.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernels/kir/eval/machine.h"

namespace kenaz::device::interpreter {

/// Whether a workgroup may change what others have stored, or what they will: by atomics.
bool communicates(const kir::Kernel& kernel);

/// Notes what a launch of the kernel stores to device memory; nothing, if its workgroups
/// communicate by atomics. `next`, unless null, sees everything, too.
class StoredRanges : public kir::Observer {
 public:
  StoredRanges(const kir::Kernel& kernel, kir::Observer* next);
  void on_access(const kir::Inst& inst, const Place& place, bool shared, bool write,
                 uint64_t address, int bytes) override;
  void on_branch(const kir::Inst& inst, const Place& place, bool taken) override;
  void on_group_end(int64_t group) override;
  /// In no order, and they may overlap. At most twice as many as there are pieces of memory that
  /// do not touch, and some thousand.
  const std::vector<kir::Memory::Range>& ranges() const { return ranges_; }

 private:
  void merge();

  kir::Observer* const next_;
  const bool collects_;
  size_t merge_at_;  // as soon as there are so many
  std::vector<kir::Memory::Range> ranges_;
};

class SomeGroups {
 public:
  /// The block holds zeros, and kernels that use it leave zeros there (program::OpAlloc::kZeroes).
  void note_zeros(uint64_t block) { zeros_.insert(block); }
  /// After a launch of which `ran` of `groups` workgroups have run: what the others may have
  /// written becomes undefined. That is all in the blocks that the kernel writes but `stored`,
  /// which is nothing if workgroups communicate by atomics, since what they store may not be what
  /// would be there in the end. Zeros are there again.
  void finish(const kir::Kernel& kernel, std::span<const PrimValue> args, kir::Memory& memory,
              std::span<const kir::Memory::Range> stored, int64_t ran, int64_t groups);
  /// Why something may be undefined, a sentence; empty if all launches were complete.
  const std::string& note() const { return note_; }

 private:
  std::set<uint64_t> zeros_;
  std::string note_;
};

}  // namespace kenaz::device::interpreter
