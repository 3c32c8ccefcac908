// Declarations, modules and module types.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/defs.h"
#include "kernels/futhark/check/entry.h"
#include "kernels/futhark/check/finish.h"
#include "kernels/futhark/check/patterns.h"
#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

inline constexpr int kMaxFunctors = 20000;  // applications in one program

struct DecContext {
  FileState* file = nullptr;
  Env* env = nullptr;
  bool top = false;  // directly in the file
};

class Modules : private Part {
 public:
  /// Gives the file of this path, as it is written in the other file at the range, or null after an
  /// error.
  using Import =
      std::function<FileState*(const std::string&, const FileState*, const SourceRange&)>;

  /// All must outlive this.
  Modules(Context& context, Finishing& finishing, TypeExps& types, Patterns& patterns,
          Definitions& definitions, EntryPoints& entries, Import import)
      : Part(context),
        finishing_(finishing),
        types_(types),
        patterns_(patterns),
        definitions_(definitions),
        entries_(entries),
        import_(std::move(import)) {}

  /// Checks all declarations of a file, whose `env` gets what they bind.
  void declarations(FileState& file);

 private:
  // ---- declarations (modules.cc)
  void declarations(const std::vector<syntax::DecPtr>& decs, const DecContext& ctx);
  void declaration(const syntax::Dec& dec, const DecContext& ctx, bool local);
  void declare_value(const syntax::DecVal& d, const syntax::Dec& dec, const DecContext& ctx,
                     bool local);
  void declare_module(const syntax::DecMod& d, const syntax::Dec& dec, const DecContext& ctx,
                      bool local);
  Mod mod_exp(const syntax::ModExp& m, EnvRef env, FileState* file);
  Mod apply_functor(const Functor& f, const Mod& arg, const SourceRange& range);
  Mod functor_of(const std::vector<syntax::ModParam>& params, size_t at,
                 const syntax::ModTypeExp* ret, const syntax::ModExp& body, EnvRef env,
                 FileState* file);

  // ---- module types (modtypes.cc, narrow.cc)
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
  bool gives_refined(const With& inner, const With& outer);
  void not_abstract(const With& w, const std::string& name);
  void check_refinement(const syntax::ModTypeWith& w, const Mod& refined);
  void match_functor(const Functor& f, const syntax::ModTypeArrow& type, EnvRef env,
                     const Matching& m);
  void check_parameter_names(const syntax::TypeExp& type);
  void check_duplicate_specs(const syntax::ModTypeSpecs& specs);
  void check_functor(const Functor& f, const SourceRange& range);

  // ---- what becomes of what has an error (recover.cc)
  void bind_broken(const syntax::Dec& dec, const DecContext& ctx, bool local);
  bool bind_declared(const syntax::DecVal& d, EnvRef env, ValBinding& out);

  Finishing& finishing_;
  TypeExps& types_;
  Patterns& patterns_;
  Definitions& definitions_;
  EntryPoints& entries_;
  Import import_;
  int functor_applications_ = 0;
  int applying_ = 0;       // how many applications of parametric modules are around
  bool assuming_ = false;  // in a body that check_functor checks
};

}  // namespace kenaz::check
