#include "server/device/interpreter/interpreter_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "kernels/kir/needs.h"
#include "server/device/interpreter/call_state.h"
#include "server/device/interpreter/kernel.h"
#include "server/device/interpreter/observations.h"
#include "server/device/interpreter/some_groups.h"
#include "server/device/interpreter/store.h"

namespace kenaz::device {
namespace interpreter {
namespace {

/// The first argument list's address. No block lies so low.
constexpr uint64_t kFirstStash = 1 << 16;
constexpr int64_t kMaxStash = 64 << 10;

Info info_of(const InterpreterOptions& o, int64_t memory) {
  Info info;
  info.name = fmt::format("interpreter, subgroups of {}", o.subgroup_size);
  info.driver = o.through_spirv ? "SPIR-V" : "kernel IR";
  info.subgroup_size = static_cast<uint32_t>(o.subgroup_size);
  info.max_group_size = static_cast<uint32_t>(o.max_group_size);
  info.shared_bytes = static_cast<uint32_t>(o.shared_bytes);
  info.max_block_bytes = memory;
  info.float64 = info.float16 = true;
  info.int64_atomics = info.shared_int64_atomics = true;
  info.float32_atomic_add = info.shared_float32_atomic_add = true;
  info.float64_atomic_add = info.shared_float64_atomic_add = true;
  info.subgroup_arithmetic = o.subgroup_size > 1;
  info.fixed_subgroups = true;
  info.forward_progress = o.forward_progress;
  info.starts_in_order = o.starts_in_order;
  info.interprets = !o.through_spirv;
  return info;
}

int64_t memory_of(const InterpreterOptions& o) {
  if (o.memory_limit > 0) return o.memory_limit;
  return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 4;
}

/// Threads of workgroups that communicate are interleaved one by one, as long as they are few: then
/// one launch tries more of what a device may do.
bool runs_in_lock_step(const kir::Kernel& kernel, int64_t groups) {
  constexpr int64_t kFewThreads = 1 << 14;
  return groups * kir::value_of(kernel, kernel.group_size) > kFewThreads || !communicates(kernel);
}

std::shared_ptr<Unread> unread_of(const InterpreterOptions& o) {
  return o.observations ? std::shared_ptr<Unread>(o.observations, &o.observations->unread)
                        : nullptr;
}

/// Whatever is recorded runs at once. Kernels without a barrier between them count as running at
/// the same time nevertheless.
class InterpreterDevice : public Device {
 public:
  explicit InterpreterDevice(const InterpreterOptions& options)
      : options_(options),
        info_(info_of(options, memory_of(options))),
        store_(std::make_shared<Store>(memory_of(options), unread_of(options))) {
    if (options.observations) options.observations->subgroup_size = options.subgroup_size;
  }
  /// Blocks that are released by now go, so that what nobody has read in them is known.
  ~InterpreterDevice() override { store_->memory(); }

