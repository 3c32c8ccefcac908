// The walk from core to array IR: evaluates everything that can be known (functions, records,
// types) and emits IR for the rest. One Lowerer lowers one program. Errors are sticky: the first
// one is kept, and from then on every step returns harmless values quickly.
//
// By file: recursion (functions that see themselves), types (types, sizes, sums), values (leaves of
// values), exp (expressions), apply (calls), patterns, control (if, match), loops, arrays
// (indexing, literals, ranges), scalars (operators, equality), soacs (map, reduce, ..), streams
// (accumulators), flat_slices, entry (entry points and constants).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/futhark/core/core.h"
#include "kernels/futhark/lower/builder.h"
#include "kernels/futhark/lower/values.h"
#include "kernels/ir/lowered.h"

namespace kenaz::lower {

/// How many arguments an intrinsic takes.
int intrinsic_arity(core::Intrinsic op);
/// The lambda that a definition's body is, attributes looked through; null if it is none.
const core::ExpPtr* lambda_of(const core::ExpPtr& body);

class Lowerer {
 public:
  explicit Lowerer(const core::Checked& checked);
  Result<ir::Lowered> run();

 private:
  using Atom = ir::Atom;
  using Certs = std::vector<ir::VarId>;
  using Message = std::vector<std::variant<std::string, Atom>>;

  // ---- errors
  V fail(const std::string& message);  // at the current place
  V fail_at(const SourceRange& range, const std::string& message);
  V broken(const std::string& what);  // a bug of ours or of the checker
  bool failed() const { return error_.has_value(); }
  std::string name_of(core::VarId id) const;

  // ---- types.cc
  /// Looks through type parameters and abstract types; null type on failure.
  Ty head(Ty t);
  Ty sub(const Ty& t, core::TypePtr type) const { return Ty{std::move(type), t.env}; }
  V lookup(core::VarId id, const Env& env);  // null if unknown; constants included
  std::optional<Atom> computed_size(const core::Size& s, const Env& env);
  /// The atom of a size, if it is known and usable here. `compute`: evaluate size expressions.
  std::optional<Atom> size_atom(const core::Size& s, const Env& env, bool compute);
  bool closed(const core::ExpPtr& e, const Env& env, int fuel);
  std::shared_ptr<const SumLayout> layout_of(const Ty& sum);
  /// Leaf types of a type, as core::leaves_of has them.
  void type_leaves(const Ty& t, int rank, std::vector<LeafType>& out);
  bool has_functions(const core::TypePtr& t, int fuel) const;
  PrimType prim_of(const Ty& t);
  std::string show(const Ty& t);

