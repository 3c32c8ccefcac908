// Expressions. After an error in a declaration, what is returned is well-formed all the same.
#pragma once

#include <stop_token>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/exp_array.h"
#include "kernels/futhark/check/patterns.h"
#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

class Definitions;

class Expressions : private Part {
 public:
  /// All must outlive this. `definitions` may be made later, of this.
  Expressions(Context& context, TypeExps& types, Patterns& patterns, Definitions& definitions)
      : Part(context),
        types_(types),
        patterns_(patterns),
        definitions_(definitions),
        arrays_(context, *this) {}

  /// Checks `e`. Where its type is not known otherwise, it may be taken from `expected`, or null;
  /// but it need not be that.
  ExpPtr exp(const syntax::Exp& e, const TypePtr& expected = nullptr);
  /// Checks `e`, and reports an error if it does not have the type; `what` is its first line.
  ExpPtr check(const syntax::Exp& e, const TypePtr& expected, const std::string& what);
  /// Reports an error if the types cannot be unified, with a hint about `source`, which should have
  /// the other type.
  bool expect(const TypePtr& expected, const TypePtr& actual, const syntax::Exp& source,
              const std::string& what);
  /// Checks a size expression.
  ExpPtr size_value(const syntax::Exp& source);
  /// A field of a record.
  ExpPtr project(ExpPtr record, const std::string& field, const SourceRange& range);
  /// `e`, or a name for it, so that it is evaluated once: `wrap` goes around the final result.
  ExpPtr share(ExpPtr e, std::vector<Let>& lets);
  ExpPtr wrap(std::vector<Let>& lets, ExpPtr body);
  /// Expressions that are checked after this end early when told to.
  void stop_at(std::stop_token stop) { stop_ = std::move(stop); }

 private:
  ExpPtr exp_node(const syntax::Exp& e, const TypePtr& expected);
  ExpPtr literal(const syntax::Literal& l, const SourceRange& range, bool negative = false);
  ExpPtr variable(const syntax::QualName& name, const SourceRange& range);
  ExpPtr use(ValBinding& v, const SourceRange& range);
  size_t result_of_any_size(const TypePtr& type) const;
  ExpPtr record(const syntax::ERecord& r, const SourceRange& range, const TypePtr& expected);
  ExpPtr array(const syntax::EArray& a, const SourceRange& range, const TypePtr& expected);
  ExpPtr constructor(const syntax::EConstr& c, const SourceRange& range, const TypePtr& expected);
  ExpPtr binary(const syntax::EBinOp& b, const SourceRange& range);
  ExpPtr qualified(const syntax::EQualParens& q, const TypePtr& expected);
  bool is_logical(const syntax::QualName& op);
  struct Arg {
    const syntax::Exp* source = nullptr;
    ExpPtr ready;
  };
  ExpPtr apply(ExpPtr fun, const std::string& fun_text, const std::vector<Arg>& args,
               const SourceRange& range);
  std::string self_hint(const ExpPtr& fun);
  TypePtr apply_type(const core::TArrow& arrow, const ExpPtr& arg, const std::string& fun);
  bool simple_arg(const ExpPtr& e);
  ExpPtr lambda(const syntax::ELambda& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr op_section(const syntax::EOpSection& s, const SourceRange& range);
  ExpPtr op_section_left(const syntax::EOpSectionLeft& s, const SourceRange& range);
  ExpPtr op_section_right(const syntax::EOpSectionRight& s, const SourceRange& range);
  ExpPtr path_section(const syntax::EPathSection& s, const SourceRange& range,
                      const TypePtr& expected);
  ExpPtr logical(bool is_and, ExpPtr a, ExpPtr b, const SourceRange& range);
  ExpPtr if_exp(const syntax::EIf& i, const SourceRange& range, const TypePtr& expected);
  ExpPtr match(const syntax::EMatch& m, const SourceRange& range, const TypePtr& expected);
  void check_binders(const syntax::ELet& l, const core::ELet& let);
  void close_binders(const core::ELet& let);
  ExpPtr let(const syntax::ELet& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr let_fun(const syntax::ELetFun& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr let_with(const syntax::ELetWith& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr loop(const syntax::ELoop& l, const SourceRange& range);
  ExpPtr loop_init(const syntax::Pat& p);
  ExpPtr coerce(const syntax::ECoerce& c, const SourceRange& range);

  TypeExps& types_;
  Patterns& patterns_;
  Definitions& definitions_;
  Arrays arrays_;
  std::stop_token stop_;
  TypePtr bool_ = core::prim_type(PrimType::kBool);
  TypePtr i64_ = core::prim_type(PrimType::kI64);
};

core::Attr core_attr(const syntax::Attr& a);

}  // namespace kenaz::check
