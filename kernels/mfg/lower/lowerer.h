// The walk from core to array IR. A tensor at the top level is a map over its pixels; everything
// inside of a pixel is the code of one thread, with loops for reductions, and arrays for local
// tensors, one per component of their elements.
//
// By file: entry (parameters, the entry point), exp (expressions), convert (numbers), reads (of
// tensors), loops, statements (tensors, and what changes local ones), hoist (sums over tensors that
// are the same for every pixel).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/ir/builder.h"
#include "kernels/ir/lowered.h"
#include "kernels/mfg/check/core.h"

namespace kenaz::mfg {

using ir::Atom;
using ir::Builder;
using Atoms = std::vector<Atom>;

/// Where a tensor's elements are.
struct Placed {
  int rank = 2;
  Atom width = ir::i64(1), height = ir::i64(1);  // i64
  /// Pictures: one array [height][width][4] (and [height * width][4]) of `bits` per component.
  bool picture = false;
  int bits = 8, wanted_bits = 8;
  ir::VarId array, flat;
  /// Other tensors: per component [height][width] (or [width]) and [height * width]; local tensors
  /// have the latter only.
  std::vector<ir::VarId> arrays, flats;
  std::vector<PrimValue> values;  // of a literal that has not been changed, else empty
};

class Lowerer {
 public:
  explicit Lowerer(const CFilter& filter) : filter_(filter) {}
  Result<ir::Lowered> run();

 private:
  // ---- entry.cc
  void parameters(Builder& b, ir::Function& fun);
  void picture_parameter(Builder& b, ir::Function& fun);
  void layer_parameter(Builder& b, ir::Function& fun);
  void texture_parameters(Builder& b, ir::Function& fun);
  void value_parameters(Builder& b, ir::Function& fun);
  void client_side(EntryPoint& entry);
  std::string array_type(PrimType prim, int rank);
  ir::VarId parameter(Builder& b, ir::Function& fun, ir::Type type, const std::string& name);
  Placed picture(Builder& b, ir::VarId array, Atom height, Atom width, int bits);
  void require(Builder& b, Atom holds, std::vector<std::variant<std::string, Atom>> message);

  // ---- exp.cc
  Atoms eval(const CExp& e, Builder& b);
  Atom eval1(const CExp& e, Builder& b) { return eval(e, b)[0]; }
  Atoms on(const CConst& c, const CExp& e, Builder& b);
  Atoms on(const CVar& v, const CExp& e, Builder& b);
  Atoms on(const CTuple& t, const CExp& e, Builder& b);
  Atoms on(const CPick& p, const CExp& e, Builder& b);
  Atoms on(const CConvert& c, const CExp& e, Builder& b);
  Atoms on(const CPrim& p, const CExp& e, Builder& b);
  Atoms on(const CLogic& l, const CExp& e, Builder& b);
  Atoms on(const CSelect& s, const CExp& e, Builder& b);
  Atoms on(const CBlock& k, const CExp& e, Builder& b);
  Atoms on(const CLoop& l, const CExp& e, Builder& b);
  Atoms on(const CTensorSum& s, const CExp& e, Builder& b);
  Atoms on(const CRead& r, const CExp& e, Builder& b);
  Atoms on(const CExtent& x, const CExp& e, Builder& b);
  Atoms on(const CRand& r, const CExp& e, Builder& b);
  Atoms on(const CReduce& r, const CExp& e, Builder& b);
  Atoms body(const CBody& k, Builder& b);

  // ---- convert.cc
  Atom convert(Builder& b, Atom a, PrimType to);
  Atom float_to_int(Builder& b, Atom a, PrimType to);
  /// Whether a number is not 0, as a bool; and a bool as a number, 0 or 1.
  Atom truth(Builder& b, const Atom& a);
  Atom from_truth(Builder& b, const Atom& cond, PrimType to);
  Atom constant_or(const Atom& a, Atom other) { return a.is_const() ? a : other; }