  // ---- values.cc
  const VArr& as_array(const V& v);
  const VRec& as_record(const V& v);
  Atom as_atom(const V& v);
  bool is_function(const V& v) const;
  /// Leaves in order. What has no data is the sizes of the arrays round it (`dim`: which one).
  struct Leaf {
    Atom atom;
    int dim = -1;
    bool is_dim() const { return dim >= 0; }
  };
  void leaves(const V& v, std::vector<Atom>& dims, std::vector<Leaf>& out);
  std::vector<Leaf> leaves(const V& v);
  std::vector<Atom> atoms(const V& v);
  bool has_leaves(const V& v);
  /// The same structure with other leaves; dims of arrays are taken from the new leaves' types.
  V rebuild(const V& v, const std::vector<Atom>& atoms);
  /// New leaves on their way into a value: those from `pos` on are still to be placed.
  struct Leaves {
    std::vector<Leaf> leaves;
    size_t pos = 0;
    int rank = 0;  // of the arrays round the whole value: data has their dims too
  };
  Atom next_leaf(Leaves& in);
  /// The size of dimension `depth`, by the leaves placed since `before`.
  Atom outer_size(const Leaves& in, size_t before, int depth);
  V rebuild_rec(const V& v, Leaves& in, int depth);
  /// The same structure with every leaf mapped (dims scalars stay as they are).
  V map_leaves(const V& v, const std::function<Atom(const Atom&)>& f);
  /// A value of a type out of leaves (as in type_leaves).
  V from_leaves(const Ty& t, const std::vector<Atom>& atoms, int rank = 0);
  V from_leaves_rec(const Ty& t, Leaves& in, int depth);
  /// Known constructors become tags and slots.
  V materialise(const V& v);
  V zero(const Ty& t);  // a value of the type; unknown sizes are 0
  /// `rank`: of the arrays that the sum is inside of. Null if a size cannot be told there.
  Atom is_constructor(const VSum& s, int constructor);
  V payload(const VSum& s, int constructor, int arg, int rank = 0);
  /// Reshapes leaves whose dims differ from those the type states.
  V conform(const V& v, const Ty& t, bool compute = false, const Certs& certs = {});
  bool conform_dims(const V& v, const Ty& t, bool compute, std::vector<Atom>& dims,
                    std::vector<std::vector<Atom>>& out);
  V reshape_leaves(const V& v, const std::vector<std::vector<Atom>>& dims, const Certs& certs);
  Message wrong_size(const std::vector<Atom>& have, const std::vector<Atom>& want);
  Atom reshape(const Atom& array, const std::vector<Atom>& dims, const Certs& certs);
  Atom resize(const Atom& size, const Atom& wanted, const Certs& certs);  // of an array of nothing
  V with_outer_dim(const V& v, const Atom& n, const Certs& certs = {});
  /// Copies of all leaves that depend on the certificates.
  V certify(const V& v, const Certs& certs);

  // ---- exp.cc
  V eval(const core::ExpPtr& e, const Env& env);
  V eval_node(const core::ExpPtr& e, const Env& env);
  V eval_var(const core::EVar& e, const Env& env);
  V eval_record(const core::Exp& e, const core::ERecord& r, const Env& env);
  V eval_hole(const Ty& t);
  V eval_attr(const core::EAttr& e, const Env& env);
  V eval_param(const std::string& name, const V& otherwise);
  V field(const V& record, const std::string& name);
  V project(const V& v, const std::string& name);
  void record_ext(const core::Exp& e, const V& v, const Env& env);

  // ---- apply.cc
  V instantiate(const core::DefPtr& def, Env def_env, const std::vector<core::TypePtr>& targs,
                const std::vector<core::Size>& sargs, const Env& env);
  /// `unsafe`: the call stands inside #[unsafe]; it holds for intrinsics only.
  V apply(const V& fun, std::vector<V> args, bool unsafe = false);
  V invoke(const VFun& fun, const std::vector<V>& args, bool unsafe);
  static constexpr size_t kMaxCalls = 1000;  // nested
  V too_large();
  static constexpr int kMaxBodyDepth = 500;
  Env new_frame(Env env) const;
  /// The call at the current place is what surrounds everything lowered while one lives.
  struct Call {
    explicit Call(Lowerer& l);
    ~Call();
    Lowerer& l_;
    const SourceRange* range_;
    ir::ProvId caller_;
  };

  // ---- recursion.cc
  struct Instance {
    std::string key;           // the definition, types, and the structure of arguments
    std::vector<V> functions;  // among the arguments, in order
    ir::FunId fun;
    std::vector<Atom> captures;  // what these functions need, passed behind the arguments
  };
  V call_recursive(const VFun& f, const std::vector<V>& given);
  using Sizes = std::vector<std::optional<Atom>>;  // of a definition's size parameters, if known
  Instance* instance_for(const VFun& f, const std::vector<V>& args, const Sizes& sizes);
  void lower_instance(Instance& instance, const VFun& f, const std::vector<V>& given,
                      const Sizes& sizes);
  std::vector<V> instance_params(const VFun& f, const std::vector<V>& given, ir::Function& fun);
  Env recursive_env(const VFun& f, const std::vector<V>& args, const Sizes& sizes);
  std::string instance_name(const std::string& wanted) const;
  void skeleton(const V& v, std::string& text, std::vector<V>& functions);
  void finish_instance(ir::Function& fun, const V& result);
  void capture(Instance& instance, ir::Function& fun);
  void copy_shared_results(ir::Function& fun, size_t id);

