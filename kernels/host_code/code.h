// Operations of host code: the registers that they set, arithmetic on these, sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/explain/recorder.h"
#include "kernels/host_code/computed.h"
#include "kernels/host_code/values.h"
#include "kernels/ir/ir.h"
#include "kernels/program/program.h"
#include "kernels/program/target.h"

namespace kenaz::host_code {

class HostCode : public body::Host {
 public:
  using Scalar = Operand;  // for LayoutMath and ViewMath
  /// `recorder` may be null; else it is told what is decided.
  HostCode(const ir::Program& ir, const program::Target& target, program::Program& out,
           explain::Recorder* recorder)
      : ir_(ir), target_(target), out_(out), recorder_(recorder) {}

  const program::Target& target() const { return target_; }
  explain::Recorder* recorder() { return recorder_; }  // may be null
  const ir::Program& ir() const override { return ir_; }
  int64_t local_bytes() const override;
  int64_t largest_table() const override;
  int64_t most_apart() const override;
  bool limits_turns() const override { return target_.max_turns > 0; }
  void refuse(ir::ProvId place, const std::string& what) override;
  bool failed() const override { return !error_.empty(); }

  // ---- operations
  void emit(program::HostOp op) { code_->push_back(std::move(op)); }
  Operand emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) override;
  ScalarReg new_scalar(PrimType t) override;
  BlockReg new_block() override;
  PrimType reg_type(ScalarReg r) const override { return reg_types_[r.index]; }
  /// `dst` is a variable of host code then, whose value changes.
  void set_scalar(ScalarReg dst, Operand src) {
    computed_.note_variable(dst);
    emit({program::OpMove{dst, std::move(src)}});
  }

  // ---- sizes (fold constants)
  HostSize size(int64_t n) { return size(konst(n)); }
  /// Of an array's dim, or of a number of workgroups or threads. A negative dim counts as 0: the
  /// check that reports it may be inside a kernel that is not launched yet.
  HostSize size(const Operand& n);
  HostSize plus(const HostSize& a, const HostSize& b);
  HostSize times(const HostSize& a, const HostSize& b);
  /// The number of elements of an array.
  HostSize count(const std::vector<Operand>& dims);
  /// The next multiple of a power of two.
  HostSize round_up(const HostSize& n, int64_t to);

  // ---- arithmetic on i64 (folds constants). It wraps, so it is for the places of elements: those
  // of an element that exists are exact, since the array's memory was allocated by its size.
  Operand konst(int64_t n) { return PrimValue::i64(n); }
  Operand add(const Operand& a, const Operand& b);
  Operand mul(const Operand& a, const Operand& b);
  /// How many groups of `by` hold `a` things.
  Operand div_up(const Operand& a, int64_t by);
  Operand min(const Operand& a, const Operand& b);
  Operand max(const Operand& a, const Operand& b);
  bool same(const Operand& a, const Operand& b) const { return a == b; }
  std::optional<int64_t> as_const(const Operand& a) const;

 protected:
  /// Registers of the program's constants stay, and code of a function begins.
  void begin_registers();
  int scalar_regs() const { return static_cast<int>(reg_types_.size()); }
  int block_regs() const { return static_cast<int>(block_regs_); }
  /// Where operations go. Returns where they went.
  program::Code* emit_to(program::Code* code) { return std::exchange(code_, code); }
  /// The register of a tuning parameter.
  Operand tune(uint32_t param);
  /// The parameters that the function has asked for.
  std::set<uint32_t> tuned() const;
  Computed& computed() { return computed_; }
  const std::string& error() const { return error_; }

  const ir::Program& ir_;
  const program::Target target_;
  program::Program& out_;
  explain::Recorder* const recorder_;

 private:
  program::Code* code_ = nullptr;
  std::vector<PrimType> reg_types_;
  uint32_t block_regs_ = 0;
  Computed computed_;
  std::map<ScalarReg, uint32_t> tuned_;  // the tuning parameters that registers hold
  std::string error_;
};

/// Whether it takes many threads to fill the device. On CPUs loads don't take that long, and
/// barriers longer.
bool hides_latency_by_threads(const program::Target& target);
bool hides_latency_by_threads(const HostCode& host);

}  // namespace kenaz::host_code
