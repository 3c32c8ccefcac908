// Definitions of values: functions and constants, top-level and local.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/expressions.h"
#include "kernels/futhark/check/finish.h"
#include "kernels/futhark/check/patterns.h"
#include "kernels/futhark/check/sizes_known.h"
#include "kernels/futhark/check/type_exps.h"

namespace kenaz::check {

inline constexpr size_t kMaxParams = 400;  // of a function; its type is that deep

class Definitions : private Part {
 public:
  /// All must outlive this. `types` may call `size_value` of `exps`.
  Definitions(Context& context, core::Checked& program, Finishing& finishing, TypeExps& types,
              Patterns& patterns)
      : Part(context),
        program_(program),
        finishing_(finishing),
        types_(types),
        patterns_(patterns),
        exps_(context, types, patterns, *this) {}

  /// Checks a top-level definition in the surroundings `env`, and says in `out` what its name
  /// means. `keep`: adds it to the program.
  void check_value(const syntax::DecVal& d, const syntax::Dec& dec, EnvRef env, ValBinding& out,
                   bool keep);
  /// What `check_value` has made without an error last, or null.
  const MutDef& last_def() const { return last_def_; }
  Expressions& exps() { return exps_; }

  struct Binding {
    const std::string& name;
    const SourceRange& range;
    const std::vector<syntax::TypeParam>& tparams;
    const std::vector<syntax::PatPtr>& params;
    const syntax::TypeExp* ret;
    const syntax::Exp& body;
  };
  /// A top-level function is generalised over what its parameters and result leave open; a local
  /// one over sizes of its parameters only. The definition's types are finished with the function
  /// state it belongs to.
  MutDef define(const Binding& b, bool top);

 private:
  void generalise_types(core::Def& def);
  void check_finished(core::Def& def);  // by the passes over finished definitions
  void complete_self_uses(const core::Def& def);

  core::Checked& program_;
  Finishing& finishing_;
  TypeExps& types_;
  Patterns& patterns_;
  KnownSizes known_sizes_{vars_, infer_, reports_};
  Expressions exps_;
  MutDef last_def_;
};

}  // namespace kenaz::check
