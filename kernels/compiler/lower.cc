#include "kernels/futhark/lower/lower.h"
#include "kernels/compiler.h"

namespace kenaz::compiler {

Result<Lowered> lower(const core::Checked& checked) { return lower::lower_program(checked); }

}  // namespace kenaz::compiler
