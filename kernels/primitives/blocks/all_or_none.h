// Threads that wait for other workgroups are stopped one by one, and what one of them would have
// said to its own workgroup is missing then: all of it go on, or none.
#pragma once

#include "kernels/plan/team.h"

namespace kenaz::primitives::blocks {

class AllOrNone {
 public:
  /// At the start of the kernel, before a barrier.
  explicit AllOrNone(plan::Team& team)
      : k_(team.k), going_(team.shared_scalar("going", PrimType::kU32)) {
    k_.if_(k_.eq(k_.local(), 0), [&] { k_.store(going_, kir::i32(0), number(0)); });
  }

  /// Says that this thread goes on; before a barrier.
  void go_on() { k_.atomic(kir::AtomicOp::kAdd, PrimType::kU32, {going_, kir::i32(0)}, number(1)); }
  /// Behind it: stops the workgroup, unless its threads have said so as many times (u32) in all.
  void stop_unless(const kir::Value& times) {
    k_.if_(k_.ne(k_.load(going_, kir::i32(0)), times), [&] { k_.stop(); });
  }

 private:
  static kir::Value number(uint32_t n) { return PrimValue{PrimType::kU32, n}; }

  kir::Builder& k_;
  kir::SharedId going_;
};

}  // namespace kenaz::primitives::blocks