  // ---- patterns.cc
  /// Binds size variables that `env` does not know from the value's shape.
  /// `rank`: as for payload.
  void bind_sizes(const Ty& t, const V& v, Env& env, int rank = 0);
  void bind_payload_sizes(const Ty& t, const V& v, Env& env, int rank);
  void bind_size(const core::Size& s, const Env& where, const Atom& dim, Env& env);
  Env bind_pattern(const core::Pat& p, const V& v, Env env);
  Env bind_names(const core::Pat& p, const V& v, Env env);
  Atom test_pattern(const core::Pat& p, const V& v);
  bool refutable(const core::Pat& p) const;
  bool has_sizes(const core::TypePtr& t, int fuel) const;

  // ---- control.cc
  V branch(const Atom& cond, const std::function<V()>& then_fn, const std::function<V()>& else_fn,
           const Ty* type);
  V eval_match(const core::Exp& e, const core::EMatch& m, const Env& env);
  V match_cases(const core::Exp& e, const core::EMatch& m, size_t k, const V& scrutinee,
                const Env& env);

  // ---- loops.cc
  V eval_loop(const core::Exp& e, const core::ELoop& l, const Env& env);
  struct LoopShape;
  struct LoopTry;
  V loop_once(const core::ELoop& l, const Env& env, const V& init, const V& bound, LoopShape& shape,
              bool& stable);

  // ---- arrays.cc
  V index_value(const V& array, const std::vector<ir::Dim>& dims, const Certs& certs);
  V row(const V& array, const Atom& index);
  struct Slice {
    std::vector<ir::Dim> dims;
    Certs certs;
  };
  Slice eval_slice(const V& array, const std::vector<core::DimIndex>& dims, const Env& env);
  /// One slice; `ok` is extended by its condition.
  ir::DimRange slice_dim(const Atom& n, const std::optional<Atom>& start,
                         const std::optional<Atom>& end, const std::optional<Atom>& stride,
                         Atom& ok);
  V eval_update(const core::EUpdate& u, const Env& env);
  V eval_array(const core::Exp& e, const core::EArray& a, const Env& env);
  V eval_string(const core::EString& s);
  std::pair<Atom, Atom> range_length(const Atom& distance, const Atom& width, bool inclusive);
  V eval_range(const core::Exp& e, const core::ERange& r, const Env& env);
  V eval_coerce(const core::Exp& e, const core::ECoerce& c, const Env& env);
  void coerce_checks(const V& v, const Ty& t, Certs& certs);
  std::vector<Atom> spine_dims(const V& array);

  // ---- checks
  /// Emits the check; its certificate is added to `certs`. Nothing inside #[unsafe].
  void check(const Atom& cond, Message message, Certs& certs);

  // ---- scalars.cc
  V apply_scalar(const VFun& f, const std::vector<V>& args, bool unsafe, bool& handled);
  static std::string intrinsic_text(core::Intrinsic op);
  Atom equal(const V& a, const V& b);
  Atom equal_arrays(const V& a, const V& b);
  Atom equal_sums(const VSum& a, const VSum& b);

