// The text of one kernel. Translates IR that runs inside a thread; everything bound at host level
// becomes an argument where the text mentions it.
//
// Code of a thread stands in GLSL functions without a value, so that a failing check can leave by
// `return` wherever it is, and barriers in `main` stay uniform.
//
// Arrays made inside a thread live in its private part of a block that the host allocates for the
// launch, interleaved over the threads, if the host can compute their sizes. Others come from the
// thread's heap: a stack that loops reset, of a capacity that the host guesses; where it was too
// small, the whole launch is repeated with a larger one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/glsl/library.h"
#include "kernels/gpu/host_gen.h"

namespace kenaz::gpu {

class KernelGen {
 public:
  using Scalar = Expr;  // for LayoutMath
  /// single_thread: the kernel runs as one invocation.
  KernelGen(HostGen& host, std::string name, bool single_thread = false);

  // ---- text
  void line(const std::string& text);
  void open(const std::string& text);  // text, then indented lines
  void close(const std::string& text = "}");
  /// for (T i = 0; i < bound; i++) { ..: gives i. Loops that may be long leave the function when
  /// the call has failed or is to stop.
  Expr open_for(const Expr& bound);
  /// Closes it, and fails if the driver left it early.
  void close_for(const Expr& i, const Expr& bound);
  void open_while(const std::string& condition);
  void close_while(const std::string& condition);
  /// Whether elements may take long.
  bool has_loops() const { return has_loops_; }
  /// A new local variable with that value.
  Expr local(PrimType t, const std::string& value);
  std::string fresh_name();
  Expr variable(PrimType t);  // declared, without value
  void begin_function(const std::string& head);
  void end_function();

  // ---- arithmetic on i64
  Expr konst(int64_t n) const;
  Expr constant(const PrimValue& v) const;
  Expr add(const Expr& a, const Expr& b);
  Expr mul(const Expr& a, const Expr& b);
  Expr op(ScalarOp op, PrimType type, PrimType to, const std::vector<Expr>& args);
  bool same(const Expr& a, const Expr& b) const { return a.text == b.text; }
  std::optional<int64_t> as_const(const Expr& a) const;

  // ---- host values as arguments
  Expr import_scalar(const HostScalar& s);
  Expr import_operand(const Operand& o);
  Expr import_operand(const Operand& o, PrimType t);
  KernelArray import_array(const HostArray& a);
  /// The block's address as an expression. A block that main's own text writes to must be named.
  std::string block(BlockReg b);
  void writes_block(BlockReg b) { written_blocks_.insert(b.index); }

  // ---- IR inside the thread
  void bind(ir::VarId v, KernelValue value) { env_[v] = std::move(value); }
  Expr scalar(const ir::Atom& a);
  KernelArray array(ir::VarId v);
  KernelValue value(const ir::Atom& a);
  /// A scalar bound at host level, as text that is good anywhere in the shader.
  std::string host_value_text(const ir::Atom& a);
  std::vector<Expr> exprs(const std::vector<ir::Atom>& atoms);
  /// Translates a body. Where `dests` has memory for an array result, the array is made there if
  /// that can be; otherwise the caller must move it (see place).
  std::vector<KernelValue> body(const ir::Body& b,
                                const std::vector<std::optional<KernelArray>>& dests = {});
  void stm(const ir::Stm& s);
  /// Binds a lambda's leading parameters to the i-th rows of host or kernel arrays.
  void bind_rows(const std::vector<ir::VarId>& params, const std::vector<ir::VarId>& inputs,
                 const Expr& i);
  /// The i-th row: an element if the array has one dimension.
  KernelValue row(const KernelArray& a, const Expr& i);

