// The inside of the evaluator: one slot per variable of the program.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/ir/analysis/alias.h"
#include "kernels/ir/eval/evaluator.h"
#include "kernels/scalar/size.h"

namespace kenaz::ir::eval {

/// Functions that return bool return false after recording an error in `error`.
class Machine {
 public:
  Machine(Program p, Limits l);

  Program program;
  Limits limits;
  Error error;
  std::function<Status()> interrupt;  // see Evaluator
  SegOptions seg_options;

  void seed(uint64_t s) { random_.seed(s); }
  bool run_constants();  // once, if it goes well
  bool needs_constants(FunId function);
  bool call(const Function& f, std::vector<Value>& args, std::vector<Value>& results);
  bool allocate(PrimType type, const std::vector<int64_t>& shape, Array& out);
  /// What `run` gives. Calls of functions nest on the machine's stack: if the program has any, it
  /// runs on a thread whose stack is large enough for Limits::call_depth.
  bool with_stack(const std::function<bool()>& run);

 private:
  // ---- values
  uint64_t bits(const Atom& a) const {
    return a.is_const() ? a.constant().bits : scalars_[a.var().index];
  }
  int64_t integer(const Atom& a) const { return static_cast<int64_t>(bits(a)); }  // of an i64
  bool is_array(VarId v) const { return kinds_[v.index].is_array; }
  bool is_array(const Atom& a) const { return !a.is_const() && is_array(a.var()); }
  PrimType prim(VarId v) const { return kinds_[v.index].prim; }
  const Array* array(VarId v) {  // null after an error: consumed
    const Array& a = arrays_[v.index];
    return a.buffer ? &a : gone(v);
  }
  const Array* gone(VarId v);
  bool shape_of(const std::vector<Atom>& dims, std::vector<int64_t>& shape);
  bool bind(VarId v, const Atom& a, bool may_move);
  bool make_unique(Array& a, PrimType type);
  // ---- places (memory.cc)
  /// The array that a statement is to make, at the variable's place if it has one; of unspecified
  /// contents, if it is not the whole of what may be there already.
  bool make(VarId v, const std::vector<int64_t>& shape, Array& out, bool is_whole = false);
  bool copy_to(VarId v, const Array& from);
  void poison(const Array& a, PrimType type);
  /// Whether the variable was made in the memory of `whole`, where it is now put: at `start`.
  /// False after an error: it was, but elsewhere.
  bool is_there(VarId v, const std::optional<Place>& whole, const Array& to, int64_t start,
                bool& there);
  void find_last_uses(const Body& body, const Aliases& aliases);
  bool run_and_forget(const Body& body, const std::vector<std::vector<VarId>>& forgotten);
  bool copy_of(const Array& from, PrimType type, Array& to);
  bool copy_elements(const Array& from, PrimType type, const Array& to);  // of the same shape

  // ---- failures
  bool fail(ErrorKind kind, std::string message);
  bool internal(const std::string& what);
  bool fail_at(const Stm& s);
  std::string text(const Atom& a) const;

  // ---- execution
  bool run(const Body& body);
  bool go_on();
  /// To be asked for every element of what may be large.
  bool go_on_after(int64_t elements) { return elements % kElementsPerLook != 0 || go_on(); }
  /// False if the call is to end. Not overlapping.
  bool copy_bytes(std::byte* to, const std::byte* from, int64_t bytes);
  bool run_stm(const Stm& s);
  /// Which results of a body are its own variables and named once: those can be moved out.
  const std::vector<char>& movable(const Body& body);
  bool bind_results(const Body& body, std::span<const VarId> pat);
  // ---- calls (calls.cc)
  bool call_stm(const ECall& e, const Stm& s);
  const std::vector<VarId>& variables_of(FunId function);
  bool assertion(const EAssert& e, const Stm& s);
  bool loop(const ELoop& e, const Stm& s);
  bool iterate(const ELoop& e);
  bool prim_op(const EPrim& e, const Stm& s);

  // ---- arrays
  /// Resolves dims against an array: element offset of the first element, and lengths and element
  /// strides of the ranges.
  struct Region {
    int64_t start = 0;
    std::vector<int64_t> lens, strides;
  };
  bool region(const Array& a, const std::vector<Dim>& dims, Region& r);
  bool index(const EIndex& e, const Stm& s);
  bool update(const EUpdate& e, const Stm& s);
  bool iota(const EIota& e, const Stm& s);
  bool replicate(const EReplicate& e, const Stm& s);
  bool array_lit(const EArrayLit& e, const Stm& s);
  bool concat(const EConcat& e, const Stm& s);
  bool rearrange(const ERearrange& e, const Stm& s);
  bool reshape(const EReshape& e, const Stm& s);

