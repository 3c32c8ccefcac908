// What all parts of the checker share.
#pragma once

#include "kernels/futhark/check/comparison.h"
#include "kernels/futhark/check/existential.h"
#include "kernels/futhark/check/file_state.h"
#include "kernels/futhark/check/fn_state.h"
#include "kernels/futhark/check/infer.h"
#include "kernels/futhark/check/lookup.h"
#include "kernels/futhark/check/naming.h"
#include "kernels/futhark/check/reports.h"
#include "kernels/futhark/check/scope.h"
#include "kernels/futhark/check/sizes.h"
#include "kernels/futhark/check/suggest.h"
#include "kernels/futhark/check/variables.h"

namespace kenaz::check {

/// One of each for one program.
struct Context {
  /// `program` gets the names of variables and the abstract types; it must outlive this.
  explicit Context(core::Checked& program) : vars(program, reports) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Reports reports;
  Variables vars;
  Comparison comparing;
  Sizes sizes{vars, comparing};
  Inference infer{vars, sizes, comparing, reports};
  Existentials existentials{vars, sizes, infer, reports};
  Scopes scopes;
  FileStates files;
  Lookup lookup{scopes, reports};
  Naming naming{scopes, lookup, infer, vars, reports};
  Hints hints{scopes, lookup, vars, reports, files};
  Current fn{vars, lookup};
};

/// Base of the parts of the checker that walk over syntax: their names for what they share.
class Part {
 protected:
  /// `context` must outlive this.
  explicit Part(Context& context)
      : reports_(context.reports),
        vars_(context.vars),
        comparing_(context.comparing),
        sizes_(context.sizes),
        infer_(context.infer),
        existentials_(context.existentials),
        scopes_(context.scopes),
        lookup_(context.lookup),
        naming_(context.naming),
        hints_(context.hints),
        fn_(context.fn) {}
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() = default;

  /// The module of that name, or null after an error.
  const Mod* find_mod(const syntax::QualName& name);
  /// A part of the definition that is being checked, to be finished with it. After an error its
  /// type is (). Reports types that are too large.
  MutExp make(const SourceRange& range, TypePtr type, decltype(core::Exp::node) node);
  /// What is returned after an error.
  ExpPtr bad_exp(const SourceRange& range);

  Reports& reports_;
  Variables& vars_;
  Comparison& comparing_;
  Sizes& sizes_;
  Inference& infer_;
  Existentials& existentials_;
  Scopes& scopes_;
  Lookup& lookup_;
  Naming& naming_;
  Hints& hints_;
  Current& fn_;
};

}  // namespace kenaz::check
