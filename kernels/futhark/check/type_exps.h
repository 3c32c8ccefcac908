// Types as they are written: in definitions, abbreviations and module types.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/finish.h"

namespace kenaz::check {

inline constexpr size_t kMaxConstructors = 256;  // of a sum

/// Sizes that evaluating a type expression made. `ext`: existential ones, from `[]` and `?[n].`.
/// `universals`: those in parameters of arrows, which stand for any size.
struct TypeSizes {
  std::vector<VarId> ext, universals;
  std::optional<SourceRange> unique;  // of the first that is an expression like no other
};

struct TypeParams {
  std::vector<TyVarId> types;
  std::vector<VarId> sizes;
  std::vector<std::variant<TyVarId, VarId>> all;
};

class TypeExps : private Part {
 public:
  /// `size_value` checks an expression that is a size. All must outlive this.
  TypeExps(Context& context, Finishing& finishing,
           std::function<ExpPtr(const syntax::Exp&)> size_value)
      : Part(context), finishing_(finishing), size_value_(std::move(size_value)) {}

  // ---- in the definition that is being checked (type_exps.cc)
  /// What the type expression means. Adds the sizes that it leaves open to `sizes`.
  TypePtr type_exp(const syntax::TypeExp& te, TypeSizes& sizes);
  /// Likewise, but the sizes that it leaves open are to be found.
  TypePtr param_type(const syntax::TypeExp& te);
  /// New type and size parameters, whose names are in scope from now on.
  TypeParams type_params(const std::vector<syntax::TypeParam>& params);

  // ---- on their own
  /// The type that a module type says a value has.
  Scheme spec_scheme(const syntax::SpecVal& v, EnvRef env);
  /// The abbreviation (abbreviations.cc). Never null.
  TypeBinding* type_bind(const syntax::TypeBind& b, EnvRef env);

 private:
  using Arg = std::variant<syntax::SizeExp, syntax::TypeExpPtr>;
  /// Whether values of this written type, which means `type`, might be functions or of any size.
  bool is_lifted(const syntax::TypeExp& te, const TypePtr& type);
  TypePtr type_apply(const syntax::TypeExp& te, TypeSizes& sizes);
  TypePtr type_name(const syntax::QualName& name, const std::vector<const Arg*>& args,
                    const SourceRange& range, TypeSizes& sizes);
  TypePtr type_arrow(const syntax::TypeArrow& a, const SourceRange& range, TypeSizes& sizes);
  Size size_exp(const syntax::SizeExp& s, TypeSizes& sizes);
  void check_comparable(const TypeSizes& sizes);
  void check_abbreviation(const syntax::TypeBind& b, const TypeBinding& made);
  syntax::Liftedness written_liftedness(const syntax::TypeBind& b, const TypeBinding& made);

  Finishing& finishing_;
  std::function<ExpPtr(const syntax::Exp&)> size_value_;
};

}  // namespace kenaz::check
