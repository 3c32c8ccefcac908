#include "server/host/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace kenaz::host {

using namespace program;

namespace {

constexpr int64_t kMaxPushSlots = kPushBytes / 8;
// A loop that only launches is stopped to look for failures every so many launches.
constexpr int64_t kLaunchesPerLook = 1 << 14;
// The next piece of a launch is twice as large as one that took less than this.
constexpr std::chrono::milliseconds kQuickPiece{20};
constexpr size_t kMaxScalarArgs = 8;
// Host code computes sizes in bytes such that what does not fit comes out as this or more, or
// negative.
constexpr int64_t kNoSize = int64_t{1} << 62;

bool is_push(int slots) { return slots <= kMaxPushSlots; }

/// Which of the next operations read, and none of them what another one reads from.
std::vector<const OpRead*> reads_together(std::span<const HostOp> code) {
  constexpr size_t kMost = 64;
  std::vector<const OpRead*> all;
  for (const HostOp& op : code.first(std::min(code.size(), kMost))) {
    const auto* read = std::get_if<OpRead>(&op.op);
    if (read == nullptr || std::holds_alternative<ScalarReg>(read->offset)) break;
    all.push_back(read);
  }
  return all;
}

}  // namespace

Status Interpreter::run(const Code& code, Recording* recording) {
  stack_.assign(1, Piece{&code});
  return go_on(recording);
}

Status Interpreter::run(const Residual& residual) {
  if (residual.last_launch) {
    last_launch_ = std::get_if<OpLaunch>(&residual.code[*residual.last_launch].op);
  }
  for (const HostOp& op : residual.code) {
    KENAZ_TRY(std::visit([&](const auto& o) { return step(o); }, op.op));
  }
  registers_.scalars = residual.scalars;
  stack_ = residual.rest;
  return go_on(nullptr);
}

Status Interpreter::go_on(Recording* recording) {
  callers_.clear();
  while (!stack_.empty()) {
    Piece& top = stack_.back();
    if (top.next == top.code->size()) {
      KENAZ_TRY(leave());
      continue;
    }
    const HostOp& op = (*top.code)[top.next];
    if (recording != nullptr && !recording->note(op, registers_)) {
      std::exchange(recording, nullptr)->end(registers_.scalars, stack_);
    }
    if (std::holds_alternative<OpRead>(op.op)) {
      const auto reads = reads_together(std::span(*top.code).subspan(top.next));
      top.next += std::max<size_t>(reads.size(), 1);
      KENAZ_TRY(reads.empty() ? step(std::get<OpRead>(op.op)) : read(reads));
      continue;
    }
    ++top.next;
    KENAZ_TRY(std::visit([&](const auto& o) { return step(o); }, op.op));
  }
  if (recording != nullptr) recording->end(registers_.scalars, {});
  return {};
}

Status Interpreter::leave() {
  Piece& top = stack_.back();
  if (top.loop != nullptr) {
    const bool was_head = top.code == &top.loop->head;
    if (!was_head) KENAZ_TRY(stop_.check());
    if (!was_head || registers_.value(top.loop->cond).as_bool()) {
      top.code = was_head ? &top.loop->body : &top.loop->head;
      top.next = 0;
      return {};
    }
  }
  if (top.call != nullptr) give_results(*top.call);
  stack_.pop_back();
  return {};
}

Status Interpreter::finish() {
  if (dirty_ && says_end_) KENAZ_TRY(watch_end());
  if (!dirty_ || !ended_ || may_have_failed_ || !cells_.all_seen()) return synchronise({});
  KENAZ_TRY(device_.barrier());
  dirty_ = false;
  return stop_.check_stopped();
}

/// Waits until the last launch has said its end, or for everything.
Status Interpreter::watch_end() {
  const BlockPart cell = failure_.cell();
  KENAZ_ASSIGN(ended_, device_.submit_and_watch([&] { return cells_.are_there(cell); }));
  if (ended_) cells_.note_seen(cell);
  return {};
}

