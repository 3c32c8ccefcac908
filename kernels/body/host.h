// What code inside a thread knows of the code around its kernel: the values that IR variables have
// at host level, and the little that it asks of whoever generates that code.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kernels/body/layout.h"
#include "kernels/ir/ir.h"
#include "kernels/program/program.h"

namespace kenaz::body {

using program::BlockReg;
using program::Operand;
using program::ScalarReg;

/// Iotas and replicated scalars have no memory until something needs it.
enum class ArrayKind : uint8_t { kMemory, kIota, kReplicate };

/// A scalar that a kernel left in device memory. `borrowed`: the block belongs to an array that may
/// be updated in place later (the value must be taken away before that).
struct DeviceScalar {
  BlockReg block;
  Operand offset;  // bytes
  bool borrowed = false;
  /// If valid, the scalar also stands in a cell (program::kCellBytes) of this block, where the host
  /// reads it. Kernels do not: it is the host's memory.
  BlockReg told = {};
  int64_t told_offset = 0;
};
struct HostScalar {
  PrimType type = PrimType::kI32;
  std::variant<Operand, DeviceScalar> at;

  bool is_borrowed() const {
    const auto* d = std::get_if<DeviceScalar>(&at);
    return d != nullptr && d->borrowed;
  }
};
struct HostArray {
  PrimType elem = PrimType::kI32;
  ArrayKind kind = ArrayKind::kMemory;
  Layout<Operand> layout;  // virtual kinds: only dims count
  BlockReg block;          // kMemory
  Operand start, stride;   // kIota, of type elem
  HostScalar value;        // kReplicate
};
using HostValue = std::variant<HostScalar, HostArray>;

/// The bytes of the largest local array on GPUs.
inline constexpr int64_t kMostOfTable = 256;

/// The generator of host code, as kernels see it. What it emits runs before the kernel's launch.
class Host {
 public:
  virtual ~Host() = default;
  virtual const ir::Program& ir() const = 0;
  virtual bool is_bound(ir::VarId v) const = 0;
  /// A variable's value. It must be bound at host level.
  virtual const HostValue& value(ir::VarId v) = 0;
  /// The value on the host (reads it from the device if it is there).
  virtual Operand scalar(const ir::Atom& a) = 0;
  virtual PrimType reg_type(ScalarReg r) const = 0;
  /// What the program calls the array that the block holds; empty if it has no name that is known,
  /// or if names are not wanted.
  virtual std::string name_of(BlockReg) const { return {}; }
  /// How much each thread may have in local arrays, bytes; 0: these gain nothing on the device.
  virtual int64_t local_bytes() const { return 0; }
  /// The bytes of the largest of them. By default, as on GPUs: larger ones gain nothing, as a
  /// driver unrolls the loops over them, and what it cannot keep in registers goes through the same
  /// caches as other memory.
  virtual int64_t largest_table() const { return kMostOfTable; }
  /// Rows of results of up to so many bytes loops work on elsewhere, and move them behind. On GPUs
  /// what threads have of their own lies side by side, rows of results do not.
  virtual int64_t most_apart() const { return local_bytes() > 0 ? 4096 : 0; }
  /// Whether the device ends a thread's loops after some number of turns.
  virtual bool limits_turns() const { return false; }
  virtual ScalarReg new_scalar(PrimType t) = 0;
  virtual BlockReg new_block() = 0;
  /// Constants are folded.
  virtual Operand emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) = 0;
  /// Its number.
  virtual int add_failure(program::KernelFailure f) = 0;
  /// Notes that the program cannot be compiled; the first one counts.
  virtual void refuse(ir::ProvId place, const std::string& what) = 0;
  /// Whether something was refused: what is generated from then on counts for nothing.
  virtual bool failed() const = 0;
};

}  // namespace kenaz::body
