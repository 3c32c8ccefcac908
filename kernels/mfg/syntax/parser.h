// Parsing MFG.
#pragma once

#include "kernels/mfg/syntax/ast.h"
#include "protocol/base/result.h"

namespace kenaz::mfg {

/// The program in `file`, or a rendered diagnostic (kind kCompile).
Result<Filter> parse(const std::shared_ptr<const SourceFile>& file);

/// The same for what is in the folder `check`: throws Rejected.
Filter parse_or_throw(const std::shared_ptr<const SourceFile>& file);

}  // namespace kenaz::mfg
