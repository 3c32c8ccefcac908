// Workgroups that know of each other: the last one to arrive, values that one leaves for others.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

using kir::Value;
using kir::Values;
using plan::Team;

/// Finds the last workgroup to arrive somewhere.
class LastArrival {
 public:
  /// At the start of the kernel.
  explicit LastArrival(Team& team);

  /// Whether this workgroup is the last of `count` (i64) to arrive at the ticket, a u32 in device
  /// memory that must be 0 before the first one arrives and is 0 again behind the last. Every
  /// thread gets the answer; in the last workgroup it sees what the others stored coherently before
  /// they arrived. Contains barriers; once per kernel. Threads that have stopped get false: there
  /// may be no barrier under this condition.
  Value arrives(const kir::Address& ticket, const Value& count);

  /// The same in two steps, so that nobody waits for the memory in between. The workgroup arrives
  /// with all that it did before its last barrier, and goes on.
  void arrive(const kir::Address& ticket);
  /// Behind `arrive`; contains a barrier.
  Value was_last(const kir::Address& ticket, const Value& count);

 private:
  Team& t_;
  kir::SharedId answer_;
  kir::Var before_;  // of the first thread: how many had arrived
};

/// A number from 0 on, another for each workgroup, in the order in which they start; i64. `ticket`
/// as above, but left as it is: who knows that all have theirs must reset it (`reset_ticket`).
/// May contain a barrier.
Value start_number(Team& team, const kir::Address& ticket);
/// A number in each turn of a loop, in which a barrier must stand between two calls; -1 for threads
/// that have stopped, so that the loop ends for them.
Value start_number_or_none(Team& team, const kir::Address& ticket);
void reset_ticket(Team& team, const kir::Address& ticket);

/// A table of values in device memory, 8 bytes for each scalar, that threads leave for each other.
class Mailboxes {
 public:
  /// `base`: address of bytes(types, count) bytes, a multiple of 8; `count`: i64. Coherent: for
  /// other workgroups.
  Mailboxes(Team& team, Value base, std::vector<PrimType> types, Value count,
            kir::Order order = kir::Order::kCoherent)
      : t_(team),
        base_(std::move(base)),
        types_(std::move(types)),
        count_(std::move(count)),
        order_(order) {}
  static plan::HostExpr bytes(const std::vector<PrimType>& types, const plan::HostExpr& count) {
    return count * plan::HostExpr(8 * static_cast<int64_t>(types.size()));
  }
  void store(const Value& index, const Values& x);
  Values load(const Value& index);
  /// The boxes from `from` to before `to` in their order. Several are on their way at a time: each
  /// takes long to come.
  void for_each(const Value& from, const Value& to,
                const std::function<void(const Value& index, const Values& x)>& body);

 private:
  kir::Address at(size_t n, const Value& index);
  Team& t_;
  Value base_;
  std::vector<PrimType> types_;
  Value count_;
  kir::Order order_;
};

}  // namespace kenaz::primitives::blocks
