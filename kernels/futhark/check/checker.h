// The checker's state and its parts. One object checks one program. After an error every function
// still returns something well-formed, and the declaration ends soon (reports.h); then checking
// goes on with the next one (recover.cc).
//
// What it works with stands apart, each in a class or header of its own:
// * reports.h, warn.h, warnings.h: errors and warnings;
// * variables.h: what is known of types and sizes; sizes.h, infer.h: when they are the same;
//   existential.h: what is left of sizes outside of what made them; sizes_known.h: what callers
//   must know of them; comparison.h, mismatch.h: why types are not the same; open_sizes.h;
// * scope.h, env.h: environments; lookup.h, naming.h: what names mean; suggest.h: hints;
// * fn_state.h: the definition that is being checked; finish.h: its end, from inference to finished
//   core; recursion.h and the folders consumption and sizes look at finished definitions;
// * type_exps.h: written types; patterns.h; entry.h: entry points.
//
// The files of Checker itself: check.cc (files, imports, the whole), exp*.cc, loops.cc, defs.cc,
// recover.cc, modules.cc, modtypes.cc, narrow.cc, assume.cc (module types and parametric modules by
// themselves).
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/futhark/check/comparison.h"
#include "kernels/futhark/check/entry.h"
#include "kernels/futhark/check/env.h"
#include "kernels/futhark/check/existential.h"
#include "kernels/futhark/check/file_state.h"
#include "kernels/futhark/check/finish.h"
#include "kernels/futhark/check/fn_state.h"
#include "kernels/futhark/check/guards.h"
#include "kernels/futhark/check/infer.h"
#include "kernels/futhark/check/lookup.h"
#include "kernels/futhark/check/naming.h"
#include "kernels/futhark/check/patterns.h"
#include "kernels/futhark/check/reports.h"
#include "kernels/futhark/check/scope.h"
#include "kernels/futhark/check/sizes.h"
#include "kernels/futhark/check/sizes_known.h"
#include "kernels/futhark/check/suggest.h"
#include "kernels/futhark/check/type_exps.h"
#include "kernels/futhark/check/variables.h"
#include "kernels/futhark/core/type_util.h"

namespace kenaz::check {

inline constexpr size_t kMaxParams = 400;   // of a function; its type is that deep
inline constexpr int kMaxFunctors = 20000;  // applications in one program

struct DecContext {
  FileState* file = nullptr;
  Env* env = nullptr;
  bool top = false;  // directly in the file
};

class Checker {
 public:
  explicit Checker(const SourceReader& read);
  Result<core::Checked> run(const std::string& path);
  /// Of a run that has ended, well or not.
  const Reports& reports() const { return reports_; }

  // ---- for editors
  /// To be called before `run`: notes in `record` what names mean, and ends early when told to.
  void observe(Record& record, std::stop_token stop);
  std::vector<std::string> files() const;

 private:
  // ---- what becomes of what has an error (recover.cc)
  void bind_broken(const syntax::Dec& dec, const DecContext& ctx, bool local);
  bool bind_declared(const syntax::DecVal& d, EnvRef env, ValBinding& out);

  // ---- expressions (exp*.cc)
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
  /// Checks a size expression. What it says of lengths is in terms of sizes (exp_size.cc).
  ExpPtr size_value(const syntax::Exp& source);
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
  void check_value(const syntax::DecVal& d, const syntax::Dec& dec, EnvRef env, ValBinding& out);

  // ---- declarations and modules (modules.cc)
  void declarations(const std::vector<syntax::DecPtr>& decs, const DecContext& ctx);
  void declaration(const syntax::Dec& dec, const DecContext& ctx, bool local);
  void declare_value(const syntax::DecVal& d, const syntax::Dec& dec, const DecContext& ctx,
                     bool local);
  void declare_module(const syntax::DecMod& d, const syntax::Dec& dec, const DecContext& ctx,
                      bool local);
  /// The module of that name, or null after an error.
  const Mod* find_mod(const syntax::QualName& name);
  Mod mod_exp(const syntax::ModExp& m, EnvRef env, FileState* file);
  Mod apply_functor(const Functor& f, const Mod& arg, const SourceRange& range);
  Mod functor_of(const std::vector<syntax::ModParam>& params, size_t at,
                 const syntax::ModTypeExp* ret, const syntax::ModExp& body, EnvRef env,
                 FileState* file);
  FileState* import(const std::string& path, const FileState* from, const SourceRange& range);
  FileState* load(const std::string& key, const SourceRange& range);
  void load_intrinsics();
  void add_accumulators(Env* env);

