#include "kernels/compiler.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/passes/passes.h"

namespace kenaz::compiler {
namespace {

#ifdef KENAZ_VALIDATE_PASSES
constexpr bool kValidate = true;
#else
constexpr bool kValidate = false;
#endif

Status check(const ir::Program& p, const char* after) {
  if (!kValidate) return {};
  auto status = ir::validate(p);
  if (!status) status.error().context.push_back(std::string("after ") + after);
  return status;
}

}  // namespace

Status optimise(ir::Program& program, const PassObserver& observe) {
  // Consumption is right from the first pass on.
  if (observe) observe("lowering", program);
#define PASS(function)                  \
  passes::function(program);            \
  KENAZ_TRY(check(program, #function)); \
  if (observe) observe(#function, program);
#include "kernels/passes/pipeline.def"
#undef PASS
  return {};
}

}  // namespace kenaz::compiler
