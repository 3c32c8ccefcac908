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

/// Notes what a launch stores to device memory. `next`, unless null, sees everything, too.
class StoredRanges : public kir::Observer {
 public:
  explicit StoredRanges(kir::Observer* next) : next_(next) {}
  void on_access(const kir::Inst& inst, const Place& place, bool shared, bool write,
                 uint64_t address, int bytes) override;
  void on_branch(const kir::Inst& inst, const Place& place, bool taken) override;
  void on_group_end(int64_t group) override;
  const std::vector<kir::Memory::Range>& ranges() const { return ranges_; }

 private:
  kir::Observer* const next_;
  std::vector<kir::Memory::Range> ranges_;
};

class SomeGroups {
 public:
  /// The block holds zeros, and kernels that use it leave zeros there (program::OpAlloc::kZeroes).
  void note_zeros(uint64_t block) { zeros_.insert(block); }
  /// After a launch of which `ran` of `groups` workgroups have run: what the others may have
  /// written becomes undefined. That is all in the blocks that the kernel writes but what has been
  /// stored; and this, too, if workgroups communicate by atomics, since it may not be what would be
  /// there in the end. Zeros are there again.
  void finish(const kir::Kernel& kernel, std::span<const PrimValue> args, kir::Memory& memory,
              std::span<const kir::Memory::Range> stored, int64_t ran, int64_t groups);
  /// Why something may be undefined, a sentence; empty if all launches were complete.
  const std::string& note() const { return note_; }

 private:
  std::set<uint64_t> zeros_;
  std::string note_;
};

}  // namespace kenaz::device::interpreter
