// The checker of one program: reads its files, and puts the parts together that do the work. After
// an error every function still returns something well-formed, and the declaration ends soon
// (reports.h); then checking goes on with the next one (recover.cc).
//
// Parts that walk over syntax (context.h says what they share):
// * modules.h: declarations, modules and module types. modules.cc; modtypes.cc and narrow.cc
//   (matching); assume.cc (module types and parametric modules by themselves); recover.cc;
// * defs.h: definitions of values;
// * expressions.h: expressions. exp.cc, exp_apply.cc, exp_control.cc, exp_size.cc, loops.cc; with
//   exp_array.h (indexing, updates, ranges) and loop_sizes.h;
// * type_exps.h: written types. type_exps.cc, abbreviations.cc;
// * patterns.h; entry.h: entry points.
//
// What they work with:
// * reports.h, warn.h, warnings.h: errors and warnings;
// * variables.h: what is known of types and sizes; sizes.h, infer.h: when they are the same;
//   existential.h: what is left of sizes outside of what made them; sizes_known.h: what callers
//   must know of them; comparison.h, mismatch.h: why types are not the same; open_sizes.h;
// * scope.h, env.h: environments; lookup.h, naming.h: what names mean; suggest.h: hints;
// * fn_state.h: the definition that is being checked; finish.h: its end, from inference to finished
//   core; recursion.h and the folders consumption and sizes look at finished definitions.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/futhark/check/context.h"
#include "kernels/futhark/check/defs.h"
#include "kernels/futhark/check/entry.h"
#include "kernels/futhark/check/modules.h"

namespace kenaz::check {

class Checker {
 public:
  explicit Checker(const SourceReader& read);
  /// To be called once.
  Result<core::Checked> run(const std::string& path);
  /// Of a run that has ended, well or not.
  const Reports& reports() const { return context_.reports; }

  // ---- for editors
  /// To be called before `run`: notes in `record` what names mean, and ends early when told to.
  void observe(Record& record, std::stop_token stop);
  std::vector<std::string> files() const;

 private:
  FileState* import(const std::string& path, const FileState* from, const SourceRange& range);
  bool is_in_library(const std::string& key, const std::string& path, const std::string& name);
  /// The file with this key: its path, or "/prelude/NAME". Null after an error. `root`: it is the
  /// program itself, whose entry points count.
  FileState* load(const std::string& key, const SourceRange& range, bool root = false);
  void load_intrinsics();
  void add_accumulators(Env* env);

  const SourceReader& read_;
  core::Checked out_;
  Context context_{out_};
  Finishing finishing_{out_, context_.vars, context_.infer, context_.comparing, context_.reports};
  TypeExps types_;
  Patterns patterns_;
  Definitions definitions_;
  EntryPoints entries_;
  Modules modules_;
  syntax::Program intrinsics_program_;
  Env* base_ = nullptr;     // primitive types, operators, `intrinsics`
  Env* prelude_ = nullptr;  // what user files see around them
};

}  // namespace kenaz::check
