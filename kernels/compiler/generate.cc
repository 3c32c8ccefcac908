#include "kernels/compiler.h"

namespace kenaz::compiler {

Result<program::Program> generate(const Lowered&) {
  return internal_error("code generation is not in this build yet; use --reference");
}

}  // namespace kenaz::compiler