  const Info& info() const override { return info_; }
  void set_watch(Watch* watch) override { watch_ = watch; }
  /// New blocks hold zeros, whoever had the memory before.
  void set_owner(uint64_t) override {}
  void set_allowance(int64_t bytes) override { store_->set_allowance(bytes); }
  int64_t allowance() const override { return store_->allowance(); }
  Result<BlockPtr> allocate(int64_t bytes) override { return store_->allocate(bytes); }
  Result<BlockPtr> allocate_unseen(int64_t bytes) override { return store_->allocate(bytes); }
  Result<BlockPtr> allocate_shared(int64_t bytes) override { return store_->allocate(bytes); }
  bool poke(const BlockPtr& block, uint32_t word) override;
  void keep(const BlockPtr& block) override {
    if (unread_) unread_->keep(block->address());
  }
  void note_broken_off() override {
    if (options_.observations) options_.observations->broken_off = true;
  }
  Result<KernelPtr> make_kernel(const KernelSource& source) override;
  Status dispatch(const KernelPtr& kernel, uint32_t x, uint32_t y, std::span<const std::byte> push,
                  uint32_t first_row) override;
  Status barrier() override {
    order();
    return {};
  }
  Status write(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) override;
  Status clear(const BlockPtr& dst) override {
    some_groups_.note_zeros(dst->address());
    return write(dst, 0, std::vector<std::byte>(static_cast<size_t>(dst->bytes())));
  }
  Status copy(const BlockPtr& dst, int64_t dst_offset, const BlockPtr& src, int64_t src_offset,
              int64_t bytes) override;
  Result<uint64_t> stash(std::span<const std::byte> data) override;
  Status submit() override { return {}; }
  Status submit_and_wait() override { return barrier(); }
  Status submit_and_read(std::span<const ReadBack> pieces) override;
  Status upload(const BlockPtr& dst, int64_t offset, std::span<const std::byte> data) override {
    order();
    return write(dst, offset, data);
  }
  Status download(const BlockPtr& src, int64_t offset, std::span<std::byte> data) override;
  /// None: what is undefined would be lost.
  std::span<std::byte> mapped(const BlockPtr&) override { return {}; }
  Result<ChunkPtr> chunk(int64_t bytes) override { return chunks_.make(bytes); }
  Result<ChunkPtr> extra_chunk() override { return chunks_.make_extra(); }
  Status start_upload(const BlockPtr& dst, int64_t offset, const ChunkPtr& chunk,
                      int64_t bytes) override;
  Status start_download(const BlockPtr& src, int64_t offset, const ChunkPtr& chunk,
                        int64_t bytes) override;
  Status wait(const ChunkPtr&) override { return {}; }
  MemoryStats memory() const override { return store_->stats(); }
  void trim() override {}
  void forget_peak() override { store_->forget_peak(); }

 private:
  Result<std::span<const std::byte>> slots_of(const InterpretedKernel& kernel,
                                              std::span<const std::byte> push) const;
  Status run(const std::shared_ptr<const InterpretedKernel>& kernel, const LaunchArguments& with);
  Error failure_of(const kir::Fault& fault) const;
  kir::RunOptions run_options();
  /// What runs from now on is behind all that ran.
  void order() {
    store_->memory().barrier();
    unordered_.clear();
  }

