// Host code out of IR: walks a function's body at host level, emits host operations and, for what
// is parallel or touches array elements, kernels (kernels/body, launch.h).
//
// Scalars live in host registers, or in device memory where a kernel left them until the host needs
// them. Arrays are symbolic (values.h): slices, transpositions and reshapes cost nothing. Where
// control flow joins, arrays are dense at the start of a block of their own.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/body/thread.h"
#include "kernels/explain/recorder.h"
#include "kernels/host_code/computed.h"
#include "kernels/host_code/values.h"
#include "kernels/ir/lowered.h"
#include "kernels/program/program.h"
#include "kernels/program/target.h"
#include "protocol/base/result.h"

namespace kenaz::host_code {

class HostGen : public body::Host {
 public:
  using Scalar = Operand;  // for LayoutMath
  /// `recorder` may be null; else it is told what is decided.
  HostGen(const ir::Lowered& lowered, const program::Target& target, program::Program& out,
          explain::Recorder* recorder = nullptr);

  /// Generates constants and all entries. The first thing refused is the error.
  Status run();

  // ---- what kernels need
  const program::Target& target() const { return target_; }
  explain::Recorder* recorder() { return recorder_; }  // may be null
  const ir::Program& ir() const override { return ir_; }
  const HostValue& value(ir::VarId v) override;
  bool is_bound(ir::VarId v) const override { return env_.count(v) != 0; }
  Operand scalar(const ir::Atom& a) override;
  PrimType reg_type(ScalarReg r) const override { return reg_types_[r.index]; }
  std::string name_of(BlockReg b) const override {
    const auto it = block_names_.find(b);
    return it == block_names_.end() ? "" : it->second;
  }
  Operand emit_op(ScalarOp op, PrimType type, PrimType to, std::vector<Operand> args) override;
  int64_t local_bytes() const override;
  ScalarReg new_scalar(PrimType t) override;
  BlockReg new_block() override;
  void emit(program::HostOp op) { code_->push_back(std::move(op)); }
  /// Emits to `code` what `f` emits.
  void emit_into(program::Code& code, const std::function<void()>& f) {
    Scope scope(*this, code);
    f();
  }
  /// `dst` is a variable of host code then, whose value changes.
  void set_scalar(ScalarReg dst, Operand src) {
    computed_.note_variable(dst);
    emit({program::OpMove{dst, std::move(src)}});
  }
  void refuse(ir::ProvId place, const std::string& what) override;
  bool failed() const override { return !error_.empty(); }
  /// Adds a kernel, or finds an equal one.
  KernelId add_kernel(program::Kernel k);
  int add_failure(program::KernelFailure f) override;
  /// The failure of a loop at `place` that the driver ended early.
  int cut_failure(ir::ProvId place);
  std::string kernel_name(const std::string& what);

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

  // ---- arrays
  HostArray array(ir::VarId v);
  std::vector<Operand> dims_of(const std::vector<ir::Atom>& dims);
  /// A new block for a dense array.
  HostArray allocate(PrimType elem, std::vector<Operand> dims);
  /// For an array that a statement makes: at the variable's place, if it has one and kernels can
  /// store there as they do to a block, else in a new block.
  HostArray make(ir::VarId v);
  BlockReg allocate_bytes(const HostSize& bytes);
  void allocate_bytes(BlockReg into, const HostSize& bytes);
  /// For `n` scalars, 8 bytes apart, that the host is likely to read.
  BlockReg allocate_cells(size_t n);
  /// Dense at offset 0 of its block; the same memory if it is that already.
  HostArray normalised(HostArray a);
  /// Something with memory.
  HostArray in_memory(HostArray a);
  void copy(const HostArray& from, const HostArray& to);
  /// Views.
  HostArray rearranged(HostArray a, const std::vector<int>& perm);
  HostArray sliced(const HostArray& a, const SliceDims<Operand>& dims);
  void bind(ir::VarId v, HostValue value) { set(v, std::move(value)); }
  /// Takes borrowed scalars out of their arrays: something is about to be updated in place.
  void settle_borrowed();

