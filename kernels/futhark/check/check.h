// The checker: names, types, sizes, modules. Syntax in, core out.
#pragma once

#include <string>

#include "kernels/diagnostics/source_reader.h"
#include "kernels/futhark/core/core.h"

namespace kenaz::check {

/// Checks the program whose root file is `path` with everything it imports and the prelude.
/// `warnings`, if not null, becomes what there is to be warned of, whether or not there are errors;
/// without errors the result has it, too.
Result<core::Checked> check_program(const std::string& path, const SourceReader& read,
                                    std::vector<Diagnostic>* warnings = nullptr);

}  // namespace kenaz::check