  // ---- memory
  Expr load(const KernelArray& a, const Expr& element);
  void store(const KernelArray& a, const Expr& element, const Expr& value);
  void copy(const KernelArray& from, const KernelArray& to);
  void copy_element(const KernelArray& from, const KernelArray& to, const std::vector<Expr>& at);
  /// A function `void NAME(acc.., elem.., out r..)` for an operator on scalars.
  void operator_function(const std::string& name, const ir::Monoid& m);
  /// Makes `to` hold the value, unless it is there already.
  void place(const KernelValue& v, const KernelArray& to);
  bool identical(const KernelArray& a, const KernelArray& b) const;
  KernelArray allocate(PrimType elem, const std::vector<ir::Atom>& dims);
  KernelArray in_memory(const KernelArray& a, const std::vector<ir::Atom>& dims);
  KernelArray sliced(const KernelArray& a, const SliceDims<Expr>& dims);
  bool has_private_memory() const { return uses_private_ || uses_heap_; }
  bool has_heap() const { return uses_heap_; }

  /// Writes an element of a scatter to each dest where its index is in bounds. `results`: index
  /// components of all dests, then values.
  void scatter_element(const std::vector<KernelArray>& dests, const std::vector<int>& ranks,
                       const std::vector<KernelValue>& results);

  // ---- launch
  glsl::Library& library() { return library_; }
  HostGen& host() { return host_; }
  /// For element kernels: `width` threads call elem(i). Registers the kernel and launches it.
  void launch_elements(const Operand& width);
  /// As many workgroups as `groups` if their private memory fits the budget; else fewer.
  Operand affordable(const Operand& groups, int workgroup_size);
  /// One thread calls elem(0).
  void launch_single();
  /// With a `main` of the caller's: globals (declarations) and the text of main's inside, which
  /// runs after set-up: lid, group, groups, gid and threads are there. With barriers, all threads
  /// of a workgroup run it or none.
  void launch(const std::string& globals, const std::string& main, int workgroup_size,
              const Operand& groups, bool has_barriers);
  /// The host value a kernel array stands for, if it is an untouched import.
  std::optional<HostArray> as_import(const KernelArray& a) const;
  /// The statement that the kernel is for.
  void set_place(ir::ProvId p) { place_ = kernel_place_ = p; }
  /// Memory that a variable's array shall be made in.
  void set_dest(ir::VarId v, const KernelArray& dest) { dests_[v] = dest; }

 private:
  // statements (kernel_body.cc)
  void prim(const ir::Stm& s, const ir::EPrim& e);
  void index(const ir::Stm& s, const ir::EIndex& e);
  void update(const ir::Stm& s, const ir::EUpdate& e);
  void iota(const ir::Stm& s, const ir::EIota& e);
  void replicate(const ir::Stm& s, const ir::EReplicate& e);
  void array_literal(const ir::Stm& s, const ir::EArrayLit& e);
  void concat(const ir::Stm& s, const ir::EConcat& e);
  void rearrange(const ir::Stm& s, const ir::ERearrange& e);
  void reshape(const ir::Stm& s, const ir::EReshape& e);
  void check(const ir::Stm& s, const ir::EAssert& e);
  void call(const ir::Stm& s, const ir::ECall& e);
  SliceDims<Expr> slice_dims(const std::vector<ir::Dim>& dims);
  KernelArray dest_for(ir::VarId v);
  std::optional<KernelArray> dest_of(ir::VarId v) const;
  void bind_virtual(ir::VarId v, KernelArray a);
  Expr iota_element(const KernelArray& a, const Expr& i);
  Expr element(const KernelArray& a, const std::vector<Expr>& at);
  void forget_hoisted(const ir::Body& b);
  // control (kernel_control.cc)
  void branch(const ir::Stm& s, const ir::EIf& e);
  bool is_long_chain(const ir::Stm& s, const ir::EIf& e) const;
  void chain(const ir::Stm& s, const ir::EIf& e);
  void loop(const ir::Stm& s, const ir::ELoop& e);
  KernelArray loop_memory(const ir::Stm& s, const ir::ELoop& e, size_t k);
  KernelValue join(const KernelValue& a, const KernelValue& b, const ir::Type& type,
                   std::string& in_a, std::string& in_b);
  // combinators inside a thread (kernel_soac.cc)
  void soac(const ir::Stm& s, const ir::ESoac& e);
  void scatter(const ir::Stm& s, const ir::EScatter& e);
  void hist(const ir::Stm& s, const ir::EHist& e);
  void hist_bin(const ir::EHist::Op& op, const std::vector<KernelArray>& dests,
                const std::vector<Expr>& index, const std::vector<KernelValue>& values);
  KernelArray slot_of(const KernelArray& dest, const std::vector<Expr>& at, std::string& in_bounds);
  KernelArray consumed_memory(ir::VarId array_var, ir::VarId result);
  std::vector<KernelValue> accumulators(const ir::Monoid& m, const std::vector<ir::VarId>& results);
  void accumulate(const ir::Monoid& m, const std::vector<KernelValue>& acc,
                  const std::vector<KernelValue>& elems);
  /// All at once: values may mention targets.
  void assign(const std::vector<KernelValue>& targets, const std::vector<KernelValue>& values,
              const std::vector<ir::VarId>& types_of);
  // dests (kernel_body.cc)
  void spread_dest(const ir::Body& b, ir::VarId v, const KernelArray& dest);

