// What scalars are made of, as one graph: values of arrays at the element that a combinator is at,
// values from outside, and operations on these. Equal terms have equal numbers.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/ir/builder.h"

namespace kenaz::ir {

using TermId = uint32_t;

/// The row of an array at the element's index, the index itself, something of which nothing is
/// known.
struct TermRow {
  VarId array;
};
struct TermNumber {};
struct TermUnknown {
  VarId var;
};
/// How many of the elements up to this one, itself included, and of all, have a flag: a sum of
/// integers of the flag's type.
struct TermPrefix {
  TermId flag;
};
struct TermTotal {
  TermId flag;
};
struct TermPrim {
  ScalarOp op;
  PrimType type, to;
  std::vector<TermId> args;
};
using Term = std::variant<PrimValue, VarId, TermRow, TermNumber, TermUnknown, TermPrefix, TermTotal,
                          TermPrim>;

/// Of combinators of `width` elements in one body.
class Terms {
 public:
  Terms(const Program& p, Atom width) : p_(p), width_(std::move(width)) {}

  /// Statements around, whose scalars may be looked into.
  void add_around(const Body& body);
  /// The body that the combinators stand in. Into arrays that its statements from `first` to before
  /// `last` bind may be looked, too; none of them may consume anything.
  void add(const Body& body, size_t first, size_t last);
  /// From now on the variable, a scalar, has this value.
  void set(VarId v, const PrimValue& value);
  /// What the scalar is wherever the array `of`, whose first dim is `n`, has elements, if that is a
  /// constant: `n == 0 ? 0 : 16`.
  std::optional<PrimValue> constant_if_not_empty(const Atom& a, VarId of) const;
  /// Of a scalar from outside of combinators.
  TermId of(const Atom& a);
  /// Of the element of an array.
  TermId element(VarId array);
  /// Of the results of a combinator's function at its element.
  std::vector<TermId> results(const Lambda& f, const std::vector<VarId>& inputs);

  /// Of the statements that were looked into, at the level of the combinators.
  const std::vector<VarId>& certs() const { return certs_; }
  /// Whether functions that were looked into check something.
  bool checks() const { return checks_; }

  const Term& at(TermId t) const { return terms_[t]; }
  /// A counted flag's is that of its sum; of an element's number, i64.
  PrimType type_of(TermId t) const;
  TermId prim(ScalarOp op, PrimType type, PrimType to, std::vector<TermId> args);

 private:
  struct Definition {
    const Stm* stm;
    size_t number;  // of the variable in its pattern
    bool around;
  };
  using Scope = std::unordered_map<VarId, TermId>;

  TermId add(std::vector<uint64_t> key, Term term);
  TermId constant(const PrimValue& v) { return add({0, static_cast<uint64_t>(v.type), v.bits}, v); }
  std::optional<TermId> folded(ScalarOp op, PrimType type, PrimType to,
                               const std::vector<TermId>& args);
  TermId unknown(VarId v) { return add({4, v.index}, TermUnknown{v}); }
  TermId of(const Atom& a, Scope& inside);
  void bind(const Stm& s, Scope& inside);
  void needs(const std::vector<VarId>& certs);
  std::optional<TermId> total(const Definition& d);
  std::optional<TermId> last_of(const EIndex& e);
  const Definition* definition(VarId v) const;
  bool is_one_before(const Atom& a, const Atom& n) const;
  /// Whether the condition holds, or does not, wherever there are elements.
  std::optional<bool> holds_if_not_empty(const Atom& cond, VarId of) const;

  const Program& p_;
  const Atom width_;
  std::vector<Term> terms_;
  std::map<std::vector<uint64_t>, TermId> ids_;
  std::unordered_map<VarId, Definition> definitions_;
  std::unordered_map<VarId, TermId> known_, set_;
  std::vector<VarId> certs_;
  bool checks_ = false;
};

}  // namespace kenaz::ir
