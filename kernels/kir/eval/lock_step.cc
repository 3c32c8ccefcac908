// Threads of a workgroup that stand at one operation do it together. Those that are behind go
// first, so that threads that have parted meet again where the program's ways do.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"

namespace kenaz::kir {

using eval::Convoy;
using eval::kDefined;
using eval::OpCode;
using eval::Slot;
using eval::ThreadState;

namespace {

constexpr uint32_t kNowhere = UINT32_MAX;

template <class F>
void for_lanes(const Convoy& c, F&& f) {
  if (c.dense) {
    for (size_t k = c.first(), end = k + c.size(); k < end; k++) f(k);
  } else {
    for (const uint16_t k : c.lanes) f(size_t{k});
  }
}

/// Whether the slot is defined in all lanes; `known` is that of thread 0.
bool all_known(const Convoy& c, const uint8_t* known) {
  bool all = true;
  if (!c.dense) {
    for (const uint16_t k : c.lanes) all &= known[k] == kDefined;
    return all;
  }
  const uint8_t* at = known + c.first();
  size_t n = c.size();
  uint64_t both = ~uint64_t{0};
  for (; n >= sizeof both; n -= sizeof both, at += sizeof both) {
    uint64_t eight = 0;
    std::memcpy(&eight, at, sizeof eight);
    both &= eight;
  }
  for (; n > 0; n--, at++) all &= *at == kDefined;
  return all && both == ~uint64_t{0};
}

}  // namespace

/// Makes the workgroup's convoy. False if no thread is ready.
bool Machine::gather(Group& g) {
  Convoy& c = g.convoy;
  g.ready.clear();
  uint32_t first = kNowhere, later = kNowhere;  // later: not before c.from
  for (const Thread& t : g.threads) {
    if (t.state != ThreadState::kReady) continue;
    first = std::min(first, t.pc);
    if (t.pc >= c.from) later = std::min(later, t.pc);
  }
  if (first == kNowhere) return false;
  c.pc = later != kNowhere ? later : first;
  c.from = 0;
  c.meets = kNowhere;
  c.goes = true;
  c.lanes.clear();
  for (const Thread& t : g.threads) {
    if (t.state != ThreadState::kReady) continue;
    if (t.pc > c.pc) c.meets = std::min(c.meets, t.pc);
    if (t.pc != c.pc) continue;
    c.goes = c.goes && !t.stopped;
    c.lanes.push_back(static_cast<uint16_t>(t.number()));
  }
  c.dense = c.lanes.back() - c.first() + 1 == c.size();
  return true;
}

bool Machine::step_together(Group& g) {
  if (!gather(g)) return stuck(g);
  schedule_.pick_thread(1);
  if (!advance_together(g)) return false;
  if (schedule_.steps_left > 0) return true;
  const Thread& t = g.threads[g.convoy.first()];
  return fault(FaultKind::kEndless, g, t, code_.ops[t.pc - 1],
               fmt::format("{} steps are over", options_.max_steps));
}

/// False after a fault.
bool Machine::advance_together(Group& g) {
  Convoy& c = g.convoy;
  const Op* const ops = code_.ops.data();
  const Op* next = ops + c.pc;
  const Op* const meets = c.meets == kNowhere ? nullptr : ops + c.meets;
  const int64_t all = schedule_.budget();
  int64_t left = all;
  Way way = Way::kTogether;
  bool pauses = false;
  while (left > 0 && way == Way::kTogether && next != meets && !pauses) {
    left--;
    const Op& op = *next++;
    switch (op.code) {
      case OpCode::kMove: move(g, op); break;
      case OpCode::kPrim1:
      case OpCode::kPrim2:
      case OpCode::kPrim3:
      case OpCode::kSelect: way = scalars(g, op); break;
      case OpCode::kJump: next = ops + op.target; break;
      case OpCode::kBranch: way = branch(g, op, next); break;
      case OpCode::kFor: way = enter_for(g, op, next); break;
      case OpCode::kForNext: way = next_for(g, op, next); break;
      case OpCode::kWhile: way = test_while(g, op, next); break;
      case OpCode::kCall: call(g, op, next); break;
      case OpCode::kReturn: way = return_from(g, op, next); break;
      case OpCode::kBarrier:
      case OpCode::kSubgroup: way = meet_all(g, op, next); break;
      case OpCode::kLoad:
      case OpCode::kStore:
        way = accesses(g, op, next);
        pauses = op.coherent && schedule_.switches();
        break;
      default: way = one_by_one(g, op, next); pauses = op.coherent && schedule_.switches();
    }
  }
  if (way == Way::kTogether) {
    c.pc = static_cast<uint32_t>(next - ops);
    for_lanes(c, [&](size_t k) { g.threads[k].pc = c.pc; });
    // Others may do what these wait for.
    if (left == 0 || pauses) c.from = c.pc + 1;
  }
  schedule_.steps_left -= (all - left) * static_cast<int64_t>(c.size());
  return way != Way::kFault;
}

/// Whether the convoy is of whole parts of the workgroup of `size` threads, in one iteration.
bool Machine::all_meet(Group& g, const Op& op, size_t size) {
  const Convoy& c = g.convoy;
  if (!c.dense || c.first() % size != 0 || c.size() % size != 0) return false;
  for (const Slot s : code_.lists[op.list]) {
    const uint64_t* const iteration = g.bits(s);
    bool same = true;
    for_lanes(c, [&](size_t k) { same &= iteration[k] == iteration[c.first()]; });
    if (!same) return false;
  }
  return true;
}

/// A barrier or an operation of subgroups.
Machine::Way Machine::meet_all(Group& g, const Op& op, const Op*& next) {
  const Convoy& c = g.convoy;
  if (op.code == OpCode::kBarrier) {
    if (!all_meet(g, op, g.threads.size())) return one_by_one(g, op, next);
    races_.barrier(g.clock, g.clocks);
    return Way::kTogether;
  }
  const auto size = static_cast<size_t>(options_.subgroup_size);
  if (!all_meet(g, op, size)) return one_by_one(g, op, next);
  for (size_t k = c.first(), end = k + c.size(); k < end; k += size) {
    if (!operate(g, &g.threads[k], op)) return Way::kFault;
  }
  return Way::kTogether;
}

/// An operation that threads do one after the other.
Machine::Way Machine::one_by_one(Group& g, const Op& op, const Op*& next) {
  Convoy& c = g.convoy;
  const auto behind = static_cast<uint32_t>(next - code_.ops.data());
  for (const uint16_t k : c.lanes) {
    Thread& t = g.threads[k];
    t.pc = behind;
    if (execute(g, t, op)) continue;
    if (fault_) return Way::kFault;
    if (t.state == ThreadState::kDone) g.done++;
  }
  if (op.code == OpCode::kFail || op.code == OpCode::kStop) c.goes = false;
  const uint32_t pc = g.threads[c.first()].pc;
  bool together = true;
  for_lanes(c, [&](size_t k) {
    const Thread& t = g.threads[k];
    together &= t.pc == pc && t.state == ThreadState::kReady;
  });
  next = code_.ops.data() + pc;
  return together ? Way::kTogether : Way::kApart;
}

// ---- values

void Machine::move(Group& g, const Op& op) {
  const Convoy& c = g.convoy;
  const size_t first = c.first(), n = c.size();
  const uint64_t* const from = g.bits(op.a);
  const uint8_t* const known = g.known_of(op.a);
  uint64_t* const to = g.bits(op.dst);
  uint8_t* const to_known = g.known_of(op.dst);
  if (!all_known(c, known)) {
    for_lanes(c, [&](size_t k) {
      to_known[k] = known[k];
      if (known[k] != kDefined) g.origin(op.dst)[k] = g.origin(op.a)[k];
    });
  } else if (c.dense) {
    std::memset(to_known + first, kDefined, n);
  } else {
    for (const uint16_t k : c.lanes) to_known[k] = kDefined;
  }
  if (c.dense) {
    std::memmove(to + first, from + first, n * sizeof *to);
  } else {
    for (const uint16_t k : c.lanes) to[k] = from[k];
  }
}

Machine::Way Machine::scalars(Group& g, const Op& op) {
  const Convoy& c = g.convoy;
  if (!all_known(c, g.known_of(op.a)) || !all_known(c, g.known_of(op.b)) ||
      !all_known(c, g.known_of(op.c))) {
    for (const uint16_t k : c.lanes) {
      if (op.code != OpCode::kSelect) {
        scalar(g.threads[k], op);
      } else if (!select(g, g.threads[k], op)) {
        return Way::kFault;
      }
    }
    return Way::kTogether;
  }
  uint64_t* const dst = g.bits(op.dst);
  const uint64_t *const a = g.bits(op.a), *const b = g.bits(op.b), *const third = g.bits(op.c);
  uint8_t* const known = g.known_of(op.dst);
  const size_t first = c.first(), n = c.size();
  if (c.dense) {
    op.lane_fn(dst + first, a + first, b + first, third + first, n);
    std::memset(known + first, kDefined, n);
  } else {
    for (const uint16_t k : c.lanes) {
      dst[k] = op.fn(a[k], b[k], third[k]);
      known[k] = kDefined;
    }
  }
  return Way::kTogether;
}

// ---- control: `next` is the operation behind `op`

/// Whether no thread leaves a loop because it has stopped, and nobody sees who goes on.
bool Machine::stays(const Group& g) const {
  return g.convoy.goes && observer_ == nullptr && !host_stops_ && !result_.failure &&
         options_.stop_after < 0;
}

/// Threads go on at operation `there` where `goes`, by thread, is not 0, others elsewhere.
Machine::Way Machine::part(Group& g, const uint64_t* goes, uint32_t there, uint32_t else_there,
                           const Op*& next) {
  const Convoy& c = g.convoy;
  size_t count = 0;
  for_lanes(c, [&](size_t k) { count += goes[k] != 0 ? 1 : 0; });
  if (count == 0 || count == c.size()) {
    next = code_.ops.data() + (count == 0 ? else_there : there);
    return Way::kTogether;
  }
  for_lanes(c, [&](size_t k) { g.threads[k].pc = goes[k] != 0 ? there : else_there; });
  return Way::kApart;
}

Machine::Way Machine::branch(Group& g, const Op& op, const Op*& next) {
  if (observer_ != nullptr || !all_known(g.convoy, g.known_of(op.a))) {
    return one_by_one(g, op, next);
  }
  return part(g, g.bits(op.a), static_cast<uint32_t>(next - code_.ops.data()), op.target, next);
}

void Machine::call(Group& g, const Op& op, const Op*& next) {
  const auto behind = static_cast<uint64_t>(next - code_.ops.data());
  uint64_t* const places = g.bits(op.dst);
  for_lanes(g.convoy, [&](size_t k) { places[k] = behind; });
  next = code_.ops.data() + op.target;
}

Machine::Way Machine::return_from(Group& g, const Op& op, const Op*& next) {
  const Convoy& c = g.convoy;
  uint64_t* const places = g.bits(op.a);
  const uint64_t place = places[c.first()];
  bool together = true;
  for_lanes(c, [&](size_t k) { together &= places[k] == place; });
  if (!together) return one_by_one(g, op, next);
  for_lanes(c, [&](size_t k) { places[k] = 0; });
  next = code_.ops.data() + place;
  return Way::kTogether;
}

Machine::Way Machine::enter_for(Group& g, const Op& op, const Op*& next) {
  const Convoy& c = g.convoy;
  const bool usual = stays(g) && c.dense && all_known(c, g.known_of(op.a)) &&
                     all_known(c, g.known_of(op.b)) && all_known(c, g.known_of(op.c));
  if (!usual) return one_by_one(g, op, next);
  const size_t first = c.first(), n = c.size();
  const uint64_t *const from = g.bits(op.a) + first, *const step = g.bits(op.c) + first;
  goes_.resize(g.threads.size());
  uint64_t* const goes = goes_.data() + first;
  op.lane_fn(goes, g.bits(eval::kZeroSlot) + first, step, from, n);
  if (std::find(goes, goes + n, 0) != goes + n) return one_by_one(g, op, next);
  op.lane_fn(goes, from, g.bits(op.b) + first, from, n);
  std::memmove(g.bits(op.dst) + first, from, n * sizeof *from);
  std::memset(g.known_of(op.dst) + first, kDefined, n);
  std::fill_n(g.bits(op.iterations) + first, n, 0);
  std::memset(g.known_of(op.iterations) + first, kDefined, n);
  return part(g, goes_.data(), static_cast<uint32_t>(next - code_.ops.data()), op.target, next);
}

Machine::Way Machine::next_for(Group& g, const Op& op, const Op*& next) {
  const Convoy& c = g.convoy;
  if (!stays(g) || !c.dense) return one_by_one(g, op, next);
  const size_t first = c.first(), n = c.size();
  uint64_t* const iterations = g.bits(op.iterations);
  uint64_t* const index = g.bits(op.dst) + first;
  for_lanes(c, [&](size_t k) { iterations[k]++; });
  op.lane_step(index, index, g.bits(op.c) + first, index, n);
  goes_.resize(g.threads.size());
  op.lane_fn(goes_.data() + first, index, g.bits(op.b) + first, index, n);
  for_lanes(c, [&](size_t k) { iterations[k] = goes_[k] != 0 ? iterations[k] : 0; });
  return part(g, goes_.data(), op.target, static_cast<uint32_t>(next - code_.ops.data()), next);
}

Machine::Way Machine::test_while(Group& g, const Op& op, const Op*& next) {
  const Convoy& c = g.convoy;
  if (!stays(g) || !all_known(c, g.known_of(op.a))) return one_by_one(g, op, next);
  const uint64_t* const goes = g.bits(op.a);
  uint64_t* const iterations = g.bits(op.iterations);
  for_lanes(c, [&](size_t k) { iterations[k] = goes[k] != 0 ? iterations[k] : 0; });
  return part(g, goes, static_cast<uint32_t>(next - code_.ops.data()), op.target, next);
}

}  // namespace kenaz::kir
