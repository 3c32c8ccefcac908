// What the turns of a loop add to an array from outside, if it is a sum over rows of what a turn
// makes: one sum over the rows of all turns, behind the loop, for which the loop keeps these rows.
//
//   loop: w += sum over i of x_t[i] * y_t[i]    =    w += sum over t, i of x[t][i] * y[t][i]
//
// So each matrix that all turns multiply with gets its adjoint by one product of matrices.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"

namespace kenaz::ad {

/// A variable of a loop's body, and the array of its values in all turns.
struct Kept {
  ir::VarId var, all;
};

class AllTurns {
 public:
  /// The body, which makes its results and goes on to do so, is only read. It binds `at`, which
  /// numbers the turns from 0 to `count` - 1; `bound` is the count if that is not negative. Of
  /// variables that the results need, those of `types` may be kept.
  AllTurns(ir::Program& p, const ir::ELoop& loop, const ir::Atom& at, const ir::Atom& count,
           const ir::Atom& bound, const std::vector<ir::Type>& types, ir::ProvId prov);

  /// The sum of the value over all turns, made by code(); null if it is no such sum.
  std::optional<ir::Atom> sum(const ir::Atom& value);
  ir::Body& code() { return code_; }
  const std::vector<Kept>& kept() const { return kept_; }

 private:
  /// What stands for a variable of the body behind the loop.
  struct Value {
    enum class Kind {
      kSame,  // it, as it is in every turn
      kRows,  // with the rows of all turns along `axis`
      kSum,   // the sum over all turns
    };
    Kind kind = Kind::kSame;
    ir::Atom atom = PrimValue{};
    int axis = 0;
  };
  using Maybe = std::optional<Value>;
  /// Where a variable is bound, and where what stands for it is to be made.
  struct Definition {
    const ir::Body* body;
    const ir::Stm* stm;
    size_t position;
    ir::Builder* to;
  };

  std::optional<ir::Atom> same(const ir::Atom& a);
  void define(const ir::Body& body, ir::Builder& to);
  void forget(const ir::Lambda& l);
  Maybe value(const ir::Atom& a);
  Maybe make(const Definition& d, ir::VarId v);
  Maybe rows_at_turn(const ir::Stm& s);
  Maybe keep(const Definition& d);
  Maybe copy(const Definition& d);
  Maybe replicate(ir::Builder& b, const ir::EReplicate& e);
  Maybe rearrange(ir::Builder& b, const ir::ERearrange& e);
  Maybe index(ir::Builder& b, const ir::EIndex& e);
  Maybe map(ir::Builder& b, const ir::ESoac& e, const std::vector<Value>& inputs);
  Maybe over_rows(ir::Builder& b, const ir::ESoac& e, const std::vector<Value>& inputs);
  Maybe soac(const Definition& d, const ir::ESoac& e);
  Value rows_of(ir::VarId all, const ir::Type& t);
  void note(ir::VarId v, const Value& value);

  ir::Program& p_;
  const ir::Atom at_, count_, bound_by_;
  std::vector<ir::Type> types_;
  ir::VarSet bound_;    // in the loop
  ir::VarSet results_;  // and needed by its results
  std::unordered_map<ir::VarId, Definition> definitions_;
  std::unordered_map<ir::VarId, Value> made_;
  ir::Subst same_;                                     // of those, what is the same
  std::vector<std::pair<ir::Atom, ir::Atom>> totals_;  // by rows of a turn: rows of all
  std::vector<Kept> kept_;
  ir::Body code_;
  ir::Builder top_;
};

/// Whether the slice is inside of such an array whatever the values of variables are.
bool is_always_inside(const ir::Type& t, const std::vector<ir::Dim>& dims);

/// Whether a loop stands in the body, or in one inside.
bool has_loops(const ir::Body& b);

}  // namespace kenaz::ad
