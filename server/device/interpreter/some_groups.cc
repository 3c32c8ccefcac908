#include "server/device/interpreter/some_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/kir/access.h"
#include "kernels/kir/visit.h"

namespace kenaz::device::interpreter {
namespace {

constexpr size_t kFirstMerge = 4096;

}  // namespace

bool communicates(const kir::Kernel& kernel) {
  bool found = false;
  kir::for_each_inst_of(kernel, [&](const kir::Inst& inst) {
    const auto* atomic = std::get_if<kir::IAtomic>(&inst.op);
    if (atomic == nullptr || atomic->op == kir::AtomicOp::kLoad) return;
    found = found || std::holds_alternative<kir::Value>(atomic->at.base);
  });
  return found;
}

StoredRanges::StoredRanges(const kir::Kernel& kernel, kir::Observer* next)
    : next_(next), collects_(!communicates(kernel)), merge_at_(kFirstMerge) {}

/// Makes one of ranges that overlap or touch. Blocks do not touch.
void StoredRanges::merge() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  size_t last = 0;
  for (size_t k = 1; k < ranges_.size(); ++k) {
    const kir::Memory::Range r = ranges_[k];
    kir::Memory::Range& before = ranges_[last];
    if (r.address > before.address + before.bytes) {
      ranges_[++last] = r;
    } else {
      before.bytes = std::max(before.bytes, r.address + r.bytes - before.address);
    }
  }
  ranges_.resize(last + 1);
  merge_at_ = std::max(kFirstMerge, 2 * ranges_.size());
}

void StoredRanges::on_access(const kir::Inst& inst, const Place& place, bool shared, bool write,
                             uint64_t address, int bytes) {
  if (collects_ && write && !shared) {
    ranges_.push_back({address, static_cast<size_t>(bytes)});
    if (ranges_.size() >= merge_at_) merge();
  }
  if (next_ != nullptr) next_->on_access(inst, place, shared, write, address, bytes);
}

void StoredRanges::on_branch(const kir::Inst& inst, const Place& place, bool taken) {
  if (next_ != nullptr) next_->on_branch(inst, place, taken);
}

void StoredRanges::on_group_end(int64_t group) {
  if (next_ != nullptr) next_->on_group_end(group);
}

void SomeGroups::finish(const kir::Kernel& kernel, std::span<const PrimValue> args,
                        kir::Memory& memory, std::span<const kir::Memory::Range> stored,
                        int64_t ran, int64_t groups) {
  const std::vector<kir::Access> access = kir::access_of(kernel);
  for (size_t k = 0; k < args.size(); ++k) {
    if (!kernel.args[k].is_block) continue;
    if (access[k] != kir::Access::kWrite && access[k] != kir::Access::kReadWrite) continue;
    const kir::Memory::Range block = memory.block_of(args[k].bits);
    if (zeros_.contains(block.address)) {
      memory.write(block.address, std::vector<std::byte>(block.bytes));
      continue;
    }
    std::vector<kir::Memory::Range> but;
    for (const kir::Memory::Range& r : stored) {
      if (r.address - block.address < block.bytes) but.push_back(r);
    }
    memory.forget(block.address, but);
  }
  if (!note_.empty()) return;
  note_ = fmt::format(
      "Of kernel {}, {} of {} workgroups have run (--groups), so not everything has "
      "been computed.",
      kernel.name, ran, groups);
}

}  // namespace kenaz::device::interpreter
