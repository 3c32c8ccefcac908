// Where a workgroup has its arrays: in shared memory, or in a part of its own of a block.
#pragma once

#include <map>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/host_code/host_arrays.h"

namespace kenaz::host_code {

/// Of one kernel. Every array has its place throughout: those of a loop are made again in the same.
class GroupMemory {
 public:
  enum class Where : uint8_t { kShared, kDevice };
  GroupMemory(HostArrays& host, Where where) : host_(host), where_(where) {}

  /// From here on arrays may have rows with room behind them, so that they are not dense.
  void pad_rows() { pads_ = true; }
  /// For an array of sizes that the host knows, dense if rows are not padded. In main.
  body::KernelArray allocate(body::Thread& t, PrimType elem, const std::vector<ir::Atom>& dims);

  /// Once all are there, kShared: gives the shared arrays their lengths, `bytes` bytes together at
  /// most, and says whether that is enough (a bool).
  Operand settle(kir::Kernel& kernel, int bytes);
  /// Before the launch, kDevice: memory for so many workgroups.
  void provide(const Operand& groups);

 private:
  struct Pool {
    kir::SharedId id;
    Operand used = PrimValue::i64(0);  // elements
  };
  Operand sized(ScalarOp op, const Operand& a, const Operand& b);
  bool is_padded(PrimType elem, const std::vector<ir::Atom>& dims, const Operand& elements) const;

  HostArrays& host_;
  Where where_;
  bool pads_ = false;
  std::map<PrimType, Pool> pools_;
  BlockReg block_;                     // invalid: no array needed it
  Operand bytes_ = PrimValue::i64(0);  // of each workgroup
};

}  // namespace kenaz::host_code