  // ---- module types (modtypes.cc)
  /// `with` refinements that apply to the module type being matched.
  struct With {
    const syntax::ModTypeWith* with;
    EnvRef env;
    size_t depth = 0;  // how many qualifiers have been passed
  };
  enum class Seal { kTransparent, kOpaque };
  Mod ascribe(const Mod& mod, const ModTypeBinding& type, Seal seal, const SourceRange& range,
              bool lazy);
  struct Matching {
    Seal seal;
    SourceRange range;
    bool lazy;         // values wait until they are used
    std::string path;  // of the modules around, each with a dot behind it
  };
  Mod ascribe_with(const Mod& mod, const ModTypeBinding& type, const Matching& m,
                   std::vector<With> withs);
  static std::vector<With> withs_of(const std::string& name, const std::vector<With>& withs);
  void match_specs(const syntax::ModTypeSpecs& specs, EnvRef env, const Mod& mod, Env* out,
                   const Matching& m, const std::vector<With>& withs);
  TypeBinding* refined_type(const With& w);
  TypeBinding* matching_type(const std::string& name, size_t params, const Mod& mod,
                             const Matching& m);
  void other_parameters(const std::string& type, const Matching& m);
  void match_abbreviation(const TypeBinding& want, const Mod& mod, const Matching& m);
  void match_type(const syntax::SpecType& spec, const Mod& mod, std::vector<Env*> outs,
                  const Matching& m, const std::vector<With>& withs);
  void check_constructive(const syntax::SpecType& spec, const TypeBinding& impl, const Matching& m);
  void match_value(const syntax::SpecVal& v, EnvRef env, const Mod& mod, std::vector<Env*> outs,
                   const Matching& m);
  void narrow(ValBinding& out, ValBinding& impl, const std::string& name, const SourceRange& range);
  bool fixes_open_size(const TypePtr& want, const TypePtr& have);
  void name_abstract_types(const Mod& mod, const std::string& name, int depth = 0);

  // ---- modules of which only the type is known (assume.cc)
  Mod assume(const ModTypeBinding& type, std::vector<With> withs);
  void assume_spec(const syntax::Spec& spec, Env* env, const std::vector<With>& withs);
  void assume_type(const syntax::SpecType& t, Env* env, const std::vector<With>& withs);
  void not_abstract(const With& w, const std::string& name);
  void check_refinement(const syntax::ModTypeWith& w, const Mod& refined);
  void match_functor(const Functor& f, const syntax::ModTypeArrow& type, EnvRef env,
                     const Matching& m);
  void check_parameter_names(const syntax::TypeExp& type);
  void check_duplicate_specs(const syntax::ModTypeSpecs& specs);
  void check_functor(const Functor& f, const SourceRange& range);

  const SourceReader& read_;
  core::Checked out_;
  Reports reports_;
  Variables vars_{out_, reports_};
  Comparison comparing_;
  Sizes sizes_{vars_, comparing_};
  Inference infer_{vars_, sizes_, comparing_, reports_};
  Existentials existentials_{vars_, sizes_, infer_, reports_};
  KnownSizes known_sizes_{vars_, infer_, reports_};
  Scopes scopes_;
  FileStates files_;
  Lookup lookup_{scopes_, reports_};
  Naming naming_{scopes_, lookup_, infer_, vars_, reports_};
  Hints hints_{scopes_, lookup_, vars_, reports_, files_};
  Current fn_{vars_, lookup_};
  Finishing finishing_{out_, vars_, infer_, comparing_, reports_};
  TypeExps types_;
  Patterns patterns_{vars_, infer_, reports_, naming_, types_, fn_};
  syntax::Program intrinsics_program_;
  Env* base_ = nullptr;     // primitive types, operators, `intrinsics`
  Env* prelude_ = nullptr;  // what user files see around them
  std::string root_path_;
  int functor_applications_ = 0;
  int applying_ = 0;       // how many applications of parametric modules are around
  bool assuming_ = false;  // in a body that check_functor checks
  EntryPoints entries_;
  MutDef last_def_;  // what check_value made
  std::stop_token stop_;
  TypePtr bool_ = core::prim_type(PrimType::kBool);
  TypePtr i64_ = core::prim_type(PrimType::kI64);
  TypePtr unit_ = core::tuple_type({});
};

core::Attr core_attr(const syntax::Attr& a);

}  // namespace kenaz::check
