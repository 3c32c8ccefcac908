// Memory of a thread's own arrays.
//
// Small arrays of a size that is known are the kernel's local arrays, on devices that keep those in
// registers or near to them (Host::local_bytes). Others whose sizes the host can compute have a
// place in the thread's part of a block that the host allocates for the launch, interleaved over
// the threads. Others come from the thread's heap: a stack that loops reset, of a capacity that the
// host guesses; where it was too small, the whole launch is repeated with a larger one.
#pragma once

#include <optional>
#include <vector>

#include "kernels/body/values.h"
#include "kernels/ir/ir.h"

namespace kenaz::body {

struct Thread;

/// The block has `bytes` for each thread of the launch.
struct PrivateMemory {
  BlockReg block;  // invalid: no array needed any
  Operand bytes = PrimValue::i64(0);
  bool used() const { return block.valid(); }
};

/// Memory for a new array: the thread's own table, private, or from the heap.
KernelArray allocate(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims);
/// In device memory: private, or from the heap.
KernelArray allocate_addressed(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims);
/// How many elements an array has of which there may be a table of the thread: its size is known
/// and small, and the kernel has not many.
std::optional<int64_t> local_length(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims);
/// That table, or null.
std::optional<KernelArray> local_array(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims);
/// A table that nothing accesses, nor will.
void give_back(Thread& t, kir::LocalId table);

class Heap {
 public:
  bool used() const { return block_.valid(); }
  ScalarReg capacity() const { return capacity_; }  // bytes per thread, i64; the launch sets it
  BlockReg block() const { return block_; }         // capacity() bytes for each thread
  BlockReg flag() const { return flag_; }           // a u32: becomes 1 when a heap was too small

  /// Dense. The thread stops if there is no room.
  KernelArray allocate(Thread& t, PrimType elem, const std::vector<ir::Atom>& dims);

  /// Every function has a heap pointer of its own, which starts at the bottom: of functions that
  /// call each other, at most one may allocate. If none does, it is dead code.
  /// Gives the one of the caller's, for end_function.
  kir::Var begin_function(kir::Builder& k);
  void end_function(kir::Var outer) { top_ = outer; }
  /// How much is in use; all from there on is free again after reset().
  kir::Value mark(kir::Builder& k) const { return k.read(top_); }
  void reset(kir::Builder& k, const kir::Value& mark) const { k.assign(top_, mark); }

 private:
  kir::Var top_;  // bytes in use
  ScalarReg capacity_;
  BlockReg block_, flag_;
};

}  // namespace kenaz::body
