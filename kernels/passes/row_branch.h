// Branches that make rows, cut so that each element can be made by itself.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/ir/analysis/rename.h"
#include "kernels/ir/analysis/uses.h"
#include "kernels/ir/builder.h"

namespace kenaz::passes {

/// Conditions of checks that hold where an array is empty, whatever else.
class EmptyGuards {
 public:
  /// Looks at all operations inside.
  void note(const ir::Body& b);
  bool holds_if_empty(const ir::Atom& cond, const ir::Atom& width) const;

 private:
  std::unordered_map<ir::VarId, std::vector<ir::Atom>> ors_;
  std::unordered_map<ir::VarId, ir::Atom> empty_;  // "width <= 0", by its result
};

/// A map in the making: its inputs and the parameters for them.
class RowInputs {
 public:
  /// `before` makes what stands in front of the map.
  RowInputs(ir::Builder& before, ir::Atom width) : before_(before), width_(width) {}

  /// The element, which may be a row, of an array of that width.
  ir::VarId element_of(ir::VarId array);
  /// The element's number.
  ir::VarId number();
  const std::vector<ir::VarId>& arrays() const { return arrays_; }
  const std::vector<ir::VarId>& params() const { return params_; }

 private:
  ir::Builder& before_;
  ir::Atom width_;
  std::vector<ir::VarId> arrays_, params_;
  std::optional<ir::VarId> numbers_;
};

/// One branch of an if whose results are rows of one width, and scalars. Its statements are to
/// stand
///   1. in front of the map and the if: quick scalar code, which cannot fail;
///   2. in front of the map, within an if: checks, what takes long, and what these need;
///   3. in the map, within an if: the rest.
class RowBranch {
 public:
  /// `b` is the branch of an if that binds `pat`. All arguments must outlive this.
  RowBranch(ir::Program& p, const EmptyGuards& guards, const ir::Body& b,
            const std::vector<ir::VarId>& pat, ir::Atom width);

  /// Decides where statements are to stand. False if some may not be moved so; then nothing else
  /// may be called.
  bool cut();
  bool has_map() const;
  /// Whether elements are made by maps that may be long.
  bool has_map_in_map() const;
  /// Whether a result is an array that exists, or a view of one.
  bool has_already(size_t result) const;

  /// 1., under the names that they have.
  void emit_in_front(std::vector<ir::Stm>& out) const;
  /// 2., under the names that they have, without results.
  ir::Body once() const;
  /// Which of the scalars computed by 2. are used by 3., ..
  const std::vector<ir::VarId>& passed_on() const { return passed_on_; }
  /// .. and under which name.
  void pass_on_as(ir::VarId v, ir::VarId name) { subst_[v] = name; }
  /// 3.: appends what makes the elements of all arrays among the results, and these as results.
  void emit_elements(ir::Builder& b, RowInputs& inputs);

 private:
  bool any_map(bool (*holds)(const ir::ESoac&)) const;
  bool may_be_cut(const ir::Stm& s) const;
  bool is_used_by_element() const;
  const ir::Stm* maker(const ir::Atom& a) const;
  bool stays_outside(const ir::Stm& s) const;
  ir::VarSet results(bool scalars) const;

  void find_in_front();
  void find_once();
  void find_in_map();

  ir::Atom known_as(ir::Atom a) const;
  ir::Atom element(ir::Builder& b, RowInputs& inputs, ir::VarId array);
  ir::Atom element_made(ir::Builder& b, RowInputs& inputs, const ir::Stm& s);
  void run_map(ir::Builder& b, RowInputs& inputs, const ir::Stm& s, const ir::ESoac& e);

  ir::Program& p_;
  const EmptyGuards& guards_;
  const ir::Body& body_;
  const std::vector<ir::VarId>& pat_;
  ir::Atom width_;
  std::vector<const ir::Stm*> stms_;  // what the results need
  std::unordered_map<ir::VarId, const ir::Stm*> made_;
  // Statements, by the first variable that each binds.
  ir::VarSet in_front_, once_, in_map_;
  std::vector<ir::VarId> passed_on_;
  ir::Subst subst_;                                   // in the map
  std::unordered_map<ir::VarId, ir::Atom> elements_;  // of arrays made in the branch
};

}  // namespace kenaz::passes
