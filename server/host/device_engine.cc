// The engine that runs programs on a device: binds arguments to registers, interprets, and takes
// the results out of registers.
#include "server/host/device_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "protocol/base/check.h"
#include "server/device/allowance.h"
#include "server/host/check_program.h"
#include "server/host/constant_use.h"
#include "server/host/device_elements.h"
#include "server/host/device_leaf.h"
#include "server/host/device_transfers.h"
#include "server/host/interpreter.h"

namespace kenaz::host {

namespace {

/// Binds sizes: a register that several dimensions (or a parameter) name must get one value.
class SizeBinder {
 public:
  SizeBinder(Registers& registers) : registers_(registers), bound_(registers.scalars.size()) {}

  bool bind(const program::Operand& place, PrimValue value) {
    if (const auto* expected = std::get_if<PrimValue>(&place)) return *expected == value;
    const auto i = std::get<program::ScalarReg>(place).index;
    if (bound_[i]) return registers_.scalars[i] == value;
    bound_[i] = true;
    registers_.scalars[i] = value;
    return true;
  }

 private:
  Registers& registers_;
  std::vector<bool> bound_;
};

EntrySignature signature(const program::Program& program, const program::Entry& entry) {
  EntrySignature s;
  s.name = entry.name;
  s.result = entry.result_type;
  s.result_unique = entry.result_unique;
  s.attrs = entry.attrs;
  s.doc = entry.doc;
  for (const uint32_t param : entry.tuning) s.tuning.push_back(program.tuning[param].name);
  for (const auto& p : entry.params) {
    s.params.push_back({p.name, p.type, p.consumed, static_cast<int>(p.leaves.size())});
  }
  return s;
}

class DeviceEngine : public Engine {
 public:
  DeviceEngine(std::shared_ptr<const program::Program> program,
               std::shared_ptr<device::Device> device,
               std::shared_ptr<const KernelCompiler> compiler, FailureRecord failure)
      : program_owner_(std::move(program)),
        program_(*program_owner_),
        device_(std::move(device)),
        failure_(std::move(failure)),
        kernels_(program_.kernels, std::move(compiler), *device_) {
    for (const auto& [name, entry] : program_.entries) {
      signatures_.push_back(signature(program_, entry));
      if (uses_constants(program_, entry)) need_constants_.insert(name);
    }
  }

  const TypeTable& types() const override { return program_.types; }
  const std::vector<EntrySignature>& entries() const override { return signatures_; }
  const std::vector<program::TuningParam>& tuning_params() const override {
    return program_.tuning;
  }
  std::vector<Comparison> comparisons() const override { return comparisons_; }
  std::vector<device::KernelTime> kernel_times() const override { return kernel_times_; }
  Result<LeafPtr> put(const data::Value& value) override;
  Result<data::Value> get(const Leaf& leaf) override;
  Result<std::unique_ptr<LeafWriter>> writer(PrimType prim, std::vector<int64_t> shape) override {
    return make_device_writer(device_, prim, std::move(shape));
  }
  Result<std::unique_ptr<LeafReader>> reader(LeafPtr leaf) override {
    return make_device_reader(device_, leaf);
  }
  Result<LeafPtr> element(const LeafPtr& array, int rank, int64_t number) override {
    return device_element(*device_, array, rank, number);
  }
  Result<LeafPtr> with_element(const LeafPtr& array, int64_t number, const LeafPtr& element,
                               bool in_place) override {
    return device_with_element(*device_, array, number, element, in_place);
  }
  Result<LeafPtr> join(PrimType prim, std::vector<int64_t> shape,
                       std::span<const LeafPtr> elements) override {
    return device_join(*device_, prim, std::move(shape), elements);
  }
  Result<std::vector<LeafPtr>> call(const std::string& entry,
                                    std::span<const LeafPtr> args) override;
  std::string name() const override { return device_->info().name; }
  std::optional<program::Target> target() const override { return program_.target; }
  void set_owner(uint64_t owner) override { device_->set_owner(owner_ = owner); }
  void set_call_timeout(std::chrono::microseconds timeout) override { timeout_ = timeout; }
  void set_call_bytes(int64_t bytes) override { call_bytes_ = bytes; }
  void set_step_aside(StepAside step_aside) override { step_aside_ = std::move(step_aside); }
  void cancel() override;
  void cancel_calls_of(uint64_t owner) override;
  bool polls_device() const override {
    return !device_->info().is_cpu && !device_->info().interprets;
  }
  bool may_go() const override { return !kernels_.is_busy(); }
  void clear_caches() override {
    zeroes_.release();
    device_->trim();
    device_->forget_peak();
  }
  device::MemoryStats memory() const override { return device_->memory(); }

