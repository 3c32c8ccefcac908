// The rules of reverse mode, in several files: reverse.cc (bodies), linear.cc (statements without
// bodies), branches.cc, loops.cc, maps.cc, combine.cc (reductions and scans), writes.cc
// (scatters and histograms), extremes.cc (reductions and histograms by min and max).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ad/activity.h"
#include "kernels/ad/adjoint.h"
#include "kernels/ad/all_turns.h"
#include "kernels/ad/invariant.h"
#include "kernels/ad/values.h"
#include "protocol/base/result.h"

namespace kenaz::ad {

class Reverse : private Adjoints {
 public:
  /// `in_map`: whether the code stands in a map.
  Reverse(ir::Program& p, bool in_map) : Adjoints(p), in_map_(in_map) {}
  std::vector<ir::Atom> run(ir::Builder& b, const ir::Lambda& f, const std::vector<ir::Atom>& args,
                            const std::vector<ir::Atom>& adjoints);
  const std::optional<Error>& error() const { return error_; }

 private:
  /// Code whose forward part stands, to be gone back through: loops with the states that they kept.
  struct Tape {
    Atom iterations = PrimValue{};
    Vars states;             // per param of the loop: its value at the start of each iteration
    std::vector<Kept> sums;  // of its body
  };
  struct Sweep {
    ir::Body body;
    std::unordered_map<size_t, Tape> tapes;  // by statement
  };

  // ---- reverse.cc
  Sweep forward(Builder& b, ir::Body body);
  void backward(Builder& b, const Sweep& sweep);
  void refuse(const ir::Stm& s, const std::string& what);

  void backward(Builder& b, const ir::Stm& s, const Tape* tape);
  void with_vjp(Builder& b, const ir::Stm& s, const ir::EWithVjp& e, const std::vector<Maybe>& adj);

  // ---- branches.cc
  void branches(Builder& b, const ir::Stm& s, const ir::EIf& e, const std::vector<Maybe>& adj);
  struct Branch {
    ir::Body body;
    Frame frame;
  };
  Branch branch(const ir::Stm& s, const ir::Body& of, const std::vector<Maybe>& adj);
  bool join_parts(const ir::Stm& s, VarId v, Branch (&sides)[2], Vars& pat,
                  std::vector<Part>& joined);
  void join_branches(Builder& b, const ir::Stm& s, const Atom& cond, Branch (&sides)[2], Vars pat);

  // ---- loops.cc
  void forward_loop(Builder& b, const ir::Stm& s, const ir::ELoop& e, Tape& tape);
  void loop(Builder& b, const ir::Stm& s, const ir::ELoop& e, const std::vector<Maybe>& adj,
            const Tape& tape);
  void turns(Builder& b, const ir::Stm& s, const ir::ELoop& e, const std::vector<Maybe>& adj,
             const Tape& tape);
  void keep(Builder& b, Builder& in, ir::ELoop& loop, const Atom& at, const Kept& kept);
  struct LoopBack;
  Vars restore(Builder& in, const ir::ELoop& e, const Tape& tape, const Atom& at, ir::Subst& names);
  void take_sums(Builder& in, const ir::ELoop& e, const Sweep& sweep, const Tape& tape,
                 const Atom& at);
  Frame sums_of_all_turns(AllTurns& all, Frame& left, const std::map<uint32_t, VarId>& arrays);
  void carry(Builder& b, Builder& in, const Frame& left, const std::map<uint32_t, VarId>& arrays,
             LoopBack& back);

  // ---- maps.cc
  /// The results of a lambda inside reverse_map, with their types outside of it.
  struct Row {
    Atom atom;
    ir::Type type;
  };
  using RowsFn = std::function<std::vector<Row>(Builder&, const Vars&)>;
  /// A map over the inputs' rows, in a frame of its own. What it leaves there of free variables is
  /// summed and contributed here. Returns the arrays of the rows.
  Vars reverse_map(Builder& b, const Atom& width, const Vars& inputs, const RowsFn& fn);
  struct Exports;
  void collect(Builder& b, Builder& in, const ir::ESoac& e, Frame& frame, Exports& out);
  static void place(Builder& b, const ir::ESoac& e, VarId of, const Part& part,
                    const std::optional<VarId>& row, Invariants& same, Exports& out);
  void contribute_at(Builder& b, VarId of, Part part, const Atom& value);
  void contribute_exports(Builder& b, const Exports& exports, const Vars& sums, const Vars& arrays);
  bool is_at_same_places(Invariants& same, VarId element) const;
  void map(Builder& b, const ir::ESoac& e, const std::vector<Maybe>& adj);
  // ---- elements.cc
  bool elements(Builder& b, const ir::Stm& s, const ir::ESoac& e);
  void element(Builder& b, const ir::Stm& s, const ir::ESoac& e, size_t result, const Part& part);
  /// Goes through the lambda at `args` and back from `adjoints`: the adjoints of the wanted
  /// arguments. Contributions to free variables are kept or dropped.
  Atoms pull(Builder& b, const ir::Lambda& f, const Atoms& args, const Atoms& adjoints,
             const std::vector<char>& wanted, bool keep_free);

  // ---- combine.cc
  void reduce(Builder& b, const ir::Stm& s, const ir::ESoac& e, const std::vector<Maybe>& adj);
  Vars adjoints_from_both_sides(Builder& b, const ir::ESoac& e, const Atoms& seeds);
  void reduce_product(Builder& b, const ir::Stm& s, const ir::ESoac& e, const Atom& adj);
  void scan(Builder& b, const ir::Stm& s, const ir::ESoac& e, const std::vector<Maybe>& adj);
  Vars suffix_adjoints(Builder& b, const ir::Stm& s, const ir::ESoac& e, const Vars& adj);
  Atoms jacobian(Builder& in, const ir::Stm& s, const ir::ESoac& e, const Atom& i);
  Vars linear_scan(Builder& b, const ir::Stm& s, const ir::ESoac& e, const Vars& adj);
  Vars linear_loop(Builder& b, const ir::Stm& s, const ir::ESoac& e, const Vars& adj);
  Vars prefixes(Builder& b, const Atom& width, const Vars& arrays, const ir::Monoid& m);

  // ---- writes.cc
  void scatter(Builder& b, const ir::EScatter& e, const Atom& adj);
  void hist(Builder& b, const ir::Stm& s, const ir::EHist& e, const std::vector<Maybe>& adj);
  struct Bins;
  Bins sort_by_bin(Builder& b, const ir::EHist& e);
  void sort_by_bit(Builder& in, ir::ELoop& loop, const Atom& n);
  Vars bin_prefixes(Builder& b, const ir::Monoid& m, const Atom& width, VarId bins,
                    const Vars& values);
  void hist_values(Builder& b, const ir::EHist& e, const Vars& adj);
  void hist_dests(Builder& b, const ir::EHist& e, const Vars& adj);

  // ---- extremes.cc
  void reduce_extreme(Builder& b, const ir::ESoac& e, const Atom& adj);
  void hist_extreme(Builder& b, const ir::Stm& s, const ir::EHist& e, VarId adj);

  bool in_map_;
  std::optional<Error> error_;
  ir::VarSet shared_;  // rows of arrays that all elements of a map around have a part in
};

/// Adds what a statement that has no bodies contributes to its operands, given the adjoint of what
/// it binds.
void contribute_linear(Adjoints& to, ir::Builder& b, const ir::Stm& s, const ir::Atom& adj);

/// The operator with its operands in the other order.
ir::Lambda flipped(ir::Program& p, const ir::Lambda& op);

}  // namespace kenaz::ad