Status Interpreter::synchronise(std::span<const device::ReadBack> wanted) {
  if (!dirty_) return wanted.empty() ? Status() : device_.submit_and_read(wanted);
  pieces_.clear();
  if (may_have_failed_) pieces_.push_back(failure_.first_word());
  pieces_.insert(pieces_.end(), wanted.begin(), wanted.end());
  KENAZ_TRY(device_.submit_and_read(pieces_));
  hazards_.note_barrier();
  cells_.note_quiet();
  commands_ = 0;
  telling_end_ = 0;
  says_end_ = ended_ = false;
  launches_ = 0;
  Status status = may_have_failed_ ? failure_.check(device_, program_) : stop_.check_stopped();
  // After any other error the record may still hold something: finish() looks again.
  may_have_failed_ = dirty_ = !status && status.error().kind != ErrorKind::kProgramFailure;
  return status;
}

Status Interpreter::barrier() {
  hazards_.note_barrier();
  commands_ = 0;
  return device_.barrier();
}

void Interpreter::note_command() {
  dirty_ = true;
  ++commands_;
  telling_end_ = 0;
  says_end_ = ended_ = false;
}

// ---- registers

void Interpreter::set(BlockReg reg, BlockPart part) {
  BlockPart& slot = registers_.blocks[reg.index];
  if (slot.block && slot.block != part.block && slot.block.use_count() == 1) {
    hazards_.note_freed(slot.block.get());
  }
  slot = std::move(part);
}

Result<BlockPart> Interpreter::get(BlockReg reg) const {
  const BlockPart& part = registers_.blocks[reg.index];
  if (!part.block) return internal_error(fmt::format("block register {} is empty", reg.index));
  return part;
}

Status Interpreter::step(const OpScalar& op) {
  std::array<PrimValue, kMaxScalarArgs> args;
  if (op.args.size() > args.size()) return internal_error("too many operands");
  std::transform(op.args.begin(), op.args.end(), args.begin(),
                 [&](const Operand& o) { return registers_.value(o); });
  registers_.scalars[op.dst.index] =
      eval_scalar(op.op, op.type, op.to, std::span(args).first(op.args.size()));
  return {};
}

Status Interpreter::step(const OpMove& op) {
  registers_.scalars[op.dst.index] = registers_.value(op.src);
  return {};
}

Status Interpreter::step(const OpAlloc& op) {
  const int64_t bytes = registers_.index(op.bytes);
  if (bytes < 0 || bytes >= kNoSize) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of memory: an array is too large to be counted; the device {} "
                            "allows {} bytes for one",
                            device_.info().name, device_.info().max_block_bytes));
  }
  set(op.dst, {});  // first, so that a loop can have the same memory again
  if (op.use == OpAlloc::kZeroes) {
    KENAZ_ASSIGN(auto taken, zeroes_.take(device_, bytes, op.number));
    if (taken.to_clear) KENAZ_TRY(clear(taken.block));
    if (std::ranges::find(zeroes_taken_, taken.block) == zeroes_taken_.end()) {
      zeroes_taken_.push_back(taken.block);
    }
    set(op.dst, std::move(taken.block));
    return {};
  }
  if (op.use == OpAlloc::kHostReads) {
    KENAZ_ASSIGN(auto block, device_.allocate_for_host(bytes));
    hazards_.note_new(block.get());
    BlockPart cells(std::move(block));
    cells.has_cells = true;
    set(op.dst, std::move(cells));
    return {};
  }
  KENAZ_ASSIGN(auto block, device_.allocate(bytes));
  hazards_.note_new(block.get());
  set(op.dst, std::move(block));
  return {};
}

Status Interpreter::clear(const device::BlockPtr& block) {
  if (hazards_.before_write(block.get())) KENAZ_TRY(barrier());
  hazards_.note_written(block.get());
  note_command();
  return device_.clear(block);
}

Status Interpreter::step(const OpMoveBlock& op) {
  set(op.dst, registers_.blocks[op.src.index]);
  return {};
}