  Status prepare() override;

 private:
  class Running;
  Status execute(const program::Code& code, Registers& registers);
  Status run_again(Interpreter& interpreter, const program::Code& code, const Registers& registers);
  Status let_others(CallStop& stop, const std::function<Status()>& wait);
  Status settle();
  Status bind(const program::Entry& entry, std::span<const LeafPtr> args, Registers& registers);
  Status bind_leaf(const program::Leaf& place, const Leaf& leaf, SizeBinder& sizes,
                   Registers& registers);
  Status own(device::BlockPtr& block);
  Result<LeafPtr> result_leaf(const program::Leaf& place, const Registers& registers) const;

  const std::shared_ptr<const program::Program> program_owner_;
  const program::Program& program_;
  const std::shared_ptr<device::Device> device_;
  FailureRecord failure_;
  Zeroes zeroes_;
  Residuals residuals_;
  KernelTable kernels_;
  std::chrono::microseconds timeout_{0};
  int64_t call_bytes_ = 0;  // 0: any
  StepAside step_aside_;    // may be null
  uint64_t owner_ = 0;
  std::mutex running_mutex_;                             // for running_
  std::vector<std::pair<CallStop*, uint64_t>> running_;  // with the owner
  std::vector<Comparison> comparisons_;
  std::vector<device::KernelTime> kernel_times_;
  std::vector<EntrySignature> signatures_;
  std::set<std::string> need_constants_;  // entries
  std::optional<Registers> constants_;    // once they are computed
  bool broken_off_ = false;               // the last run ended unclearly: see FailureRecord::clear
};

Status DeviceEngine::prepare() {
  if (constants_) return {};
  Registers registers;
  registers.scalars.resize(static_cast<size_t>(program_.constant_scalar_regs));
  registers.blocks.resize(static_cast<size_t>(program_.constant_block_regs));
  KENAZ_TRY(execute(program_.constants, registers));
  for (const BlockPart& part : registers.blocks) {
    if (part.block) device_->keep(part.block);
  }
  constants_ = std::move(registers);
  return {};
}

/// A run of host code: its end by time-out or cancel() is its own.
class DeviceEngine::Running {
 public:
  Running(DeviceEngine& engine)
      : engine_(engine),
        stop_([&engine] { engine.failure_.stop(*engine.device_); },
              engine.device_->info().is_cpu ? CallStop::kForEver : CallStop::kGrace) {
    stop_.set_timeout(engine.timeout_);
    stop_.begin();
    const std::lock_guard lock(engine_.running_mutex_);
    engine_.running_.emplace_back(&stop_, engine_.owner_);
  }
  ~Running() {
    engine_.device_->set_watch(nullptr);
    const std::lock_guard lock(engine_.running_mutex_);
    std::erase_if(engine_.running_, [&](const auto& of) { return of.first == &stop_; });
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  CallStop& stop() { return stop_; }

 private:
  DeviceEngine& engine_;
  CallStop stop_;
};

void DeviceEngine::cancel() {
  const std::lock_guard lock(running_mutex_);
  for (const auto& [stop, owner] : running_) stop->cancel();
}

void DeviceEngine::cancel_calls_of(uint64_t owner) {
  const std::lock_guard lock(running_mutex_);
  for (const auto& [stop, of] : running_) {
    if (of == owner) stop->cancel();
  }
}

/// Nothing of the call's is on the device, and it has no failures that are not known. The time-out
/// does not run until it is this call's turn again: others' calls may take all of theirs before.
Status DeviceEngine::let_others(CallStop& stop, const std::function<Status()>& wait) {
  Status waited;
  const auto wait_here = [&] { waited = wait(); };
  if (!step_aside_) {
    stop.away(wait_here);
    return waited;
  }
  const uint64_t owner = owner_;
  const device::WithoutAllowance others(*device_);
  device_->set_watch(nullptr);
  broken_off_ = false;
  stop.away([&] { step_aside_(wait_here); });
  set_owner(owner);
  if (broken_off_) KENAZ_TRY(settle());  // what another call has left
  broken_off_ = true;
  device_->set_watch(&stop);
  return waited;
}

/// After a run that has ended unclearly: what it has launched is to end, and its failures are not
/// others'.
Status DeviceEngine::settle() {
  KENAZ_TRY(failure_.clear(*device_));
  return device_->submit_and_wait();
}

/// Code that may have run before with the same scalars.
Status DeviceEngine::run_again(Interpreter& interpreter, const program::Code& code,
                               const Registers& registers) {
  const Residuals::Found found = residuals_.look(code, registers.scalars, tuning());
  if (found.residual) return interpreter.run(*found.residual);
  if (!found.again) return interpreter.run(code);
  const std::vector<PrimValue> scalars = registers.scalars;
  const auto tuning = this->tuning();  // the call may let others in
  Recording recording;
  KENAZ_TRY(interpreter.run(code, &recording));
  residuals_.keep(code, scalars, tuning, recording.take());
  return {};
}

Status DeviceEngine::execute(const program::Code& code, Registers& registers) {
  if (broken_off_) KENAZ_TRY(settle());
  broken_off_ = true;
  Running running(*this);
  CallStop& stop = running.stop();
  device_->set_watch(&stop);
  device_->set_timing(profiled());
  CallTuning tuning(program_.tuning, this->tuning().get());
  Interpreter interpreter(
      program_, kernels_, *device_, failure_, zeroes_, stop,
      [&](const std::function<Status()>& wait) { return let_others(stop, wait); }, tuning,
      registers);
  const Status ran = run_again(interpreter, code, registers);
  Status finished = interpreter.finish();
  comparisons_ = tuning.comparisons();
  kernel_times_ = device_->take_times();
  Status stopped = stop.end();
  if (!ran || !finished || !stopped) {
    zeroes_.spoil();
    device_->note_broken_off();
  }
  if (!stopped && (finished || finished.error().kind == ErrorKind::kProgramFailure)) {
    return stopped;  // the record may still say so
  }
  broken_off_ = !finished && finished.error().kind != ErrorKind::kProgramFailure;
  // A kernel launched before something went wrong on the host failed first.
  return finished ? ran : finished;
}

Result<LeafPtr> DeviceEngine::put(const data::Value& value) {
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(value.type, value.shape));
  if (bytes != static_cast<int64_t>(value.bytes.size())) {
    return internal_error("a value whose bytes do not fit its shape");
  }
  if (value.shape.empty()) return std::make_shared<HostScalar>(value.at(0));
  KENAZ_ASSIGN(auto block, device_->allocate_unseen(bytes));
  KENAZ_TRY(device_->upload(block, 0, value.bytes));
  return std::make_shared<DeviceArray>(value.type, value.shape, std::move(block));
}

Result<data::Value> DeviceEngine::get(const Leaf& leaf) {
  if (const auto* scalar = dynamic_cast<const HostScalar*>(&leaf)) {
    return data::Value::scalar(scalar->value);
  }
  const auto* array = dynamic_cast<const DeviceArray*>(&leaf);
  if (array == nullptr) return internal_error("a value of another engine");
  KENAZ_ASSIGN(const int64_t bytes, data::checked_bytes(leaf.prim, leaf.shape));
  if (bytes > array->block->bytes()) return internal_error("a value larger than its block");
  data::Value value{leaf.prim, leaf.shape, {}};
  try {
    value.bytes.resize(static_cast<size_t>(bytes));
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kOutOfMemory,
                fmt::format("out of host memory: {} bytes wanted for a value", bytes));
  }
  KENAZ_TRY(device_->download(array->block, 0, value.bytes));
  return value;
}

Status DeviceEngine::bind_leaf(const program::Leaf& place, const Leaf& leaf, SizeBinder& sizes,
                               Registers& registers) {
  const auto invalid_sizes = [] {
    return program_failure("entry point arguments have invalid sizes.", "");
  };
  if (const auto* to = std::get_if<program::ScalarLeaf>(&place)) {
    const auto* scalar = dynamic_cast<const HostScalar*>(&leaf);
    if (scalar == nullptr || scalar->prim != to->type) {
      return bad_request(fmt::format("a {} is expected", prim_name(to->type)));
    }
    if (!sizes.bind(to->value, scalar->value)) return invalid_sizes();
    return {};
  }
  const auto& to = std::get<program::ArrayLeaf>(place);
  const auto* array = dynamic_cast<const DeviceArray*>(&leaf);
  if (array == nullptr || array->prim != to.elem || array->shape.size() != to.dims.size()) {
    return bad_request(
        fmt::format("an array of {} of rank {} is expected", prim_name(to.elem), to.dims.size()));
  }
  for (size_t i = 0; i < to.dims.size(); ++i) {
    if (!sizes.bind(to.dims[i], PrimValue::i64(array->shape[i]))) return invalid_sizes();
  }
  registers.blocks[to.block.index] = array->block;
  return {};
}

/// A consumed argument will be overwritten, so if any other value shares its memory, it is copied.
Status DeviceEngine::own(device::BlockPtr& block) {
  constexpr int kLeafAndRegister = 2;
  if (block.use_count() <= kLeafAndRegister) {
    // Whoever has just let go of it, on another thread, has read all that it wanted.
    std::atomic_thread_fence(std::memory_order_acquire);
    return {};
  }
  KENAZ_ASSIGN(auto copied, device_->allocate_unseen(block->bytes()));
  KENAZ_TRY(device_->copy(copied, 0, block, 0, block->bytes()));
  KENAZ_TRY(device_->barrier());
  block = std::move(copied);
  return {};
}

Status DeviceEngine::bind(const program::Entry& entry, std::span<const LeafPtr> args,
                          Registers& registers) {
  size_t next = 0;
  SizeBinder sizes(registers);
  for (const auto& param : entry.params) {
    for (const program::Leaf& place : param.leaves) {
      if (next == args.size()) return bad_request("too few arguments");
      auto status = bind_leaf(place, *args[next++], sizes, registers);
      if (!status) {
        if (status.error().kind == ErrorKind::kBadRequest) {
          status.error().context.push_back(fmt::format("for parameter {}", param.name));
        }
        return status;
      }
      const auto* array = std::get_if<program::ArrayLeaf>(&place);
      if (array && param.consumed) KENAZ_TRY(own(registers.blocks[array->block.index].block));
    }
  }
  if (next != args.size()) return bad_request("too many arguments");
  return {};
}

Result<LeafPtr> DeviceEngine::result_leaf(const program::Leaf& place,
                                          const Registers& registers) const {
  if (const auto* scalar = std::get_if<program::ScalarLeaf>(&place)) {
    return std::make_shared<HostScalar>(
        PrimValue{scalar->type, registers.value(scalar->value).bits});
  }
  const auto& array = std::get<program::ArrayLeaf>(place);
  std::vector<int64_t> shape;
  for (const auto& dim : array.dims) shape.push_back(registers.index(dim));
  KENAZ_ASSIGN(const int64_t bytes, result_bytes(array.elem, shape));
  const BlockPart& part = registers.blocks[array.block.index];
  const device::BlockPtr& block = part.block;
  // A value has memory of its own.
  if (!block || part.offset != 0 || bytes > block->bytes()) {
    return internal_error(fmt::format("a result of shape {} in a block of {} bytes",
                                      data::shape_text(shape), block ? block->bytes() : 0));
  }
  device_->keep(block);
  return std::make_shared<DeviceArray>(array.elem, std::move(shape), block);
}

Result<std::vector<LeafPtr>> DeviceEngine::call(const std::string& name,
                                                std::span<const LeafPtr> args) {
  const auto found = program_.entries.find(name);
  if (found == program_.entries.end()) {
    return bad_request(fmt::format("there is no entry point {}", name));
  }
  const program::Entry& entry = found->second;
  if (need_constants_.contains(name)) KENAZ_TRY(prepare());
  const device::WithAllowance allowed(*device_, call_bytes_);
  Registers registers;
  registers.scalars.reserve(static_cast<size_t>(entry.scalar_regs));
  registers.blocks.reserve(static_cast<size_t>(entry.block_regs));
  if (constants_) {
    registers.scalars = constants_->scalars;
    registers.blocks = constants_->blocks;
  }
  registers.scalars.resize(static_cast<size_t>(entry.scalar_regs));
  registers.blocks.resize(static_cast<size_t>(entry.block_regs));
  KENAZ_TRY(bind(entry, args, registers));
  KENAZ_TRY(execute(entry.code, registers));
  std::vector<LeafPtr> results;
  for (const program::Leaf& place : entry.result) {
    KENAZ_ASSIGN(LeafPtr leaf, result_leaf(place, registers));
    results.push_back(std::move(leaf));
  }
  return results;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_device_engine(std::shared_ptr<const program::Program> program,
                                                   std::shared_ptr<device::Device> device,
                                                   std::shared_ptr<const KernelCompiler> compiler) {
  KENAZ_TRY(check_program(*program));
  if (!compiler) compiler = std::make_shared<const KernelCompiler>();
  KENAZ_ASSIGN(auto failure, FailureRecord::create(*device));
  return std::make_unique<DeviceEngine>(std::move(program), std::move(device), std::move(compiler),
                                        std::move(failure));
}

Result<std::unique_ptr<Engine>> make_device_engine(program::Program program,
                                                   std::shared_ptr<device::Device> device,
                                                   std::shared_ptr<const KernelCompiler> compiler) {
  return make_device_engine(std::make_shared<const program::Program>(std::move(program)),
                            std::move(device), std::move(compiler));
}

}  // namespace kenaz::host
