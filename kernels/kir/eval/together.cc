#include <algorithm>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "kernels/kir/eval/interpreter.h"
#include "protocol/base/check.h"

namespace kenaz::kir {

using eval::kDefined;
using eval::Meeting;
using eval::ThreadState;

namespace {

/// The bits of the operation's neutral element.
uint64_t neutral(ScalarOp op, PrimType type) {
  const PrimKind kind = prim_kind(type);
  const int bits = prim_bits(type);
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case ScalarOp::kMul: return kind == PrimKind::kFloat ? PrimValue::of_float(type, 1).bits : 1;
    case ScalarOp::kAnd: return ones;
    case ScalarOp::kMin:
      if (kind == PrimKind::kFloat) return PrimValue::of_float(type, kInfinity).bits;
      return kind == PrimKind::kSigned ? ones ^ sign : ones;
    case ScalarOp::kMax:
      if (kind == PrimKind::kFloat) return PrimValue::of_float(type, -kInfinity).bits;
      return kind == PrimKind::kSigned ? sign : 0;
    default: return 0;
  }
}

}  // namespace

/// The thread arrives. True: it is the last one.
bool Machine::meet(Group& g, Thread& t, const Op& op, Meeting& m, FaultKind kind) {
  const uint32_t number = number_of(op);
  const std::vector<eval::Slot>& loops = code_.lists[op.list];
  if (m.waiting == 0) {
    m.op = number;
    m.iterations.clear();
    for (eval::Slot s : loops) m.iterations.push_back(t.bits[s]);
  } else if (m.op != number) {
    fault(kind, g, t, op, "others wait at " + name(code_.ops[m.op]));
    fault_->other = code_.ops[m.op].inst->prov;
    return false;
  } else {
    for (size_t k = 0; k < loops.size(); k++) {
      if (m.iterations[k] == t.bits[loops[k]]) continue;
      fault(kind, g, t, op,
            fmt::format("in iteration {} of a loop, others wait in iteration {}", t.bits[loops[k]],
                        m.iterations[k]));
      return parted(g, kind, op, t);
    }
  }
  m.waiting++;
  return true;
}

/// Adds to the fault of a thread that was to meet others at `op`: the branch or loop around `op`
/// where they parted. That is the innermost one on whose values, as threads had them when they last
/// came there, they do not agree; if there is none, the innermost one.
bool Machine::parted(const Group& g, FaultKind kind, const Op& op, const Thread& t) {
  const auto size = static_cast<size_t>(options_.subgroup_size);
  std::span<const Thread> others = g.threads;
  if (kind == FaultKind::kDivergentSubgroup) {
    others = others.subspan(static_cast<size_t>(t.number()) / size * size, size);
  }
  const auto differ = [&](const eval::Control& c) {
    return std::any_of(others.begin(), others.end(), [&](const Thread& o) {
      return std::any_of(c.deciding.begin(), c.deciding.end(), [&](eval::Slot s) {
        return o.known[s] == kDefined && o.bits[s] != t.bits[s];
      });
    });
  };
  uint32_t at = op.control;
  while (at != 0 && !differ(code_.controls[at - 1])) at = code_.controls[at - 1].around;
  if (at == 0) at = op.control;
  if (at != 0) fault_->other = code_.controls[at - 1].inst->prov;
  return false;
}

bool Machine::barrier(Group& g, Thread& t, const Op& op) {
  if (!meet(g, t, op, g.barrier, FaultKind::kDivergentBarrier)) return false;
  t.state = ThreadState::kAtBarrier;
  if (g.barrier.waiting < static_cast<int>(g.threads.size())) return false;
  g.barrier.waiting = 0;
  races_.barrier(g.clock, g.clocks);
  g.ready.clear();
  for (size_t k = g.threads.size(); k-- > 0;) make_ready(g, g.threads[k]);
  return false;
}

bool Machine::subgroup(Group& g, Thread& t, const Op& op) {
  const int size = options_.subgroup_size, number = t.number() / size;
  Meeting& m = g.subgroups[static_cast<size_t>(number)];
  if (!meet(g, t, op, m, FaultKind::kDivergentSubgroup)) return false;
  t.state = ThreadState::kAtSubgroup;
  if (m.waiting < size) return false;
  m.waiting = 0;
  Thread* lanes = &g.threads[static_cast<size_t>(number) * static_cast<size_t>(size)];
  if (!operate(g, lanes, op)) return false;
  for (int k = size; k-- > 0;) {
    if (&lanes[k] != &t) make_ready(g, lanes[k]);
  }
  t.state = ThreadState::kReady;
  return true;
}

/// What the threads of a subgroup do together once they have met.
bool Machine::operate(Group& g, Thread* lanes, const Op& op) {
  const int size = options_.subgroup_size;
  uint32_t origin = 0;  // of what is undefined in the results
  for (int k = 0; k < size && origin == 0; k++) {
    if (lanes[k].known[op.a] != kDefined) origin = lanes[k].origin[op.a];
  }
  if (origin == 0) origin = number_of(op) + 1;
  const SubgroupOp kind = std::get<ISubgroup>(op.inst->op).op;
  if (kind <= SubgroupOp::kExclusive) {
    combine(lanes, op);
  } else if (kind == SubgroupOp::kBallot) {
    ballot(lanes, op);
  } else if (kind >= SubgroupOp::kCount) {
    vote(lanes, op);
  } else if (!exchange(g, lanes, op)) {
    return false;
  }
  for (int k = 0; k < size; k++) lanes[k].origin[op.dst] = origin;
  return true;
}

