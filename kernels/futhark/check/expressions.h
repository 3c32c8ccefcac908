// Expressions and definitions of values. After an error in a declaration, what is returned is
// well-formed all the same.
#pragma once

#include <stop_token>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/finish.h"
#include "kernels/futhark/check/patterns.h"
#include "kernels/futhark/check/sizes_known.h"
#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

inline constexpr size_t kMaxParams = 400;  // of a function; its type is that deep

class Expressions : private Part {
 public:
  /// All must outlive this. `types` may call `size_value` of this.
  Expressions(Context& context, core::Checked& program, Finishing& finishing, TypeExps& types,
              Patterns& patterns)
      : Part(context),
        program_(program),
        finishing_(finishing),
        types_(types),
        patterns_(patterns) {}

  /// Checks a top-level definition in the surroundings `env`, and says in `out` what its name
  /// means. `keep`: adds it to the program.
  void check_value(const syntax::DecVal& d, const syntax::Dec& dec, EnvRef env, ValBinding& out,
                   bool keep);
  /// What `check_value` has made without an error last, or null.
  const MutDef& last_def() const { return last_def_; }
  /// Checks a size expression. What it says of lengths is in terms of sizes.
  ExpPtr size_value(const syntax::Exp& source);
  /// Expressions that are checked after this end early when told to.
  void stop_at(std::stop_token stop) { stop_ = std::move(stop); }

 private:
  // ---- expressions (exp*.cc, loops.cc)
  MutExp make(const SourceRange& range, TypePtr type, decltype(core::Exp::node) node);
  ExpPtr bad_exp(const SourceRange& range);
  ExpPtr exp(const syntax::Exp& e, const TypePtr& expected = nullptr);
  ExpPtr exp_node(const syntax::Exp& e, const TypePtr& expected);
  /// Checks `e`, and reports an error if it does not have the type; `what` is its first line.
  ExpPtr check(const syntax::Exp& e, const TypePtr& expected, const std::string& what);
  /// Reports an error if the types cannot be unified, with a hint about `source`, which should have
  /// the other type.
  bool expect(const TypePtr& expected, const TypePtr& actual, const syntax::Exp& source,
              const std::string& what);
  ExpPtr lengths_as_sizes(const ExpPtr& e);
  ExpPtr literal(const syntax::Literal& l, const SourceRange& range, bool negative = false);
  ExpPtr variable(const syntax::QualName& name, const SourceRange& range);
  ExpPtr use(ValBinding& v, const SourceRange& range);
  size_t result_of_any_size(const TypePtr& type) const;
  ExpPtr project(ExpPtr record, const std::string& field, const SourceRange& range);
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
  /// A let-bound name for `e`, so that it is evaluated once: `wrap` goes around the final result.
  struct Let {
    PatPtr pat;
    ExpPtr value;
  };
  ExpPtr share(ExpPtr e, std::vector<Let>& lets);
  ExpPtr wrap(std::vector<Let>& lets, ExpPtr body);
  ExpPtr if_exp(const syntax::EIf& i, const SourceRange& range, const TypePtr& expected);
  ExpPtr match(const syntax::EMatch& m, const SourceRange& range, const TypePtr& expected);
  void check_binders(const syntax::ELet& l, const core::ELet& let);
  ExpPtr let(const syntax::ELet& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr let_fun(const syntax::ELetFun& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr let_with(const syntax::ELetWith& l, const SourceRange& range, const TypePtr& expected);
  ExpPtr loop(const syntax::ELoop& l, const SourceRange& range);
  ExpPtr loop_init(const syntax::Pat& p);
  TypePtr loop_type(const TypePtr& t, std::vector<std::pair<VarId, Size>>& sizes);
  bool loop_keeps(const Size& now, VarId name, const Size& start, int depth);
  std::vector<VarId> loop_varying(const TypePtr& pattern, const TypePtr& body,
                                  const std::vector<std::pair<VarId, Size>>& sizes,
                                  const SourceRange& range);
  TypePtr flexible_slices(const TypePtr& t, const std::vector<core::DimIndex>& dims);
  ExpPtr update(const syntax::EUpdate& u, const SourceRange& range);
  ExpPtr update_path(ExpPtr source, const std::vector<syntax::UpdateStep>& path,
                     const syntax::Exp& value, const SourceRange& range);
  struct Step {
    bool is_field = false;
    std::string field;
    std::vector<core::DimIndex> dims;
  };
  std::vector<Step> path_steps(const std::vector<syntax::UpdateStep>& path, bool keep,
                               std::vector<Let>& lets);
  ExpPtr update_steps(const ExpPtr& source, const std::vector<Step>& steps, size_t at,
                      const syntax::Exp& value, const SourceRange& range);
  std::vector<core::DimIndex> dim_indexes(const std::vector<syntax::DimIndex>& slice);
  ExpPtr index_value(const syntax::Exp& e);
  ExpPtr index(ExpPtr array, std::vector<core::DimIndex> dims, const SourceRange& range);
  ExpPtr range_exp(const syntax::ERange& r, const SourceRange& range);
  ExpPtr coerce(const syntax::ECoerce& c, const SourceRange& range);

  // ---- definitions (defs.cc)
  struct Binding {
    const std::string& name;
    const SourceRange& range;
    const std::vector<syntax::TypeParam>& tparams;
    const std::vector<syntax::PatPtr>& params;
    const syntax::TypeExp* ret;
    const syntax::Exp& body;
  };
  MutDef define(const Binding& b, bool top);
  TypePtr settle_result(const TypePtr& ret, std::vector<VarId>& ext, bool top);
  void generalise_types(core::Def& def);
  void check_finished(core::Def& def);  // by the passes over finished definitions
  void complete_self_uses(const core::Def& def);

  core::Checked& program_;
  Finishing& finishing_;
  TypeExps& types_;
  Patterns& patterns_;
  KnownSizes known_sizes_{vars_, infer_, reports_};
  MutDef last_def_;
  std::stop_token stop_;
  TypePtr bool_ = core::prim_type(PrimType::kBool);
  TypePtr i64_ = core::prim_type(PrimType::kI64);
  TypePtr unit_ = core::tuple_type({});
};

core::Attr core_attr(const syntax::Attr& a);

}  // namespace kenaz::check