  const InterpreterOptions options_;
  const Info info_;
  const std::shared_ptr<Unread> unread_ = unread_of(options_);  // null: nobody looks
  const std::shared_ptr<Store> store_;
  ChunkMaker chunks_;
  Watch* watch_ = nullptr;
  std::vector<std::byte> stash_;  // the argument list at stash_address_
  uint64_t stash_address_ = kFirstStash;
  uint64_t launches_ = 0;
  SomeGroups some_groups_;
  std::vector<std::shared_ptr<const InterpretedKernel>> unordered_;  // have run since order()
};

bool InterpreterDevice::poke(const BlockPtr& block, uint32_t word) {
  if (block->bytes() < int64_t{sizeof word}) return false;
  store_->memory().write(block->address(), std::as_bytes(std::span(&word, 1)));
  return true;
}

Result<KernelPtr> InterpreterDevice::make_kernel(const KernelSource& source) {
  if (source.code_of) return kernel_of_another(source);
  return options_.through_spirv ? kernel_of_spirv(source) : kernel_of_ir(source);
}

/// The argument list that push constants are, or point to.
Result<std::span<const std::byte>> InterpreterDevice::slots_of(
    const InterpretedKernel& kernel, std::span<const std::byte> push) const {
  if (push.size() != kernel.push_bytes) {
    return internal_error(fmt::format("{} bytes of push constants given, {} expected", push.size(),
                                      kernel.push_bytes));
  }
  if (push.size() != 8) return push;
  uint64_t address = 0;
  std::memcpy(&address, push.data(), sizeof address);
  if (address != stash_address_) return internal_error(fmt::format("no slots at {:#x}", address));
  return std::span<const std::byte>(stash_);
}

Status InterpreterDevice::dispatch(const KernelPtr& kernel, uint32_t x, uint32_t y,
                                   std::span<const std::byte> push, uint32_t first_row) {
  const auto k = std::static_pointer_cast<const InterpretedKernel>(kernel);
  if (x > info_.max_groups_x || y > info_.max_groups_y || first_row != 0) {
    return internal_error(fmt::format("dispatch of {} x {} groups from row {}", x, y, first_row));
  }
  KENAZ_ASSIGN(const std::span<const std::byte> slots, slots_of(*k, push));
  if (!k->of_spirv || push.size() != 8) {
    KENAZ_ASSIGN(const LaunchArguments args, launch_arguments(*k, slots, push, x, y));
    return run(k, args);
  }
  // The kernel loads its arguments from there.
  const uint64_t list = store_->memory().allocate(slots);
  const auto args = launch_arguments(*k, slots, std::as_bytes(std::span(&list, 1)), x, y);
  const Status ran = args ? run(k, *args) : tl::make_unexpected(args.error());
  store_->memory().release(list);
  return ran;
}

/// What the last kernel did wrong, as the text of a program's failure.
Error InterpreterDevice::failure_of(const kir::Fault& fault) const {
  const auto place = [&](ir::ProvId prov, int launches_before) -> std::string {
    const auto& places = unordered_[unordered_.size() - 1 - launches_before]->places;
    return prov.valid() && prov.index < places.size() ? places[prov.index] : "";
  };
  std::string text = fmt::format("Error: The program's code on the device has {}: {}.",
                                 kir::describe(fault.kind), fault.text);
  if (fault.kind == kir::FaultKind::kUndefined && !some_groups_.note().empty()) {
    text += " " + some_groups_.note();
  }
  if (const std::string other = place(fault.other, fault.launches_before); !other.empty()) {
    text += fmt::format("\n\n{}:\n{}", kir::title_of_other(fault.kind), other);
  }
  if (const std::string here = place(fault.prov, 0); !here.empty()) {
    text += "\n\nBacktrace:\n" + here;
  }
  return {ErrorKind::kProgramFailure, std::move(text), {}};
}

kir::RunOptions InterpreterDevice::run_options() {
  kir::RunOptions options;
  options.subgroup_size = options_.subgroup_size;
  options.concurrent_groups = options_.concurrent_groups;
  options.starts_in_order = options_.starts_in_order;
  // Every launch has another interleaving, the same ones in every run.
  options.seed = options_.seed == 0 ? 0 : options_.seed + launches_++;
  options.most_groups = options_.groups;
  options.groups_seed = options_.seed;
  options.equal_stores_race = false;
  options.overlaps = true;
  options.max_steps = INT64_MAX / 2;
  return options;
}

Status InterpreterDevice::run(const std::shared_ptr<const InterpretedKernel>& launched,
                              const LaunchArguments& with) {
  const InterpretedKernel& kernel = *launched;
  unordered_.push_back(launched);
  kir::Memory& memory = store_->memory();
  Record record(memory, with.record);
  Watching watching(watch_);
  watching.look();
  kir::RunOptions options = run_options();
  options.lock_step = runs_in_lock_step(kernel.kernel, with.groups);
  if (!communicates(kernel.kernel)) options.concurrent_groups = 1;
  options.stop_after = !kernel.of_spirv && record.is_set() ? 0 : -1;
  // What was read from SPIR-V looks at the record itself.
  if (kernel.of_spirv) options.set_once = with.record;
  options.stops = [&] {
    watching.look();
    return watching.given_up() || (!kernel.of_spirv && record.is_set());
  };
  std::optional<kir::Fault> fault;
  std::optional<LaunchObserver> observer;
  if (options_.observations) observer.emplace(kernel.kernel, *options_.observations);
  const int64_t groups = with.groups;
  const auto chosen =
      static_cast<int64_t>(kir::chosen_groups(kernel.kernel, groups, options).size());
  kir::Observer* sees = observer ? &*observer : nullptr;
  std::optional<StoredRanges> stored;  // if that is not all
  if (chosen < groups) sees = &stored.emplace(kernel.kernel, sees);
  const auto result = kir::run(kernel.kernel, memory, with.args, groups, options, sees, &fault);
  if (observer) {
    // Threads that are stopped where they start end, too.
    const int64_t ran = options.stop_after == 0 ? 0 : observer->ended();
    options_.observations->add(kernel.kernel, kernel.places, {groups, ran}, *observer);
    options_.observations->broken_off |=
        watching.given_up() || !result || result->failure || record.is_set();
  }
  if (stored) {
    some_groups_.finish(kernel.kernel, with.args, memory, stored->ranges(), chosen, groups);
  }
  if (watching.given_up()) {
    return fail(ErrorKind::kDeviceLost, fmt::format("kernel {} was given up", kernel.kernel.name));
  }
  if (fault) return tl::make_unexpected(failure_of(*fault));
  if (!result) return internal_error(result.error().text());
  if (result->failure && !record.is_set()) record.set(*result->failure);
  return {};
}

// ---- the host's accesses

Status InterpreterDevice::write(const BlockPtr& dst, int64_t offset,
                                std::span<const std::byte> data) {
  KENAZ_TRY(check_range(*dst, offset, static_cast<int64_t>(data.size())));
  const uint64_t to = dst->address() + static_cast<uint64_t>(offset);
  if (unread_) unread_->overwritten(to, static_cast<int64_t>(data.size()));
  store_->memory().write(to, data);
  return {};
}

Status InterpreterDevice::copy(const BlockPtr& dst, int64_t dst_offset, const BlockPtr& src,
                               int64_t src_offset, int64_t bytes) {
  KENAZ_TRY(check_range(*dst, dst_offset, bytes));
  KENAZ_TRY(check_range(*src, src_offset, bytes));
  const uint64_t to = dst->address() + static_cast<uint64_t>(dst_offset);
  const uint64_t from = src->address() + static_cast<uint64_t>(src_offset);
  if (unread_) {
    unread_->read(from, bytes);
    unread_->overwritten(to, bytes);
  }
  store_->memory().copy(to, from, static_cast<size_t>(bytes));
  return {};
}

Result<uint64_t> InterpreterDevice::stash(std::span<const std::byte> data) {
  if (static_cast<int64_t>(data.size()) > kMaxStash) {
    return internal_error(fmt::format("argument list of {} bytes", data.size()));
  }
  stash_.assign(data.begin(), data.end());
  return stash_address_ += 16;
}

Status InterpreterDevice::submit_and_read(std::span<const ReadBack> pieces) {
  order();
  for (const ReadBack& piece : pieces) KENAZ_TRY(download(piece.src, piece.offset, piece.data));
  return {};
}

Status InterpreterDevice::download(const BlockPtr& src, int64_t offset, std::span<std::byte> data) {
  order();
  KENAZ_TRY(check_range(*src, offset, static_cast<int64_t>(data.size())));
  const kir::Memory& memory = store_->memory();
  const uint64_t from = src->address() + static_cast<uint64_t>(offset);
  if (unread_) unread_->read(from, static_cast<int64_t>(data.size()));
  if (!options_.undefined_reads && !memory.defined(from, data.size())) {
    const std::string where =
        fmt::format("of {} bytes, at byte {} of a block of {}.", data.size(), offset, src->bytes());
    return fail(ErrorKind::kProgramFailure,
                some_groups_.note().empty()
                    ? "Error: The program's code on the device has left bytes undefined that are "
                      "read from it: " +
                          where
                    : "Error: What is read from the device has not been computed: " + where + " " +
                          some_groups_.note());
  }
  const auto bytes = memory.bytes(src->address()).subspan(static_cast<size_t>(offset), data.size());
  std::copy(bytes.begin(), bytes.end(), data.begin());
  return {};
}

Status InterpreterDevice::start_upload(const BlockPtr& dst, int64_t offset, const ChunkPtr& chunk,
                                       int64_t bytes) {
  const std::span<const std::byte> from = chunk->bytes();
  if (bytes < 0 || bytes > static_cast<int64_t>(from.size())) {
    return internal_error(fmt::format("{} bytes of a chunk of {}", bytes, from.size()));
  }
  order();
  return write(dst, offset, from.first(static_cast<size_t>(bytes)));
}

Status InterpreterDevice::start_download(const BlockPtr& src, int64_t offset, const ChunkPtr& chunk,
                                         int64_t bytes) {
  const std::span<std::byte> to = chunk->bytes();
  if (bytes < 0 || bytes > static_cast<int64_t>(to.size())) {
    return internal_error(fmt::format("{} bytes of a chunk of {}", bytes, to.size()));
  }
  return download(src, offset, to.first(static_cast<size_t>(bytes)));
}

}  // namespace
}  // namespace interpreter

std::shared_ptr<Device> make_interpreter_device(const InterpreterOptions& options) {
  return std::make_shared<interpreter::InterpreterDevice>(options);
}

}  // namespace kenaz::device
