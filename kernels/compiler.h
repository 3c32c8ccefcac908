// The compiler, from Futhark source text to a Program that the server runs. The story, in order:
//
//   front_end   parse (futhark/syntax), check and elaborate modules (futhark/check)
//   lower       monomorphise, defunctionalise, take records apart (futhark/lower) -> array IR
//   optimise    the pass pipeline (passes)
//   generate    host code (gpu) and kernels (body, primitives -> kernel IR, kir), their GLSL and
//               SPIR-V (glsl) -> Program
#pragma once

#include <functional>
#include <string>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/futhark/core/core.h"
#include "kernels/ir/lowered.h"
#include "kernels/program/program.h"
#include "protocol/base/result.h"

namespace kenaz::compiler {

using ir::Lowered;

/// Reads files.
SourceReader file_reader();

struct FrontEndOptions {
  SourceReader read = file_reader();
};

/// Checks the program at `path` (and its imports). Errors have kind kCompile.
Result<core::Checked> front_end(const std::string& path, const FrontEndOptions& options = {});
Result<Lowered> lower(const core::Checked& checked);
/// Called with the name of what has just run ("lowering" first) and the program it left.
using PassObserver = std::function<void(const char* pass, const ir::Program&)>;
/// Runs the optimising pipeline in place. Debug builds validate the program between passes.
Status optimise(ir::Program& program, const PassObserver& observe = {});
/// Kernels with SPIR-V, and host code.
Result<program::Program> generate(const Lowered& lowered);

/// All of the above.
Result<program::Program> compile(const std::string& path, const FrontEndOptions& options = {});

}  // namespace kenaz::compiler