  // ---- combinators
  using Outputs = std::vector<std::pair<VarId, Array>>;
  bool wrong_width(int64_t rows, int64_t width);
  bool bind_rows(const std::vector<VarId>& inputs, const Lambda& f, int64_t i, int64_t width);
  void drop_rows(const Lambda& f);
  /// acc := op(acc, elems), where acc are slots of op's first params.
  bool combine(const Monoid& m, std::span<const Atom> elems);
  bool start(const Monoid& m);
  bool make_output(VarId v, int64_t width, Array& out);
  bool store_row(Array& out, PrimType type, int64_t i, const Atom& row);
  bool soac(const ESoac& e, const Stm& s);
  bool soac_step(const ESoac& e, int64_t i, int64_t width, std::vector<Array>& outs, const Stm& s);
  bool scatter(const EScatter& e, const Stm& s);
  bool hist(const EHist& e, const Stm& s);
  bool pack(const EPack& e, const Stm& s);
  bool sort(const ESort& e, const Stm& s);
  bool hist_step(const EHist& e, std::vector<std::vector<Array>>& dests);
  // ---- segmented operations (segs.cc, versions.cc)
  friend class SegRun;
  friend class Packing;
  friend class Sorting;
  bool seg(const ESeg& e, const Stm& s);
  bool versions(const EVersions& e, const Stm& s);
  bool all_versions(const EVersions& e, const Stm& s);
  int64_t tune(TuneId id) const;
  /// A value that has left its variable.
  struct Loose {
    uint64_t bits = 0;
    Array array;
  };
  bool take(const Atom& a, Loose& out);  // false: consumed
  /// The first `n` of next_ become what the variables hold.
  template <class VarOf>
  void put_next(size_t n, VarOf var) {
    for (size_t k = 0; k < n; k++) {
      const VarId v = var(k);
      if (kinds_[v.index].is_array) {
        arrays_[v.index] = std::exchange(next_[k].array, {});
      } else {
        scalars_[v.index] = next_[k].bits;
      }
    }
  }
  void put(VarId v, Loose value);

  /// Row-major row number of the leading dims, or -1 if one is out of bounds.
  int64_t row_number(const Array& a, std::span<const Atom> index);
  bool load_row(const Array& a, PrimType type, int64_t row, int index_rank, VarId into);

  // Some ten milliseconds of copying.
  static constexpr int64_t kBytesPerLook = int64_t{32} << 20, kElementsPerLook = int64_t{1} << 20;

  std::mt19937_64 random_{1};  // of orders that must not matter
  /// What is asked of a variable for every element.
  struct Kind {
    PrimType prim;
    bool is_array;
  };
  std::vector<Kind> kinds_;
  std::vector<uint64_t> scalars_;
  std::vector<Array> arrays_;
  std::vector<Loose> next_;  // of combine() and iterate(), which do not nest while it is in use
  std::unordered_map<const Body*, std::vector<char>> movable_;
  /// Of host level at stage mem: the arrays that nobody needs after a statement, by its number.
  std::unordered_map<const Body*, std::vector<std::vector<VarId>>> last_uses_;
  bool placed_ = false;  // the error says where it happened
  std::shared_ptr<std::atomic<int64_t>> live_ = std::make_shared<std::atomic<int64_t>>(0);
  uint32_t bodies_run_ = 0;
  bool have_constants_ = false;
  std::unordered_map<uint32_t, bool> needs_constants_;          // by function, as far as asked for
  std::unordered_map<uint32_t, std::vector<VarId>> variables_;  // of functions that were called
  int call_depth_ = 0;
  std::optional<bool> has_calls_;
};

/// One execution of a packing, by EPack or ESeg (packs.cc).
class Packing {
 public:
  Packing(Machine& m, const Stm& s, int classes, bool rest);

  bool prepare(int64_t width);
  /// Element i: its class, then its values.
  bool put(int64_t i, std::span<const Atom> element);
  /// Packs the elements, all of which have been put, and binds what the statement binds.
  bool finish();

 private:
  Machine& m_;
  const Stm& s_;
  int classes_;
  bool rest_;
  std::vector<int32_t> class_of_;     // by element; classes_: it is of none
  std::vector<Array> made_, packed_;  // by variable of the pattern
};

/// One execution of a sorting, by ESort or ESeg (packs.cc). As above.
class Sorting {
 public:
  Sorting(Machine& m, const Stm& s) : m_(m), s_(s) {}

  bool prepare(int64_t width);
  bool put(int64_t i, std::span<const Atom> element);
  bool finish();

 private:
  Machine& m_;
  const Stm& s_;
  std::vector<uint64_t> keys_;
  std::vector<Array> made_, sorted_;  // by variable of the pattern
};

/// The array as one of rows: its leading `rank` dims joined.
Array as_rows(const Array& a, int rank);

/// Places in arrays: what does not fit is the place of an element that does not exist, so that
/// nobody looks there.
inline int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// prim_size(), where it is asked for every element.
inline int bytes_of(PrimType t) {
  constexpr uint8_t kBytes[] = {
#define PRIM(e, name, bytes, kind) bytes,
#include "protocol/prim_type.def"
#undef PRIM
  };
  return kBytes[static_cast<int>(t)];
}

inline uint64_t load(const std::byte* p, int size) {
  uint64_t v = 0;
  switch (size) {  // fixed sizes become single loads
    case 1: std::memcpy(&v, p, 1); break;
    case 2: std::memcpy(&v, p, 2); break;
    case 4: std::memcpy(&v, p, 4); break;
    default: std::memcpy(&v, p, 8); break;
  }
  return v;
}

inline void save(std::byte* p, int size, uint64_t v) {
  switch (size) {
    case 1: std::memcpy(p, &v, 1); break;
    case 2: std::memcpy(p, &v, 2); break;
    case 4: std::memcpy(p, &v, 4); break;
    default: std::memcpy(p, &v, 8); break;
  }
}

}  // namespace kenaz::ir::eval
