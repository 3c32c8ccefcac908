// For tests: array IR as the element code of a kernel, run by kir's interpreter beside array IR's
// own evaluator.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/ir/eval/evaluator.h"
#include "kernels/kir/eval/machine.h"

namespace kenaz::body {

/// A host whose registers have values while code is generated.
class TestHost : public Host {
 public:
  explicit TestHost(ir::Program program) : program_(std::move(program)) {}

  const ir::Program& ir() const override { return program_; }
  bool is_bound(ir::VarId v) const override { return values_.count(v) != 0; }
  const HostValue& value(ir::VarId v) override { return values_.at(v); }
  Operand scalar(const ir::Atom& a) override;
  PrimType reg_type(ScalarReg r) const override { return registers[r.index].type; }
  ScalarReg new_scalar(PrimType t) override;
  BlockReg new_block() override;
  Operand emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) override;
  int add_failure(program::KernelFailure f) override;
  void refuse(ir::ProvId, const std::string& what) override { refused = what; }
  bool failed() const override { return !refused.empty(); }
  int64_t local_bytes() const override { return bytes_of_local_arrays; }

  void bind(ir::VarId v, HostValue value) { values_[v] = std::move(value); }
  Operand register_of(PrimValue v);
  PrimValue value_of(const Operand& o) const;

  std::vector<PrimValue> registers;
  std::vector<uint64_t> blocks;  // addresses; 0: not allocated yet
  std::vector<program::KernelFailure> failures;
  std::string refused;
  int64_t bytes_of_local_arrays = 0;

 private:
  ir::Program program_;
  std::map<ir::VarId, HostValue> values_;
};

/// Runs the only function of a program for `width` elements: its first parameter is the element's
/// number (i64), the others are bound at host level. Its results are stored to arrays whose rows
/// are the elements'.
class BodyTest {
 public:
  explicit BodyTest(const std::string& text);

  void scalar(PrimValue v) { args_.push_back({{v.type, {}}, v.bits, {}}); }
  /// Of i64s.
  void array(const std::vector<int64_t>& shape, const std::vector<int64_t>& elements);

  /// Translates the function, runs it and compares with the evaluator; what is wrong, or nothing.
  /// Does the same again with room for local arrays, little and much.
  std::string difference();

  int64_t width = 6;
  int64_t heap_bytes = 4096;  // per thread
  bool single_thread = false;
  // After difference(), without local arrays but for the last two:
  std::string text() const;  // of the kernel
  bool uses_private_memory = false, uses_heap = false, heap_was_too_small = false;
  std::optional<kir::Failed> failure;
  size_t arguments = 0;
  size_t local_arrays = 0;  // where there is room for them
  bool spills = false;      // whether it uses private memory there as well
  TestHost host;

 private:
  using Row = std::vector<ir::eval::Value>;  // the results of one element
  const ir::Function& function() const { return host.ir().functions[0]; }
  BlockReg block_of(size_t bytes, const std::byte* data);
  void bind_arguments();
  HostArray room_for(const ir::eval::Value& result);
  void build(Thread& t, const std::vector<HostArray>& out);
  std::string run(Thread& t);
  std::string difference_from(const std::vector<Row>& rows, const std::string& error);
  std::string compare(const std::vector<Row>& rows, const std::vector<HostArray>& out);

  std::vector<ir::eval::Value> args_;  // without the element's number
  ir::eval::Evaluator evaluator_;
  kir::Memory memory_;
  kir::Kernel kernel_;
};

}  // namespace kenaz::body
