#include "kernels/ad/differentiate.h"
#include "kernels/compiler.h"
#include "kernels/flatten/device_scalars.h"
#include "kernels/flatten/segments.h"
#include "kernels/flatten/unpack_operators.h"
#include "kernels/ir/print.h"
#include "kernels/ir/validate.h"
#include "kernels/memory/short_circuit.h"
#include "kernels/memory/sink_updates.h"
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

#define PASS(space, function)           \
  space::function(program);             \
  KENAZ_TRY(check(program, #function)); \
  if (observe) observe(#function, program);

#define CHECKED_PASS(space, function)   \
  KENAZ_TRY(space::function(program));  \
  KENAZ_TRY(check(program, #function)); \
  if (observe) observe(#function, program);

Status optimise(ir::Program& program, const PassObserver& observe) {
  // Consumption is right from the first pass on.
  if (observe) observe("lowering", program);
#include "kernels/pipeline/soacs.def"
  return {};
}

Status schedule(ir::Program& program, const PassObserver& observe) {
#include "kernels/pipeline/seg.def"
  return {};
}

Status place(ir::Program& program, const PassObserver& observe) {
#include "kernels/pipeline/mem.def"
  return {};
}

Status differentiate(ir::Program& program) {
  passes::copy_shared(program);  // what zip makes shares memory with what it is made of
  passes::sorts(program);        // there are no rules for sorts and packings
  passes::packs(program);
  return ad::differentiate(program);
}

#undef PASS
#undef CHECKED_PASS

}  // namespace kenaz::compiler