  // ---- reads.cc
  Atoms read(Builder& b, TensorId t, Atom x, Atom y, Outside outside);
  /// At a place in range: i64.
  Atoms element(Builder& b, const Placed& p, Atom x, Atom y);
  Atoms flat_element(Builder& b, const Placed& p, Atom at);
  Atoms picture_components(Builder& b, const Placed& p, ir::VarId array, Atoms index);
  /// The position in the elements one row after the other (i64), clamped; `inside` (if not null)
  /// becomes whether the place is in range.
  Atom flat_place(Builder& b, const Placed& p, Atom x, Atom y, Atom* inside);
  Atom wide(Builder& b, const Atom& a);
  Atom narrow(Builder& b, const Atom& a);
  bool in_range(const Atom& a, const Atom& size) const;
  Atom clamped(Builder& b, const Atom& a, const Atom& size);
  /// That a (i32, the value of `wide`, i64, if valid) is from 0 to size - 1.
  void note_range(const Atom& a, const Atom& wide, const Atom& size);

  // ---- loops.cc
  using Step = std::function<Atoms(Builder&, const Atom& index, const Atoms& state)>;
  /// A loop over i32 indices from .. to - 1; gives the final state.
  Atoms loop(Builder& b, const Atom& from, const Atom& to, const Atoms& init, const Step& step);
  std::optional<int64_t> turns(const Atom& from, const Atom& to) const;
  Atom length(Builder& b, const Atom& from, const Atom& to) const;
  bool unrolls(const std::vector<std::pair<Atom, Atom>>& ranges);
  Atoms zeros(const Type& t) const;
  Atoms sum_up(Builder& b, const Atoms& acc, const Atoms& values);
  Atoms tensor_sum(const CTensorSum& s, const CExp& e, Builder& b);
  Atoms parallel_sum(const CTensorSum& s, const CExp& e, Builder& b);
  void bind_indices(const std::vector<VarId>& vars, const Atom& x, const Atom& y);

  // ---- statements.cc
  void statement(const CStm& s, Builder& b);
  void on(const CLet& l, Builder& b);
  void on(const CDef& d, Builder& b);
  void on(const CLiteral& l, Builder& b);
  void on(const CReduceTo& r, Builder& b);
  void on(const CUpdate& u, Builder& b);
  void on(const CSort& s, Builder& b);
  void on(const CAccumulate& a, Builder& b);
  void on(const CForEach& f, Builder& b);
  void global_tensor(const CDef& d, Builder& b);
  void local_tensor(const CDef& d, Builder& b);
  std::vector<ir::VarId> over_pixels(Builder& b, const Placed& p,
                                     const std::function<Atoms(Builder&, Atom, Atom)>& pixel);
  Atoms reduce(const CReduce& r, Builder& b, const Atom& other, int dim);
  void set_flat(Builder& b, Placed& p, const Atom& place, const Atoms& values);
  /// A loop that changes local tensors.
  void changing_loop(Builder& b, const std::set<uint32_t>& tensors, const Atom& count,
                     const std::function<void(Builder&, const Atom& index)>& step);
  void set_place(Builder& b, const SourceRange& range);

  // ---- hoist.cc
  void hoist_sums(const CBody& body, Builder& b);
  bool is_global(const CExp& e, std::set<uint32_t>& inner) const;

  const CFilter& filter_;
  ir::Lowered out_;
  std::unordered_map<uint32_t, Atoms> vars_;        // by VarId
  std::unordered_map<uint32_t, Placed> tensors_;    // by TensorId
  std::unordered_map<const CExp*, Atoms> hoisted_;  // values known before
  std::unordered_map<uint32_t, Atom> truth_of_;     // by IR variable of a number: the bool it is of
  struct Range {
    Atom wide, size;  // size: i64
  };
  std::unordered_map<uint32_t, Range> ranges_;  // by IR variable, i32
  std::unordered_map<uint32_t, Atom> size_of_;  // by IR variable, i32: the i64 that it was
  std::vector<Atom> random_;                    // what tells this element and iteration from others
  uint32_t random_places_ = 0;
  bool in_thread_ = false;
  int64_t unrolled_ = 1;  // how often the current place is written out
};

}  // namespace kenaz::mfg