Status Interpreter::step(const OpPart& op) {
  KENAZ_ASSIGN(BlockPart part, get(op.src));
  const int64_t offset = registers_.index(op.offset), bytes = registers_.index(op.bytes);
  const bool inside =
      offset >= 0 && bytes >= 0 && offset <= part.bytes && bytes <= part.bytes - offset;
  if (!inside || offset % kPartAlignment != 0) {
    KENAZ_TRY(synchronise({}));  // the sizes may be those of a call that has failed
    return internal_error(fmt::format("{} bytes from {} on, of a block of {}, aligned to {}", bytes,
                                      offset, part.bytes, kPartAlignment));
  }
  set(op.dst, {std::move(part.block), part.offset + offset, bytes});
  return {};
}

Status Interpreter::step(const OpRelease& op) {
  set(op.block, {});
  return {};
}

// ---- the device

Status Interpreter::order_launch(const OpLaunch& op, bool whole) {
  bool wait = false;
  for (const Arg& arg : op.args) {
    if (arg.kind != Arg::kBlock) continue;
    KENAZ_ASSIGN(const BlockPart part, get(arg.block));
    const device::Block* block = part.block.get();
    wait = wait || ((arg.access & Arg::kRead) != 0 && hazards_.before_read(block)) ||
           ((arg.access & Arg::kWrite) != 0 && hazards_.before_write(block));
  }
  if (wait) KENAZ_TRY(barrier());
  for (const Arg& arg : op.args) {
    if (arg.kind != Arg::kBlock) continue;
    const device::Block* block = registers_.blocks[arg.block.index].block.get();
    if ((arg.access & Arg::kRead) != 0) hazards_.note_read(block);
    if ((arg.access & Arg::kWrite) != 0) hazards_.note_written(block);
  }
  note_command();
  note_cells(op, whole);
  return {};
}

/// Whether the launch, which has been ordered, is to say its end. Of others behind it nothing is
/// known but in code that was recorded.
bool Interpreter::is_to_say_end(const OpLaunch& op, int64_t groups, const Rows& rows) const {
  const Kernel& kernel = program_.kernels[op.kernel.index];
  return &op == last_launch_ && kernel.says_end && !may_have_failed_ && commands_ == 1 &&
         rows.count == 1 && groups <= kMostSaying && !device_.is_timed() && failure_.can_say_end();
}

/// A kernel that may fail does not tell: the thread that fails need not be the one that stores. Nor
/// is believed what stands beside one: it ends early where it finds that the other has failed.
void Interpreter::note_cells(const OpLaunch& op, bool whole) {
  const Kernel& kernel = program_.kernels[op.kernel.index];
  const bool tells =
      whole && kernel.tells != Kernel::kNothing && !kernel.may_fail && !device_.is_timed();
  for (const Arg& arg : op.args) {
    if (arg.kind != Arg::kBlock) continue;
    const BlockPart& part = registers_.blocks[arg.block.index];
    if (!part.has_cells) continue;
    if (!tells || arg.access != Arg::kWrite) {
      cells_.note_used(part, (arg.access & Arg::kWrite) != 0);
      continue;
    }
    cells_.note_told(part);
    if (kernel.tells == Kernel::kEnd && commands_ == 1) telling_end_ = part.address();
  }
}

Status Interpreter::step(const OpLaunch& op) {
  const int64_t groups = registers_.index(op.groups);
  if (groups == 0) return {};
  if (groups < 0) return internal_error(fmt::format("a launch of {} workgroups", groups));
  KENAZ_TRY(stop_.check());
  if (launches_ >= kLaunchesPerLook) KENAZ_TRY(synchronise({}));
  auto status = launch(op, groups);
  if (!status && status.error().kind != ErrorKind::kProgramFailure) {
    status.error().context.push_back("while launching " + program_.kernels[op.kernel.index].name);
  }
  return status;
}

