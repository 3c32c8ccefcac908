// Checking MFG: names, types, and what there must be.
#pragma once

#include "kernels/diagnostics/source_reader.h"
#include "kernels/mfg/check/core.h"

namespace kenaz::mfg {

/// The program at `path`, or a rendered diagnostic (kind kCompile), or why it cannot be read.
Result<CFilter> check(const std::string& path, const SourceReader& read);

}  // namespace kenaz::mfg