 private:
  // control flow and functions (host_control.cc)
  void body(const ir::Body& b);
  void stm(const ir::Stm& s);
  void host_if(const ir::Stm& s, const ir::EIf& e);
  void host_loop(const ir::Stm& s, const ir::ELoop& e);
  void call(const ir::Stm& s, const ir::ECall& e);
  // functions that call themselves (host_calls.cc)
  void find_functions();
  void gen_function(uint32_t id);
  void recursive_call(const ir::Stm& s, const ir::ECall& e);
  void check(const ir::Stm& s, const ir::EAssert& e);
  void gen_constants();
  void begin_function(const std::string& name);
  void gen_entry(const EntryPoint& entry);
  void entry_params(const EntryPoint& point, const ir::Function& f, program::Entry& out);
  void entry_results(const ir::Function& f, const EntryPoint& point, program::Entry& out);
  program::Leaf param_leaf(ir::VarId p);
  HostArray block_array(const ir::Type& t, BlockReg block);
  void loop_results(const ir::ELoop& e, const std::vector<ScalarReg>& scalars,
                    const std::vector<BlockReg>& blocks);

  // scalars and arrays (host_arrays.cc)
  void set(ir::VarId v, HostValue value);
  void note_borrowed(ir::VarId v, const HostValue& value);
  HostScalar host_scalar(const ir::Atom& a);
  Operand read(const HostScalar& s);
  void index(const ir::Stm& s, const ir::EIndex& e);
  void update(const ir::Stm& s, const ir::EUpdate& e);
  void array_literal(const ir::Stm& s, const ir::EArrayLit& e);
  void replicate(const ir::Stm& s, const ir::EReplicate& e);
  void concat(const ir::Stm& s, const ir::EConcat& e);
  void reshape(const ir::Stm& s, const ir::EReshape& e);
  SliceDims<Operand> slice_dims(const std::vector<ir::Dim>& dims);
  Operand iota_element(const HostArray& a, const Operand& i);
  void store_scalar(const HostArray& to, const Operand& element, const HostScalar& value);
  // places (places.cc)
  std::optional<HostArray> at_place(ir::VarId v, const ir::Place& place);
  /// Copies the array to `to`, unless it was made there: a part of what statement `whole` makes, or
  /// what it updates the array `whole` with.
  void put_part(ir::VarId v, ir::VarId whole, const HostArray& to);
  void put_update(ir::VarId v, ir::VarId whole, const HostArray& to);
  void copy_unless(const Operand& there, ir::VarId v, const HostArray& to);
  Operand is_at_place(ir::VarId v, ir::VarId memory) const;
  /// Emits into `code` while it lives; at its end undoes what was noted about variables.
  struct Scope {
    Scope(HostGen& g, program::Code& code);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    HostGen& gen;
    program::Code* outer_code;
    std::vector<std::pair<ir::VarId, std::optional<HostValue>>>* outer_undo;
    std::vector<std::pair<ir::VarId, std::optional<HostValue>>> changes;
    size_t computed_before;
  };

  const ir::Lowered& lowered_;
  const ir::Program& ir_;
  const program::Target target_;
  program::Program& out_;
  explain::Recorder* const recorder_;
  program::Code* code_ = nullptr;
  std::unordered_map<ir::VarId, HostValue> env_;
  std::vector<std::pair<ir::VarId, std::optional<HostValue>>>* undo_ = nullptr;
  std::set<ir::VarId> borrowed_;
  std::set<ir::VarId> scratch_;                  // memory that was made to be filled
  std::map<ir::VarId, Operand> at_their_place_;  // whether they are: bools
  std::vector<PrimType> reg_types_;
  Computed computed_;
  std::map<ScalarReg, uint32_t> tuned_;  // the tuning parameters that registers hold
  uint32_t block_regs_ = 0;
  /// Of an entry point's parameters. Only where kernels are interpreted: elsewhere nobody would see
  /// them, and kernels that differ in nothing else are to be one.
  std::map<BlockReg, std::string> block_names_;
  std::map<std::string, KernelId> kernels_by_text_;
  std::string function_name_;
  int kernel_number_ = 0;
  std::map<uint32_t, int> cut_failures_;  // by place
  std::string error_;
  ir::ProvId place_;
  int call_depth_ = 0;
  std::map<uint32_t, uint32_t> functions_;  // FunIds to Program::functions
  std::set<uint32_t> functions_tuning_;     // parameters that these read
};

/// Emits a branch of host code, or only the side that runs where the condition is known.
void choose(HostGen& host, const Operand& cond, const std::function<void()>& then,
            const std::function<void()>& otherwise);

/// Lets registers go of their blocks after the last use, except those in `keep`.
void insert_releases(program::Code& code, const std::set<BlockReg>& keep);

}  // namespace kenaz::host_code