  // ---- soacs.cc
  V apply_intrinsic(const VFun& f, const std::vector<V>& args, bool unsafe);
  V apply_array_intrinsic(const VFun& f, const std::vector<V>& args, bool unsafe);
  V map(const VFun& f, const V& fun, const V& array);
  V reduce(const V& op, const V& neutral, const V& array, bool commutative, bool scan);
  V scatter(const V& dest, const V& indices, const V& values, int rank);
  V hist(const V& dest, const V& op, const V& neutral, const V& bins, const V& values, int rank);
  V replicate(const Atom& n, const V& value, const Certs& certs = {});
  // packs.cc
  V pack(const V& classes, const V& array, int count, bool rest);
  V sort_keys(const V& keys);
  V sort_by(const V& keys, const V& array);
  /// The arrays of scalars and rows that these are made of, all of this width.
  std::vector<Atom> side_by_side(const std::vector<V>& arrays, const Atom& width);
  /// Whether the first of them has keys that can be sorted.
  bool are_keys(const std::vector<Atom>& arrays);
  // flatmap.cc
  V flatmap(const V& fun, const V& array);
  V flatmap_elements(const V& fun, const V& array, const V& rows,
                     const std::vector<ir::Type>& elems, const Atom& total, const Atom& offsets);
  V flatmap_in_turn(const V& fun, const V& array, const V& rows, const std::vector<ir::Type>& elems,
                    const V& rest);
  V flatmap_result(const V& lengths, const V& flags, const Atom& offsets, const V& elements,
                   const V& others);
  std::pair<Atom, V> segment_flags(const V& lengths, const Atom& total);
  std::pair<Atom, Atom> segment_starts(const Atom& width, const Atom& ends, const Atom& lengths);

  // flat_slices.cc
  struct FlatSlice {
    Atom offset;
    std::vector<Atom> counts, strides;  // by dimension
  };
  V flat_index(const std::vector<V>& args, bool unsafe);
  V flat_update(const std::vector<V>& args, bool unsafe);
  void check_flat_slice(const FlatSlice& s, const Atom& size, Certs& certs);
  V flat_gather(const V& array, const FlatSlice& s, size_t depth, const Atom& base,
                const Certs& certs);
  V flat_places(const FlatSlice& s, const Atom& total, const Certs& certs);

  // ---- streams.cc
  enum class StreamMode { kBound, kSlots, kCount, kLog, kInPlace };
  struct Stream {
    int id = 0;
    StreamMode mode = StreamMode::kBound;
    V op, neutral;           // null: a scatter
    bool unbounded = false;  // kBound: a loop writes
  };
  /// While one lives, code is lowered that runs once per element of an array.
  struct PerElement {
    explicit PerElement(int& depth) : depth_(depth) { ++depth_; }
    ~PerElement() { --depth_; }
    PerElement(const PerElement&) = delete;
    PerElement& operator=(const PerElement&) = delete;
    int& depth_;
  };
  V scatter_stream(const std::vector<V>& args);
  V hist_stream(const std::vector<V>& args);
  V acc_write(const V& accumulator, const V& place, const V& value);
  V log_write(const V& log, const V& place, const V& row);
  V stream(Stream s, const V& dest, const V& fun, const V& array);
  V run_stream(Stream& s, const V& dest, V state, const V& fun, const V& row);
  V map_stream(Stream& s, const V& dest, const V& fun, const V& array,
               const std::function<V()>& begin, const std::function<V(const V&)>& end);
  std::optional<int> count_writes(Stream s, const V& dest, const V& fun, const V& array);
  Atom largest_log(Stream s, const V& dest, const V& fun, const V& array);
  V stream_by_slots(Stream s, int count, const V& dest, const V& fun, const V& array);
  V stream_by_log(Stream s, const Atom& size, const V& dest, const V& fun, const V& array);
  V stream_in_place(Stream s, const V& dest, const V& fun, const V& array);
  V blank(const V& dest, const std::optional<Atom>& size);
  V combine(const Stream& s, const V& dest, const V& places, const V& values);
  V last_writes(const V& dest, const V& places);
  V join_accumulators(const V& a, const V& b);
  void note_writes_of_loop(const V& before, const V& after);

