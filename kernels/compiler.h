// The compiler, from source text to a Program that the server runs. The story, in order:
//
//   check       by the language's front end (compiler/languages.def). Futhark's is front_end: parse
//               (futhark/syntax), check and elaborate modules (futhark/check); that of image
//               filters is in mfg/syntax and mfg/check
//   lower       monomorphise, defunctionalise, take records apart (futhark/lower) -> array IR; or
//               mfg/lower
//   optimise    passes on array IR (pipeline/soacs.def, passes): stage soacs
//   schedule    what runs where (pipeline/seg.def, flatten): stage seg
//   place       which arrays share memory (pipeline/mem.def, memory): stage mem
//   generate    kernels in GLSL (glsl) and host code (gpu, primitives) -> Program
//
// Kernels become SPIR-V (glsl/compile.h) when they are first launched: which ones are, out of those
// for all sizes of arrays, is known then.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/explain/report.h"
#include "kernels/futhark/core/core.h"
#include "kernels/ir/lowered.h"
#include "kernels/program/program.h"
#include "kernels/program/target.h"
#include "protocol/base/result.h"

namespace kenaz::compiler {

using ir::Lowered;

/// Reads files.
SourceReader file_reader();

struct FrontEndOptions {
  SourceReader read = file_reader();
  std::string language;  // of the table languages.def; empty: the one of the file's ending
  /// If not null, becomes the warnings, whether or not there are errors.
  std::vector<Diagnostic>* warnings = nullptr;
};

/// A program of any language that has been checked. `lower` makes array IR of it; once.
struct Source {
  std::vector<Diagnostic> warnings;
  std::function<Result<Lowered>()> lower;
};
/// Checks the program at `path` (and what it imports). Errors have kind kCompile; kBadRequest if
/// there is no such language. A file of an unknown ending is Futhark's.
Result<Source> check(const std::string& path, const FrontEndOptions& options = {});
/// The languages that there are.
std::vector<std::string> language_names();

/// Checks a Futhark program. Errors have kind kCompile.
Result<core::Checked> front_end(const std::string& path, const FrontEndOptions& options = {});
Result<Lowered> lower(const core::Checked& checked);
/// Puts code in the place of differential operators, which the evaluator does not run: what
/// optimise() does, too. Leaves other programs as they are.
Status differentiate(ir::Program& program);
/// Called with the name of what has just run ("lowering" first) and the program it left.
using PassObserver = std::function<void(const char* pass, const ir::Program&)>;
/// Runs the optimising pipeline in place. Debug builds validate the program between passes.
Status optimise(ir::Program& program, const PassObserver& observe = {});
/// Runs the passes that take an optimised program to stage seg, in place.
Status schedule(ir::Program& program, const PassObserver& observe = {});
/// Runs the passes that take a scheduled program to stage mem, in place.
Status place(ir::Program& program, const PassObserver& observe = {});
/// Kernels in GLSL, and host code, of an optimised program, which it schedules and places first,
/// for a device with these facts. `report`, unless null, gets how the program runs.
Result<program::Program> generate(const Lowered& lowered, const program::Target& target = {},
                                  explain::Report* report = nullptr);

/// All of the above.
Result<program::Program> compile(const std::string& path, const FrontEndOptions& options = {},
                                 const program::Target& target = {});

}  // namespace kenaz::compiler
