#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"
#include "protocol/base/check.h"

namespace kenaz::kir {

using eval::kDefined;
using eval::OpCode;
using eval::Slot;

Observer::Place Machine::place_of(const Group& g, const Thread& t) const {
  uint64_t turn = 0;
  for (const Slot s : code_.turn) turn = (turn ^ t.bits[s]) * 0x9e3779b97f4a7c15u;
  return {g.number, t.number(), turn};
}

void Machine::tell_branch(const Group& g, const Thread& t, const Op& op, bool taken) {
  if (observer_ != nullptr && !t.stopped) observer_->on_branch(*op.inst, place_of(g, t), taken);
}

bool Machine::defined(const Group& g, const Thread& t, const Op& op, Slot slot, const char* what) {
  if (t.known[slot] == kDefined) return true;
  const uint32_t origin = t.origin[slot];
  if (origin == 0)
    return fault(FaultKind::kUndefined, g, t, op, fmt::format("{} is undefined", what));
  const Op& from = code_.ops[origin - 1];
  fault(FaultKind::kUndefined, g, t, op,
        fmt::format("{} is undefined: it comes from {}", what, name(from)));
  fault_->other = from.inst->prov;
  return false;
}

void Machine::scalar(Thread& t, const Op& op) {
  const uint64_t a = t.bits[op.a], b = t.bits[op.b], c = t.bits[op.c];
  uint8_t known = t.known[op.a] & t.known[op.b] & t.known[op.c];
  if (known != kDefined) {
    const uint64_t bits[] = {a, b, c};
    const uint8_t each[] = {t.known[op.a], t.known[op.b], t.known[op.c]};
    known = eval::defined_bytes(std::get<IPrim>(op.inst->op), bits, each);
  }
  if (known != kDefined) {
    const Slot operands[] = {op.a, op.b, op.c};
    t.origin[op.dst] = t.origin[*std::find_if(std::begin(operands), std::end(operands) - 1,
                                              [&](Slot s) { return t.known[s] != kDefined; })];
  }
  t.bits[op.dst] = op.fn(a, b, c);
  t.known[op.dst] = known;
}

bool Machine::select(const Group& g, Thread& t, const Op& op) {
  if (!t.stopped && !defined(g, t, op, op.a, "the condition")) return false;
  const Slot arm = t.bits[op.a] != 0 ? op.b : op.c;
  t.bits[op.dst] = t.bits[arm];
  t.known[op.dst] = t.known[arm];
  t.origin[op.dst] = t.origin[arm];
  return true;
}

// ---- control: t.pc is the operation behind `op`

bool Machine::branch(const Group& g, Thread& t, const Op& op) {
  bool taken = t.bits[op.a] != 0;
  if (t.known[op.a] != kDefined) {
    // A stopped thread may go either way, but not past others that it must meet.
    if (!t.stopped || op.meets) return defined(g, t, op, op.a, "the condition");
    taken = schedule_.coin();
  }
  tell_branch(g, t, op, taken);
  if (!taken) t.pc = op.target;
  return true;
}

/// Whether the thread leaves the loop because it has stopped. It stops here if the host has stopped
/// the call, or if another thread has failed: then it looks at the record now and then only.
bool Machine::leaves(Thread& t, const Op& loop) const {
  if (loop.uniform) return false;
  const int64_t steps = options_.max_steps - schedule_.steps_left;
  if (host_stops_ || (options_.stop_after >= 0 && steps >= options_.stop_after)) t.stopped = true;
  if (result_.failure && ++t.late >= schedule_.patience()) t.stopped = true;
  return t.stopped;
}

bool Machine::enter_for(const Group& g, Thread& t, const Op& op) {
  t.bits[op.iterations] = 0;
  t.known[op.iterations] = kDefined;
  bool goes = false;
  if (!leaves(t, op)) {
    if (!defined(g, t, op, op.a, "the start") || !defined(g, t, op, op.b, "the bound") ||
        !defined(g, t, op, op.c, "the step")) {
      return false;
    }
    if (op.fn(0, t.bits[op.c], 0) == 0) {
      return fault(FaultKind::kEndless, g, t, op, "the step is not positive");
    }
    t.bits[op.dst] = t.bits[op.a];
    t.known[op.dst] = kDefined;
    goes = op.fn(t.bits[op.a], t.bits[op.b], 0) != 0;
  }
  tell_branch(g, t, op, goes);
  if (!goes) t.pc = op.target;
  return true;
}

void Machine::next_for(const Group& g, Thread& t, const Op& op) {
  t.bits[op.iterations]++;
  const uint64_t next = op.step(t.bits[op.dst], t.bits[op.c], 0);
  t.bits[op.dst] = next;
  const bool goes = !leaves(t, op) && op.fn(next, t.bits[op.b], 0) != 0;
  tell_branch(g, t, op, goes);
  if (goes) {
    t.pc = op.target;
  } else {
    t.bits[op.iterations] = 0;
  }
}

bool Machine::test_while(const Group& g, Thread& t, const Op& op) {
  bool goes = false;
  if (!leaves(t, op)) {
    if (!defined(g, t, op, op.a, "the condition")) return false;
    goes = t.bits[op.a] != 0;
  }
  tell_branch(g, t, op, goes);
  if (!goes) {
    t.pc = op.target;
    t.bits[op.iterations] = 0;
  }
  return true;
}

bool Machine::record_failure(const Group& g, Thread& t, const Op& op) {
  if (t.stopped) return true;
  const auto& e = std::get<IFail>(op.inst->op);
  Failed failed{e.number, {}, op.inst->prov};
  const std::vector<Slot>& slots = code_.lists[op.list];
  for (size_t k = 0; k < slots.size(); k++) {
    if (!defined(g, t, op, slots[k], "an argument")) return false;
    failed.args.push_back({e.args[k].type.prim, t.bits[slots[k]]});
  }
  if (!result_.failure) result_.failure = std::move(failed);
  t.stopped = true;
  return true;
}

/// One operation that is not in the loop of advance(). False: a fault, or the thread waits or ends.
bool Machine::execute(Group& g, Thread& t, const Op& op) {
  switch (op.code) {
    case OpCode::kForget:
      for (Slot s = op.dst; s < op.dst + op.lanes; s++)
        t.known[s] = 0, t.origin[s] = number_of(op) + 1;
      return true;
    case OpCode::kSelect: return select(g, t, op);
    case OpCode::kLoad: return load(g, t, op);
    case OpCode::kStore: return store(g, t, op);
    case OpCode::kAtomic: return atomic(g, t, op);
    case OpCode::kSubgroup: return subgroup(g, t, op);
    case OpCode::kBarrier: return barrier(g, t, op);
    case OpCode::kFence:
      races_.fence(g.clock, t.clock, std::get<IFence>(op.inst->op).scope);
      return true;
    case OpCode::kBranch: return branch(g, t, op);
    case OpCode::kFor: return enter_for(g, t, op);
    case OpCode::kForNext: next_for(g, t, op); return true;
    case OpCode::kWhile: return test_while(g, t, op);
    case OpCode::kWhileNext: t.bits[op.iterations]++, t.pc = op.target; return true;
    case OpCode::kCall: t.bits[op.dst] = t.pc, t.pc = op.target; return true;
    case OpCode::kReturn: t.pc = static_cast<uint32_t>(std::exchange(t.bits[op.a], 0)); return true;
    case OpCode::kFail: return record_failure(g, t, op);
    case OpCode::kStop: t.stopped = true; return true;
    case OpCode::kEnd: t.state = eval::ThreadState::kDone; return false;
    default: UNREACHABLE("an operation of advance()");
  }
}

Machine::Pause Machine::advance(Group& g, Thread& t) {
  const Op* const ops = code_.ops.data();
  const Op* next = ops + t.pc;
  const eval::Slots<uint64_t> bits = t.bits;
  const eval::Slots<uint8_t> known = t.known;
  const int64_t all = schedule_.budget();
  int64_t left = all;
  bool goes = true, waits = false;
  while (left > 0 && goes) {
    left--;
    const Op& op = *next++;
    switch (op.code) {
      case OpCode::kMove:
        bits[op.dst] = bits[op.a];
        known[op.dst] = known[op.a];
        if (known[op.a] != kDefined) t.origin[op.dst] = t.origin[op.a];
        continue;
      case OpCode::kPrim1:
      case OpCode::kPrim2:
        if ((known[op.a] & known[op.b]) != kDefined) break;
        bits[op.dst] = op.fn(bits[op.a], bits[op.b], 0);
        known[op.dst] = kDefined;
        continue;
      case OpCode::kPrim3: break;
      case OpCode::kJump: next = ops + op.target; continue;
      default:
        t.pc = static_cast<uint32_t>(next - ops);
        waits = !execute(g, t, op);
        next = ops + t.pc;
        goes = !waits && !(op.is_access && schedule_.switches());
        continue;
    }
    scalar(t, op);
  }
  t.pc = static_cast<uint32_t>(next - ops);
  schedule_.steps_left -= all - left;
  if (fault_) return Pause::kFault;
  if (!waits) return Pause::kSwitch;
  return t.state == eval::ThreadState::kDone ? Pause::kDone : Pause::kWait;
}

}  // namespace kenaz::kir