  // ---- derivatives.cc
  V jvp(const VFun& f, const V& fun, const V& x, const V& tangent);
  V vjp(const VFun& f, const V& fun, const V& x, const V& adjoint);
  V with_vjp(const VFun& f, const V& fun, const V& adjoint, const V& x);
  V new_params(const V& like, ir::Lambda& lambda);
  V new_results(const V& like, std::vector<ir::VarId>& vars);
  std::vector<Atom> data_of(const V& v);
  std::vector<Atom> shaped_like(const std::vector<Atom>& values,
                                const std::vector<ir::Type>& types);

  V concat(const V& a, const V& b);
  V transpose(const V& a);
  /// Of two sizes; at most Size::kMaxSize.
  Atom size_product(const Atom& a, const Atom& c);
  /// The size, for whoever asks for it and for no elements: the checks are made for that too.
  Atom checked_size(const Atom& size, const Certs& certs);
  V flatten(const V& a);
  V unflatten(const VFun& f, const V& a, bool unsafe);
  V zip(const V& a, const V& b);
  V copy(const V& v);
  ir::Monoid monoid(const V& op, const V& neutral, bool commutative);
  /// Gives arrays of `width` rows the rows' dims, with a check where they might differ.
  void match_rows(std::vector<Atom>& arrays, const Atom& width, const std::vector<Atom>& rows,
                  Certs& certs, const char* message);
  bool known_commutative(const ir::Lambda& op) const;
  /// Makes the dims of a lambda's results valid outside of it; ends the lambda's scope.
  V close_lambda(const V& result, ir::Lambda& lambda, const Atom& width, const Ty* type,
                 const std::string& what);
  /// Params for a row of `array`, added to the lambda and its inputs; the row.
  V lambda_row(const V& array, ir::Lambda& lambda, std::vector<ir::VarId>& inputs);
  ir::Lambda identity_lambda(const std::vector<Atom>& arrays, std::vector<ir::VarId>& inputs);
  V result_arrays(const Atom& width, const V& row, std::vector<ir::VarId>& vars);
  ir::VarId array_var(const Atom& a);

  // ---- entry.cc
  struct Global {
    core::DefPtr def;
    bool constant = false;  // evaluated once, in the constants' body
    bool done = false, busy = false;
    V value;
  };
  V constant(Global& g);
  void lower_entry(const core::EntryPoint& e);
  /// Checks that a client's arguments have the sizes that their types state, and gives them these.
  void fit_arguments(const std::vector<Ty>& types, const Env& env, std::vector<V>& args);
  Atom has_stated_shape(const V& v, const Ty& t, std::vector<std::vector<Atom>>& wanted);
  Atom payloads_fit(const V& v, const Ty& t);  // of the constructors that sums have
  /// Results with their sizes; `known` are variables that result types may mention.
  void finish_entry(ir::Function& fun, const V& result, const std::set<uint32_t>& known);
  void finish_constants();

  const core::Checked& checked_;
  ir::Lowered out_;
  Builder b_;
  std::unordered_map<core::VarId, Global> globals_;
  std::shared_ptr<Frame> global_frame_ = std::make_shared<Frame>();
  std::unordered_map<const core::EMatch*, bool> covered_;  // do the cases fit every value?
  std::optional<Error> error_;
  std::vector<const SourceRange*> calls_;  // ranges of the calls being inlined
  bool saw_function_ = false;              // by type_leaves: functions have none
  bool entering_ = false;                  // the next call is the client's: no frame of its own
  int depth_ = 0;                          // of eval
  size_t inlined_ = 0;                     // calls so far
  size_t idle_ = 0;                        // the calls since the last statement was emitted
  size_t statements_at_call_ = 0;          // how many there were at the last call
  std::vector<Stream> streams_;            // whose functions are being lowered, outermost first
  int next_stream_ = 0;
  int per_element_ = 0;  // how many PerElement there are
  std::vector<std::shared_ptr<Instance>> instances_;
  size_t recursive_calls_ = 0;  // emitted so far
  std::string shaped_name_;     // of the variable whose value is given its type's shape
};

}  // namespace kenaz::lower