/// The time that compiling takes is not the call's, nor anybody else's: nothing of this call's runs
/// meanwhile, and all failures of its kernels are known.
Result<device::KernelPtr> Interpreter::kernel(KernelVersion version) {
  if (auto made = kernels_.find(version)) return made;
  KENAZ_TRY(synchronise({}));
  KENAZ_TRY(device_.submit_and_wait());
  const KernelTable::Made made = kernels_.begin(version);
  KENAZ_TRY(waiter_([&] {
    return stop_.wait([&](std::chrono::milliseconds patience) {
      device_.stay_awake();  // compiling can take seconds
      return made.wait_for(patience) == std::future_status::ready;
    });
  }));
  for (const auto& block : zeroes_taken_)
    KENAZ_TRY(clear(block));  // another's call may have failed
  if (auto by_another = kernels_.find(version)) return by_another;
  return kernels_.finish(version, made);
}

/// Which of a kernel's versions a launch takes.
KernelVersion Interpreter::version_of(const OpLaunch& op, int64_t groups) const {
  const Kernel& kernel = program_.kernels[op.kernel.index];
  const int64_t most = kernel.small_bytes;
  const bool large =
      most > 0 && std::any_of(op.args.begin(), op.args.end(), [&](const Arg& arg) {
        return arg.kind == Arg::kBlock && registers_.blocks[arg.block.index].bytes > most;
      });
  return {op.kernel, !large, kernel.turns.empty() || !makes_few_turns(op, groups)};
}

bool Interpreter::makes_few_turns(const OpLaunch& op, int64_t groups) const {
  const Kernel& kernel = program_.kernels[op.kernel.index];
  const auto n = static_cast<double>(groups);
  return are_few(kernel.turns, {n * kernel.workgroup_size, n}, [&](int argument) {
    const Arg& arg = op.args[static_cast<size_t>(argument)];
    return static_cast<double>(registers_.value(arg.scalar).as_i64());
  });
}

bool Interpreter::has_digits(const OpLaunch& op) const {
  const Kernel& kernel = program_.kernels[op.kernel.index];
  return kernel.slots > slots_without_digits(kernel, op.args.size());
}

/// As many rows as the device can launch, at least.
Result<Interpreter::Rows> Interpreter::rows_of(const OpLaunch& op, int64_t groups) const {
  const device::Info& info = device_.info();
  const int64_t max_x = has_digits(op) ? kDigitsRow : info.max_groups_x;
  const int64_t most = has_digits(op) ? max_x : std::min(max_x, info.groups_at_once);
  if (groups <= most) return Rows{groups, 1, 0};
  int64_t y = (groups - 1) / most + 1;
  if (y > int64_t{info.max_groups_y}) y = (groups - 1) / max_x + 1;
  if (y > int64_t{info.max_groups_y}) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("{} workgroups are more than the device can launch", groups));
  }
  return Rows{has_digits(op) ? max_x : (groups - 1) / y + 1, y, 0};
}

Status Interpreter::launch(const OpLaunch& op, int64_t groups) {
  KENAZ_ASSIGN(const Rows all, rows_of(op, groups));
  KENAZ_ASSIGN(const device::KernelPtr kernel, this->kernel(version_of(op, groups)));
  Rows piece = all;
  piece.count = std::clamp<int64_t>(device_.info().groups_at_once / all.length, 1, all.count);
  while (true) {
    const auto begin = CallStop::Clock::now();
    KENAZ_TRY(order_launch(op, all.count == piece.count));
    KENAZ_TRY(launch_rows(op, kernel, groups, piece));
    piece.first += piece.count;
    if (piece.first == all.count) return {};
    // The call may be over before all of it could be.
    KENAZ_TRY(synchronise({}));
    KENAZ_TRY(stop_.check());
    if (CallStop::Clock::now() - begin < kQuickPiece) piece.count *= 2;
    piece.count = std::min(piece.count, all.count - piece.first);
  }
}

