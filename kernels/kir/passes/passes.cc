#include "kernels/kir/passes/passes.h"

#include "kernels/kir/passes/compare_roots.h"
#include "kernels/kir/passes/cse.h"
#include "kernels/kir/passes/dead_code.h"
#include "kernels/kir/passes/fold.h"
#include "kernels/kir/passes/gather_checks.h"
#include "kernels/kir/passes/hoist.h"
#include "kernels/kir/passes/inline_calls.h"
#include "kernels/kir/passes/jam_loops.h"
#include "kernels/kir/passes/known_sums.h"
#include "kernels/kir/passes/quotients.h"
#include "kernels/kir/passes/speculate.h"
#include "kernels/kir/passes/split_loops.h"
#include "kernels/kir/passes/vectors.h"
#include "kernels/kir/passes/wide_loops.h"
#include "kernels/kir/passes/wide_products.h"
#include "kernels/kir/passes/words.h"

namespace kenaz::kir {

void optimise(Kernel& kernel) {
#define KIR_PASS(function) function(kernel);
#include "kernels/kir/passes/pipeline.def"
#undef KIR_PASS
}

}  // namespace kenaz::kir
