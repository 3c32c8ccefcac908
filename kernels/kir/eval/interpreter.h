// The inside of the interpreter. Functions that return bool return false after recording a fault.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kir/eval/defined.h"
#include "kernels/kir/eval/group.h"
#include "kernels/kir/eval/machine.h"
#include "kernels/kir/eval/memory_block.h"
#include "kernels/kir/eval/schedule.h"

namespace kenaz::kir {

class Machine {
 public:
  /// All but `code` must outlive the machine.
  Machine(const Kernel& kernel, eval::Code code, Memory& memory, const RunOptions& options,
          Observer* observer);
  Result<RunResult> run(int64_t groups, std::optional<Fault>* fault);

 private:
  using Op = eval::Op;
  using Group = eval::Group;
  using Thread = eval::Thread;
  enum class Pause : uint8_t { kSwitch, kWait, kDone, kFault };
  /// Where an access goes. `shadow` is null for arrays of a thread.
  struct Place {
    std::byte* data = nullptr;
    uint8_t* known = nullptr;
    eval::Shadow* shadow = nullptr;
    uint64_t offset = 0;   // in the shadow
    uint64_t address = 0;  // for observers: of the device, or in the shared array
  };
  /// An access's base and index, of thread 0 and those behind it.
  struct AddressSlots {
    const uint64_t *base, *index;
    const uint8_t *base_known, *index_known;
  };

  // ---- running (run.cc)
  bool step(Group& g);
  void make_ready(Group& g, Thread& t);
  bool stuck(Group& g);
  void look_at_host();
  void begin_launch(int64_t groups);

  // ---- threads of a workgroup in lock step (lock_step.cc)
  bool step_together(Group& g);
  bool gather(Group& g);
  /// What threads do at an operation: all go on at `*next`, or each at its own place.
  enum class Way : uint8_t { kTogether, kApart, kFault };
  bool advance_together(Group& g);
  Way one_by_one(Group& g, const Op& op, const Op*& next);
  void move(Group& g, const Op& op);
  Way scalars(Group& g, const Op& op);
  bool stays(const Group& g) const;
  Way branch(Group& g, const Op& op, const Op*& next);
  Way enter_for(Group& g, const Op& op, const Op*& next);
  Way next_for(Group& g, const Op& op, const Op*& next);
  Way test_while(Group& g, const Op& op, const Op*& next);
  void call(Group& g, const Op& op, const Op*& next);
  Way return_from(Group& g, const Op& op, const Op*& next);
  bool all_meet(Group& g, const Op& op, size_t size);
  Way meet_all(Group& g, const Op& op, const Op*& next);
  Way part(Group& g, const uint64_t* goes, uint32_t there, uint32_t else_there, const Op*& next);

  // ---- their memory (lock_step_access.cc)
  Way accesses(Group& g, const Op& op, const Op*& next);
  template <class Word>
  bool quick_accesses(Group& g, const Op& op);
  template <class Word, eval::Space kSpace>
  bool quick_accesses(Group& g, const Op& op);
  template <eval::Space kSpace>
  bool quick_place(Group& g, const Op& op, const AddressSlots& at, size_t lane, Place& place);

  // ---- one thread (advance.cc)
  bool leaves(Thread& t, const Op& loop) const;
  Pause advance(Group& g, Thread& t);
  bool execute(Group& g, Thread& t, const Op& op);
  void scalar(Thread& t, const Op& op);
  bool select(const Group& g, Thread& t, const Op& op);
  bool branch(const Group& g, Thread& t, const Op& op);
  bool enter_for(const Group& g, Thread& t, const Op& op);
  void next_for(const Group& g, Thread& t, const Op& op);
  bool test_while(const Group& g, Thread& t, const Op& op);
  bool record_failure(const Group& g, Thread& t, const Op& op);
  bool defined(const Group& g, const Thread& t, const Op& op, eval::Slot slot, const char* what);
  Observer::Place place_of(const Group& g, const Thread& t) const;
  void tell_branch(const Group& g, const Thread& t, const Op& op, bool taken);

  // ---- memory (access.cc)
  bool load(Group& g, Thread& t, const Op& op);
  bool store(Group& g, Thread& t, const Op& op);
  bool atomic(Group& g, Thread& t, const Op& op);
  bool locate(Group& g, Thread& t, const Op& op, Place& place);
  Memory::Block* block_at(uint64_t base);
  bool locate_device(const Group& g, const Thread& t, const Op& op, int64_t index, Place& place);
  eval::Origins& origins(Group& g, const Op& op) {
    return op.space == eval::Space::kDevice ? origins_ : g.origins;
  }
  bool stores_the_same(const Thread& t, const Op& op, const Place& place) const;
  bool access(Group& g, Thread& t, const Op& op, const Place& place, bool write);

  // ---- threads together (together.cc). False if the thread waits, too: see fault_.
  bool meet(Group& g, Thread& t, const Op& op, eval::Meeting& m, FaultKind kind);
  bool parted(const Group& g, FaultKind kind, const Op& op, const Thread& t);
  bool barrier(Group& g, Thread& t, const Op& op);
  bool subgroup(Group& g, Thread& t, const Op& op);
  bool operate(Group& g, Thread* lanes, const Op& op);
  void combine(Thread* lanes, const Op& op);
  bool exchange(Group& g, Thread* lanes, const Op& op);
  void ballot(Thread* lanes, const Op& op);
  void vote(Thread* lanes, const Op& op);

  // ---- faults (fault.cc)
  bool fault(FaultKind kind, const Group& g, const Thread& t, const Op& op,
             const std::string& what);
  bool race(const Group& g, const Thread& t, const Op& op, const std::string& where,
            const eval::Races::Conflict& conflict);
  std::string name(const Op& op) const;
  uint32_t number_of(const Op& op) const { return static_cast<uint32_t>(&op - code_.ops.data()); }

  const Kernel& kernel_;
  const eval::Code code_;
  Memory& memory_;
  Memory::Block* last_block_ = nullptr;  // that an access went to
  const RunOptions& options_;
  Observer* observer_;
  eval::Launches& launches_;  // with what ran before, if that may overlap
  eval::Races& races_;
  eval::Origins origins_;  // of undefined values that were stored to device memory
  uint32_t first_group_ = 0;
  eval::Schedule schedule_;
  int64_t look_at_ = 0;  // as Schedule::steps_left: when to look at the host again
  bool host_stops_ = false;
  std::vector<uint64_t> goes_;  // by thread: whether it goes on in a loop
  std::optional<Fault> fault_;
  RunResult result_;
};

}  // namespace kenaz::kir