Status Interpreter::launch_rows(const OpLaunch& op, const device::KernelPtr& kernel, int64_t groups,
                                const Rows& rows) {
  const bool digits = has_digits(op);
  const Kernel& code = program_.kernels[op.kernel.index];
  const bool first = launches_ == 0 && !may_have_failed_;
  says_end_ = is_to_say_end(op, groups, rows);
  if (says_end_) cells_.note_told(failure_.cell());
  slots_.clear();
  slots_.reserve(static_cast<size_t>(code.slots));
  slots_.push_back(failure_.block()->address() |
                   (code.skips_look && (first || says_end_) ? kNothingFailed : 0));
  for (const Arg& arg : op.args) {
    slots_.push_back(arg.kind == Arg::kBlock ? registers_.blocks[arg.block.index].address()
                                             : registers_.value(arg.scalar).bits);
  }
  if (code.says_end) slots_.push_back(says_end_ ? failure_.cell().address() : 0);
  slots_.push_back(static_cast<uint64_t>(groups));
  for (uint64_t n = 0; digits && n < kDigitSlots; ++n) {
    slots_.push_back(2 * n | (2 * n + 1) << 32);
  }
  may_have_failed_ = may_have_failed_ || code.may_fail;
  ++launches_;
  auto push = std::as_bytes(std::span(slots_));
  uint64_t list = 0;
  if (!is_push(static_cast<int>(slots_.size()))) {
    KENAZ_ASSIGN(list, device_.stash(push));
    push = std::as_bytes(std::span(&list, 1));
  }
  // The first of a launch's pieces is given the bytes of all.
  if (device_.is_timed()) {
    device_.describe_launch(rows.first == 0 ? bytes_of(op) : device::LaunchBytes{});
  }
  return device_.dispatch(kernel, static_cast<uint32_t>(rows.length),
                          static_cast<uint32_t>(rows.count), push,
                          static_cast<uint32_t>(rows.first));
}

device::LaunchBytes Interpreter::bytes_of(const OpLaunch& op) const {
  std::array<std::set<uint64_t>, 2> seen;  // addresses
  device::LaunchBytes bytes;
  for (const Arg& arg : op.args) {
    if (arg.kind != Arg::kBlock) continue;
    const BlockPart& part = registers_.blocks[arg.block.index];
    const bool reads = (arg.access & Arg::kRead) != 0, writes = (arg.access & Arg::kWrite) != 0;
    if (reads && seen[0].insert(part.address()).second) bytes.read += part.bytes;
    if (writes && seen[1].insert(part.address()).second) bytes.written += part.bytes;
  }
  return bytes;
}

Status Interpreter::step(const OpRead& op) {
  const OpRead* const alone = &op;
  return read({&alone, 1});
}

Result<bool> Interpreter::read_cells(std::span<const OpRead* const> ops) {
  if (may_have_failed_) return false;
  const auto part = [&](const OpRead* op) -> const BlockPart& {
    return registers_.blocks[op->block.index];
  };
  const bool awaited = std::ranges::all_of(ops, [&](const OpRead* op) {
    const BlockPart& p = part(op);
    const int64_t at = registers_.index(op->offset);
    return p.has_cells && at % kCellBytes == 0 && at >= 0 && at < p.bytes && cells_.are_awaited(p);
  });
  if (!awaited) return false;
  KENAZ_ASSIGN(const bool there, device_.submit_and_watch([&] {
    return std::ranges::all_of(ops, [&](const OpRead* op) { return cells_.are_there(part(op)); });
  }));
  if (!there) return false;
  for (const OpRead* op : ops) {
    registers_.scalars[op->dst.index] = {
        op->type, cells_.at(part(op), registers_.index(op->offset), op->type)};
    ended_ = ended_ || part(op).address() == telling_end_;
  }
  for (const OpRead* op : ops) cells_.note_seen(part(op));
  return true;
}

Status Interpreter::read(std::span<const OpRead* const> ops) {
  KENAZ_ASSIGN(const bool told, read_cells(ops));
  if (told) return stop_.check();
  std::vector<uint64_t> bits(ops.size(), 0);
  std::vector<device::ReadBack> wanted;
  for (size_t n = 0; n < ops.size(); ++n) {
    const OpRead& op = *ops[n];
    KENAZ_ASSIGN(const BlockPart part, get(op.block));
    const auto size = static_cast<size_t>(prim_size(op.type));
    wanted.push_back({part.block, part.offset + registers_.index(op.offset),
                      std::as_writable_bytes(std::span(&bits[n], 1)).first(size)});
  }
  KENAZ_TRY(synchronise(wanted));
  for (size_t n = 0; n < ops.size(); ++n) {
    registers_.scalars[ops[n]->dst.index] = {ops[n]->type, bits[n]};
  }
  return {};
}

