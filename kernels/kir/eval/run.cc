#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"

namespace kenaz::kir {

using eval::ThreadState;

namespace {

constexpr const char* kFaults[] = {"kOutOfBlock", "kUndefined",        "kMisaligned",
                                   "kRace",       "kDivergentBarrier", "kDivergentSubgroup",
                                   "kEndless"};
/// Steps between two looks at the host: less than a hundredth of a second.
constexpr int64_t kStepsPerLook = 1 << 16;

}  // namespace

Machine::Machine(const Kernel& kernel, eval::Code code, Memory& memory, const RunOptions& options,
                 Observer* observer)
    : kernel_(kernel),
      code_(std::move(code)),
      memory_(memory),
      options_(options),
      observer_(observer),
      launches_(*memory.launches_),
      races_(launches_.races()),
      schedule_(options.seed, options.max_steps) {}

void Machine::make_ready(Group& g, Thread& t) {
  t.state = ThreadState::kReady;
  g.ready.push_back(static_cast<uint16_t>(t.number()));
}

/// No thread of the workgroup can go on, and not all have ended.
bool Machine::stuck(Group& g) {
  for (ThreadState state : {ThreadState::kAtBarrier, ThreadState::kAtSubgroup}) {
    for (Thread& t : g.threads) {
      if (t.state != state) continue;
      const bool barrier = state == ThreadState::kAtBarrier;
      const FaultKind kind = barrier ? FaultKind::kDivergentBarrier : FaultKind::kDivergentSubgroup;
      const Op& op = code_.ops[t.pc - 1];
      fault(kind, g, t, op, fmt::format("waits for others, {} of which have ended", g.done));
      return parted(g, kind, op, t);
    }
  }
  return true;
}

bool Machine::step(Group& g) {
  const size_t k = schedule_.pick_thread(g.ready.size());
  Thread& t = g.threads[g.ready[k]];
  const uint16_t number = g.ready[k];
  // It is out of the list while it runs: a barrier fills the list anew.
  g.ready[k] = g.ready.back();
  g.ready.pop_back();
  switch (advance(g, t)) {
    case Pause::kFault: return false;
    case Pause::kSwitch: g.ready.push_back(number); break;
    case Pause::kWait: break;
    case Pause::kDone: g.done++; break;
  }
  if (schedule_.steps_left <= 0) {
    return fault(FaultKind::kEndless, g, t, code_.ops[t.pc - 1],
                 fmt::format("{} steps are over", options_.max_steps));
  }
  if (g.ready.empty() && g.done < static_cast<int>(g.threads.size())) return stuck(g);
  return true;
}

void Machine::look_at_host() {
  if (!options_.stops || schedule_.steps_left > look_at_) return;
  look_at_ = schedule_.steps_left - kStepsPerLook;
  host_stops_ = host_stops_ || options_.stops();
}

void Machine::begin_launch(int64_t groups) {
  if (!options_.overlaps || !launches_.has_room(groups)) memory_.barrier();
  eval::Launches::Launch& launch = launches_.begin(static_cast<uint32_t>(groups));
  first_group_ = launch.first_group;
  launch.kernel = kernel_.name;
  for (const Op& op : code_.ops) {
    launch.places.push_back(op.inst == nullptr ? kernel_.prov : op.inst->prov);
  }
}

Result<RunResult> Machine::run(int64_t groups, std::optional<Fault>* fault) {
  look_at_ = schedule_.steps_left - kStepsPerLook;
  begin_launch(groups);
  std::vector<int64_t> order = chosen_groups(kernel_, groups, options_);
  if (!options_.starts_in_order) order = schedule_.order(std::move(order));
  size_t started = 0;
  std::vector<std::unique_ptr<Group>> running, idle;
  const auto most = static_cast<size_t>(std::max(1, options_.concurrent_groups));
  while (started < order.size() || !running.empty()) {
    while (running.size() < most && started < order.size()) {
      if (idle.empty()) idle.push_back(std::make_unique<Group>(code_, options_.subgroup_size));
      running.push_back(std::move(idle.back()));
      idle.pop_back();
      running.back()->begin(order[started++], groups, options_.stop_after == 0, first_group_);
      if (most == 1 && races_.restarts()) running.back()->shadow = eval::Shadow(code_.shared_bytes);
      races_.begin(running.back()->clock, running.back()->threads.size(), code_.releases);
    }
    look_at_host();
    const size_t k = schedule_.pick_group(running.size());
    if (!(options_.lock_step ? step_together(*running[k]) : step(*running[k]))) break;
    if (running[k]->done < static_cast<int>(running[k]->threads.size())) continue;
    if (observer_ != nullptr) observer_->on_group_end(running[k]->number);
    if (most == 1) races_.end(running[k]->clock);
    idle.push_back(std::move(running[k]));
    running.erase(running.begin() + static_cast<int64_t>(k));
    schedule_.forget_groups();
  }
  if (!options_.overlaps) memory_.barrier();
  if (!fault_) return std::move(result_);
  if (fault != nullptr) *fault = fault_;
  return internal_error(
      fmt::format("{}: {}", kFaults[static_cast<int>(fault_->kind)], fault_->text));
}

std::vector<int64_t> chosen_groups(const Kernel& kernel, int64_t groups,
                                   const RunOptions& options) {
  const bool all =
      options.most_groups <= 0 || groups <= options.most_groups || kernel.needs_progress;
  if (all) {
    std::vector<int64_t> numbers(static_cast<size_t>(groups));
    std::iota(numbers.begin(), numbers.end(), int64_t{0});
    return numbers;
  }
  std::set<int64_t> chosen = {0};
  if (options.most_groups > 1) chosen.insert(groups - 1);
  eval::Random random(options.groups_seed);
  while (static_cast<int64_t>(chosen.size()) < options.most_groups) {
    chosen.insert(static_cast<int64_t>(random.next() % static_cast<uint64_t>(groups)));
  }
  return {chosen.begin(), chosen.end()};
}

Result<RunResult> run(const Kernel& kernel, Memory& memory, std::span<const PrimValue> args,
                      int64_t groups, const RunOptions& options, Observer* observer,
                      std::optional<Fault>* fault) {
  KENAZ_ASSIGN(eval::Code code, eval::compile(kernel, args, options.specs));
  if (groups < 0 || groups > int64_t{1} << 32) {
    return bad_request(fmt::format("kernel {}: {} workgroups", kernel.name, groups));
  }
  if (options.subgroup_size < 1 ||
      (code.uses_subgroups && code.group_size % options.subgroup_size != 0)) {
    return bad_request(fmt::format("kernel {}: subgroups of {} in a workgroup of {}", kernel.name,
                                   options.subgroup_size, code.group_size));
  }
  return Machine(kernel, std::move(code), memory, options, observer).run(groups, fault);
}

}  // namespace kenaz::kir