  // loops (kernel_loops.cc)
  bool enter_loop(std::optional<int64_t> turns);
  ir::ProvId leave_loop();
  void fail_if_cut(const std::string& condition, ir::ProvId place);
  std::string report_cut(ir::ProvId place);
  std::string check_for_cut();

  // heap (kernel_heap.cc)
  KernelArray allocate_on_heap(PrimType elem, const std::vector<ir::Atom>& dims);
  Expr heap_mark();
  void heap_reset(const Expr& mark);
  KernelArray moving_param(const ir::ELoop& e, size_t k);
  void move_results(const ir::ELoop& e, const std::vector<KernelValue>& results,
                    const std::vector<size_t>& moving, const std::vector<KernelValue>& params,
                    const Expr& bottom);
  static bool is_moving(const ir::Program& program, const ir::ELoop& e, size_t k);
  void launch_repeatedly(const std::function<void()>& launch_once);
  void launch_once(const std::string& globals, const std::string& main, int workgroup_size,
                   const Operand& groups, bool has_barriers);

  std::optional<Operand> on_host(const ir::Atom& a);
  std::string address(const KernelArray& a, const Expr& element) const;
  std::string resolve_arguments(const std::string& text, std::vector<program::Arg>& args,
                                std::string& declarations, std::string& set_up);
  program::Arg::Access access_of(uint32_t block) const;

  HostGen& host_;
  std::string name_;
  std::string functions_;
  std::string* out_ = &functions_;
  int indent_ = 0;
  int names_ = 0;
  int memories_ = 0;
  glsl::Library library_;
  std::unordered_map<ir::VarId, KernelValue> env_;
  std::unordered_map<ir::VarId, const ir::Stm*> defs_;
  std::unordered_map<ir::VarId, KernelArray> dests_;
  std::unordered_map<ir::VarId, Operand> hoisted_;  // sizes computed on the host after all
  std::set<ir::VarId> bound_here_;
  std::map<uint32_t, int> block_memory_;  // block register -> memory number
  std::vector<std::pair<KernelArray, HostArray>> imports_;
  std::set<int> written_;  // memory numbers
  std::set<uint32_t> written_blocks_;
  std::vector<Expr> branch_strides_[2];  // of the arrays being joined
  bool writes_unknown_ = false;
  bool single_thread_ = false;
  bool uses_private_ = false;
  bool uses_heap_ = false;
  bool has_loops_ = false;        // that look whether the call is to stop
  bool may_have_failed_ = false;  // before what is emitted next: `going` may be false there
  /// A loop whose body is being translated. `quiet_turns`: the turns since a loop that looks, this
  /// one's and those of the loops around it, at most.
  struct OpenLoop {
    int64_t quiet_turns;
    ir::ProvId place;
  };
  std::vector<OpenLoop> loops_;
  int max_indent_ = 0;       // of all lines so far
  ScalarReg heap_capacity_;  // bytes per thread
  BlockReg heap_block_, heap_flag_;
  Expr function_mark_;
  bool in_push_ = true;
  int slots_ = 0;
  HostSize private_bytes_;  // per thread
  BlockReg private_block_;
  ir::ProvId place_, kernel_place_;
  int call_depth_ = 0;
};

}  // namespace kenaz::gpu