Status Interpreter::step(const OpWrite& op) {
  KENAZ_ASSIGN(const BlockPart part, get(op.block));
  const size_t size = static_cast<size_t>(prim_size(op.type));
  std::vector<std::byte> bytes(op.values.size() * size);
  for (size_t i = 0; i < op.values.size(); ++i) {
    const uint64_t bits = registers_.value(op.values[i]).bits;
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  if (bytes.empty()) return {};
  if (hazards_.before_write(part.block.get())) KENAZ_TRY(barrier());
  hazards_.note_written(part.block.get());
  note_command();
  if (part.has_cells) cells_.note_used(part, true);
  return device_.write(part.block, part.offset + registers_.index(op.offset), bytes);
}

// ---- control

Status Interpreter::step(const OpIf& op) {
  stack_.push_back({registers_.value(op.cond).as_bool() ? &op.then_code : &op.else_code});
  return {};
}

Status Interpreter::step(const OpWhile& op) {
  KENAZ_TRY(stop_.check());
  stack_.push_back({&op.head, 0, &op});
  return {};
}

Status Interpreter::step(const OpCall& op) {
  if (callers_.size() >= size_t{kMaxCallDepth}) return program_failure(op.too_deep, op.backtrace);
  KENAZ_TRY(stop_.check());
  const Function& f = program_.functions[op.function];
  Registers own;
  const auto constants = [](const auto& from, auto& to, int count, int all) {
    to.assign(from.begin(), from.begin() + count);
    to.resize(static_cast<size_t>(all));
  };
  constants(registers_.scalars, own.scalars, program_.constant_scalar_regs, f.scalar_regs);
  constants(registers_.blocks, own.blocks, program_.constant_block_regs, f.block_regs);
  for (size_t k = 0; k < f.scalars.size(); ++k) {
    own.scalars[f.scalars[k].index] = registers_.value(op.scalars[k]);
  }
  for (size_t k = 0; k < f.blocks.size(); ++k) {
    own.blocks[f.blocks[k].index] = registers_.blocks[op.blocks[k].index];
  }
  callers_.push_back(std::exchange(registers_, std::move(own)));
  stack_.push_back({&f.code, 0, nullptr, &op});
  return {};
}

void Interpreter::give_results(const OpCall& op) {
  const Function& f = program_.functions[op.function];
  std::vector<PrimValue> scalars;
  for (const Operand& o : f.scalar_results) scalars.push_back(registers_.value(o));
  std::vector<BlockPart> blocks;
  for (const BlockReg b : f.block_results) blocks.push_back(registers_.blocks[b.index]);
  // What the function leaves behind goes by way of set(), which sees what is freed.
  for (uint32_t k = 0; k < registers_.blocks.size(); ++k) set(BlockReg{k}, {});
  registers_ = std::move(callers_.back());
  callers_.pop_back();
  for (size_t k = 0; k < scalars.size(); ++k) {
    registers_.scalars[op.scalar_results[k].index] = scalars[k];
  }
  for (size_t k = 0; k < blocks.size(); ++k) set(op.block_results[k], std::move(blocks[k]));
}

Status Interpreter::step(const OpTune& op) {
  registers_.scalars[op.dst.index] = PrimValue::i64(tuning_.value(op.param));
  return {};
}

Status Interpreter::step(const OpCompare& op) {
  const bool holds = tuning_.compare(op.param, registers_.index(op.size));
  registers_.scalars[op.dst.index] = PrimValue::of_bool(holds);
  return {};
}

Status Interpreter::step(const OpAssert& op) {
  if (registers_.value(op.cond).as_bool()) return {};
  std::string message;
  for (const auto& part : op.message) {
    const auto* text = std::get_if<std::string>(&part);
    message += text ? *text : value_text(registers_.value(std::get<Operand>(part)));
  }
  return program_failure(message, op.backtrace);
}

}  // namespace kenaz::host