void Machine::combine(Thread* lanes, const Op& op) {
  const auto& e = std::get<ISubgroup>(op.inst->op);
  const PrimType type = e.value.type.prim;
  uint64_t sum = 0;
  uint8_t known = kDefined;
  for (int k = 0; k < options_.subgroup_size; k++) {
    Thread& t = lanes[k];
    const uint64_t value = t.bits[op.a];
    const uint8_t value_known = t.known[op.a];
    if (e.op == SubgroupOp::kExclusive) {
      t.bits[op.dst] = k == 0 ? neutral(e.combine, type) : sum;
      t.known[op.dst] = known;
    }
    sum = k == 0 ? value : op.fn(sum, value, 0);
    if (value_known != kDefined) known = 0;
    if (e.op == SubgroupOp::kInclusive) {
      t.bits[op.dst] = sum;
      t.known[op.dst] = known;
    }
  }
  if (e.op != SubgroupOp::kReduce) return;
  for (int k = 0; k < options_.subgroup_size; k++) {
    lanes[k].bits[op.dst] = sum;
    lanes[k].known[op.dst] = known;
  }
}

bool Machine::exchange(Group& g, Thread* lanes, const Op& op) {
  const auto& e = std::get<ISubgroup>(op.inst->op);
  const int size = options_.subgroup_size;
  std::vector<uint64_t> bits(static_cast<size_t>(size));
  std::vector<uint8_t> known(static_cast<size_t>(size), 0);
  for (int k = 0; k < size; k++) {
    Thread& t = lanes[k];
    // The lane that a stopped thread asks for may be undefined, unless all ask for the same.
    if (t.stopped && t.known[op.b] != kDefined && e.op != SubgroupOp::kBroadcast) continue;
    if (!defined(g, t, op, op.b, "the lane")) return false;
    const auto arg = static_cast<int32_t>(static_cast<uint32_t>(t.bits[op.b]));
    if (e.op == SubgroupOp::kBroadcast && t.bits[op.b] != lanes[0].bits[op.b]) {
      return fault(FaultKind::kDivergentSubgroup, g, t, op,
                   fmt::format("lane {} is chosen, another lane chooses {}", arg,
                               static_cast<int32_t>(lanes[0].bits[op.b])));
    }
    int64_t from = arg;
    if (e.op == SubgroupOp::kShuffleUp) from = int64_t{k} - arg;
    if (e.op == SubgroupOp::kShuffleDown) from = int64_t{k} + arg;
    if (e.op == SubgroupOp::kShuffleXor) from = k ^ arg;
    if (from < 0 || from >= size) continue;
    bits[static_cast<size_t>(k)] = lanes[from].bits[op.a];
    known[static_cast<size_t>(k)] = lanes[from].known[op.a];
  }
  for (int k = 0; k < size; k++) {
    lanes[k].bits[op.dst] = bits[static_cast<size_t>(k)];
    lanes[k].known[op.dst] = known[static_cast<size_t>(k)];
  }
  return true;
}

/// One word of it.
void Machine::ballot(Thread* lanes, const Op& op) {
  const int first = 32 * static_cast<int>(std::get<ISubgroup>(op.inst->op).arg.constant().as_i64());
  uint64_t word = 0;
  uint8_t known = kDefined;
  for (int k = first; k < std::min(options_.subgroup_size, first + 32); k++) {
    if (lanes[k].known[op.a] != kDefined) known = 0;
    if (lanes[k].bits[op.a] != 0) word |= uint64_t{1} << (k - first);
  }
  for (int k = 0; k < options_.subgroup_size; k++) {
    lanes[k].bits[op.dst] = word;
    lanes[k].known[op.dst] = known;
  }
}

void Machine::vote(Thread* lanes, const Op& op) {
  const SubgroupOp kind = std::get<ISubgroup>(op.inst->op).op;
  uint64_t count = 0;
  uint8_t known = kDefined;
  for (int k = 0; k < options_.subgroup_size; k++) {
    Thread& t = lanes[k];
    const uint64_t value = t.bits[op.a];
    const uint8_t value_known = t.known[op.a];
    if (kind == SubgroupOp::kRank) {
      t.bits[op.dst] = count;
      t.known[op.dst] = known;
    }
    if (value_known != kDefined) known = 0;
    count += value != 0 ? 1 : 0;
  }
  if (kind == SubgroupOp::kRank) return;
  const auto size = static_cast<uint64_t>(options_.subgroup_size);
  if (kind == SubgroupOp::kAny) count = count > 0 ? 1 : 0;
  if (kind == SubgroupOp::kAll) count = count == size ? 1 : 0;
  for (int k = 0; k < options_.subgroup_size; k++) {
    lanes[k].bits[op.dst] = count;
    lanes[k].known[op.dst] = known;
  }
}

}  // namespace kenaz::kir
