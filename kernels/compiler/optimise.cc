#include "kernels/compiler.h"
#include "kernels/passes/passes.h"

namespace kenaz::compiler {

Status optimise(ir::Program& program) {
#define PASS(function) passes::function(program);
#include "kernels/passes/pipeline.def"
#undef PASS
  return {};
}

}  // namespace kenaz::compiler
