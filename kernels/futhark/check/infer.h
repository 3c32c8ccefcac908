// Unification of types, and what else is known of types that are not known yet.
//
// A comparison that fails has said why in the Comparison that it shares with Sizes; it may have
// solved some variables by then, so the declaration should end with an error.
#pragma once

#include <string>
#include <vector>

#include "kernels/futhark/check/comparison.h"
#include "kernels/futhark/check/sizes.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

inline constexpr int kMaxTypeDepth = 500;    // of an inferred or declared type
inline constexpr int kMaxTypeNodes = 20000;  // of the type of an expression or abbreviation

class Inference {
 public:
  /// All must outlive this.
  Inference(Variables& vars, Sizes& sizes, Comparison& comparing, Reports& reports)
      : vars_(vars), sizes_(sizes), comparing_(comparing), reports_(reports) {}

  /// Whether the types are the same; solves variables so that they are. Existential sizes of
  /// results may be any size in `a`, which is the expected type, and only in that.
  bool unify(const TypePtr& a, const TypePtr& b);
  /// Like `unify`, but reports an error, of which `what` is the first line. Does nothing after an
  /// error.
  bool unify_or_error(const TypePtr& expected, const TypePtr& actual, const SourceRange& range,
                      const std::string& what);
  /// After a failed `unify`: why, and both types. Lines with a line end before each.
  std::string difference(const TypePtr& expected, const TypePtr& actual);
  /// For messages. After a failed occurs check, types that are not known have names.
  std::string type_text(const TypePtr& t);
  /// Reports an error if the type is too large or nested too deeply to be worked with.
  void check_size_of_type(const TypePtr& t, const SourceRange& range);

  // ---- constraints (constraints.cc)
  /// Whether the type is in `mask`; sees to it that type variables are. If not, the mismatch says
  /// why where there is more to say than that.
  bool constrain(const TypePtr& t, TypeMask mask);
  /// Whether there is no function inside.
  bool is_data(const TypePtr& t) { return fits(t, kMaskData); }
  /// The type of the field, which a type variable gets by this. Reports an error if there is none.
  TypePtr field_of(const TypePtr& record, const std::string& field, const SourceRange& range);
  /// Whether the sum has this constructor, which a type variable gets by this.
  bool has_constructor(const TypePtr& sum, const std::string& name,
                       const std::vector<TypePtr>& payload, const SourceRange& range);
  /// After that it has not: the message.
  std::string constructor_error(const TypePtr& sum, const std::string& name,
                                const std::vector<TypePtr>& payload);

 private:
  bool unify_depth(const TypePtr& a, const TypePtr& b, int depth);
  bool unify_arrows(const core::TArrow& a, const core::TArrow& b, int depth);
  bool bind_meta(core::MetaId id, const TypePtr& t, int depth);
  bool merge_metas(core::MetaId a, core::MetaId b, int depth);
  bool occurs(core::MetaId id, int level, const TypePtr& t, int depth);
  bool escapes(const TypePtr& t, int level);
  bool names_too_deep(const TypePtr& t, int level);
  bool absorb_unborn(TypePtr& t, bool regular);
  bool fits(const TypePtr& t, TypeMask mask);
  bool small_type(const TypePtr& t, int& budget, int depth);

  Variables& vars_;
  Sizes& sizes_;
  Comparison& comparing_;
  Reports& reports_;
};

}  // namespace kenaz::check
